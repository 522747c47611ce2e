"""Agreement as published, digit by digit."""

import numpy as np
import pytest

from visual_search.judging.agreement import agreement
from visual_search.judging.cohen_kappa import Weights, cohen_kappa
from visual_search.judging.fleiss_kappa import fleiss_kappa
from visual_search.judging.judgement_table import JudgementTable
from visual_search.judging.krippendorff_alpha import Level, krippendorff_alpha

# K. Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, part C: four observers, twelve units, holes.
CANONICAL = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
# J. L. Fleiss, Psychological Bulletin 76, 1971, table 1: thirty patients, six psychiatrists each, five diagnoses.
DIAGNOSES = (
    *("444444", "222555", "233335", "555555", "222444", "113333", "333355", "113334", "114444", "555555"),
    *("144444", "124444", "222333", "144444", "224445", "333335", "111455", "111112", "224444", "133555"),
    *("555555", "244444", "224555", "114444", "144445", "222224", "111155", "224444", "133333", "555555"),
)


def canonical_table() -> JudgementTable:
    rows = [
        (f"observer {judge}", f"unit {unit}", "image", None if mark == "." else int(mark))
        for judge, marks in enumerate(CANONICAL)
        for unit, mark in enumerate(marks.split())
    ]
    names = ("judge", "query", "item", "grade")
    return JudgementTable.from_table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_canonical_example(level: Level, published: float) -> None:
    found = agreement(canonical_table())[f"Krippendorff's alpha ({level})"]
    assert round(found.value, 3) == published
    # Unit 12 was judged by one observer only and pairs with nothing.
    assert (found.pairs, found.left_out) == (11, 1)
    assert found.interval is not None
    assert found.value in found.interval


def test_krippendorffs_two_observers_with_five_categories() -> None:
    # The same paper, part B: nominal data, two observers, twelve units, five categories: alpha = .692.
    meg, owen = "a a b b d c c c e d d a", "b a b b b c c c e d d d"
    counts = np.zeros((12, 5))
    for row, marks in enumerate(zip(meg.split(), owen.split(), strict=True)):
        for mark in marks:
            counts[row, "abcde".index(mark)] += 1
    assert round(krippendorff_alpha(counts, level="nominal").value, 3) == 0.692


def test_fleiss_psychiatric_diagnoses() -> None:
    counts = [[patient.count(str(diagnosis)) for diagnosis in range(1, 6)] for patient in DIAGNOSES]
    found = fleiss_kappa(counts)
    assert round(found.value, 3) == 0.430
    assert found.pairs == 30


def test_cohens_two_clinicians() -> None:
    # J. Cohen, Educational and Psychological Measurement 20, 1960: 200 patients, kappa = .492.
    assert round(cohen_kappa([[88, 14, 18], [10, 40, 10], [2, 6, 12]]).value, 3) == 0.492


@pytest.mark.parametrize(("weights", "published"), [("none", 0.1293), ("linear", 0.2374)])
def test_cohens_weights_on_hout_duncan_and_sobels_couples(weights: Weights, published: float) -> None:
    # Association and heterogeneity, Sociological Methodology 17, 1987: 91 couples; the kappas are those that the R
    # package vcd prints for its data set SexualFun.
    couples = [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]]
    assert round(cohen_kappa(couples, weights=weights).value, 4) == published
