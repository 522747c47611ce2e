"""Text forms: what is read, what is refused and with which words, and measures of a user's own."""

import tomllib
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate, parse_measure
from visual_search.errors import InputError, UnknownNameError
from visual_search.evaluation.measures import registry
from visual_search.evaluation.measures.aliases import FAMILY_ALIASES, TREC_CUT, TREC_WHOLE
from visual_search.evaluation.measures.average_precision import AP
from visual_search.evaluation.measures.hit_rate import HitRate
from visual_search.evaluation.measures.list_measure import ListMeasure
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parameters import cutoff, declared
from visual_search.evaluation.measures.parsing import parse_measures
from visual_search.evaluation.measures.recall import Recall
from visual_search.evaluation.measures.registry import BUILT_IN, measure_class, measure_names, register
from visual_search.evaluation.positions import Positions


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("HitRate@5", "HitRate@5"),
        ("Recall@5", "Recall(denominator=all)@5"),
        ("Recall(average=micro)@5", "Recall(denominator=all,average=micro)@5"),
        ("Precision@5", "Precision(denominator=k)@5"),
        ("Precision(denominator=min)@5", "Recall(denominator=min)@5"),
        ("AP", "AP(denominator=all)"),
        ("AP( denominator = min ) @ 10", "AP(denominator=min)@10"),
        ("AP(denominator=all)@R", "AP(denominator=all)@R"),
        ("AP(cut=relevant)@2", "AP(cut=relevant)@2"),
        ("AP(interpolation=trapezoid)", "AP(interpolation=trapezoid)"),
        ("AP(k=10)", "AP(denominator=all)@10"),
        ("nDCG@10", "nDCG(gain=linear)@10"),
        ("nDCG(gain=linear, ideal=all)@10", "nDCG(gain=linear)@10"),
        ("nDCG(gain='exponential')", "nDCG(gain=exponential)"),
        ("RR(rel=2)@10", "RR(rel=2)@10"),
        ("RR(rel=1.0)", "RR"),
        ("RR(rel=0.5,empty=zero,ties=listed)", "RR(rel=0.5,empty=zero,ties=listed)"),
        ("RBP", "RBP(p=0.8)"),
        ("ERR(max_grade=4)@20", "ERR(max_grade=4)@20"),
        ("FirstRank", "FirstRank(average=median)"),
        ("Success@5", "HitRate@5"),
        ("R(rel=2)@5", "Recall(denominator=all,rel=2)@5"),
        ("mAP@10", "AP(denominator=all)@10"),
        ("CMC@1", "HitRate@1"),
        ("map", "AP(denominator=all,empty=zero,ties=id_desc)"),
        ("P_5", "Precision(denominator=k,ties=id_desc)@5"),
        ("ndcg_cut.10", "nDCG(gain=linear,empty=zero,ties=id_desc)@10"),
        ("ndcg_cut_10", "nDCG(gain=linear,empty=zero,ties=id_desc)@10"),
        ("success_5", "HitRate(ties=id_desc)@5"),
        ("bpref", "Bpref(negative=unjudged,empty=zero,ties=id_desc)"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    measure = parse_measure(text)
    assert str(measure) == canonical
    assert parse_measure(canonical) == measure
    assert hash(parse_measure(canonical)) == hash(measure)


def test_every_alias_reads_and_reads_back() -> None:
    texts = [*TREC_WHOLE, *(f"{name}_10" for name in TREC_CUT), *(f"{name}.10" for name in TREC_CUT)]
    texts += [
        f"{name}@5" if "k" in declared(measure_class(family)) else name for name, family in FAMILY_ALIASES.items()
    ]
    for text in texts:
        measure = parse_measure(text)
        assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("AP@", "the form is"),
        ("AP(denominator=min", "the form is"),
        ("", "the form is"),
        ("AP(denominator)@5", "not of the form parameter=value"),
        ("AP(denominator=all,denominator=min)@5", "denominator is given twice"),
        ("AP(k=5)@5", "k is given twice"),
        ("AP(depth=5)", "AP has no parameter depth; it has average, empty, ties, denominator"),
        ("AP(denominator=most)@5", "denominator='most'; allowed is one of all, min, found"),
        ("AP(denominator=min)", "needs a k"),
        ("AP(denominator=min)@R", "needs a k"),
        ("AP(cut=relevant,denominator=min)@5", "its own denominator"),
        ("AP(interpolation=trapezoid)@5", "reads the whole list"),
        ("AP(unfound=undefined)@5", "only under denominator=found"),
        ("HitRate", "HitRate: k must be given, a whole number from 1"),
        ("HitRate@0", "k=0; allowed is a whole number from 1"),
        ("HitRate@2.5", "k=2.5"),
        ("HitRate@R", "k='R'"),
        ("RR@R", "k='R'"),
        ("RR(rel=0)", "rel=0; allowed is a number above 0"),
        ("RR(rel=high)", "rel='high'"),
        ("RR(rel=nan)", "rel=nan"),
        ("RR(average=micro)", "average='micro' says nothing here; allowed is one of macro, median"),
        ("Recall(average=micro,empty=zero)@5", "adds nothing"),
        ("nDCG(rel=2)@5", "changes nothing under gain=linear"),
        ("nDCG(dcg=log3)", "dcg is one of log2, exp-log2"),
        ("ERR@20", "max_grade must be given"),
        ("RBP(p=1)", "allowed is a number between 0 and 1"),
        ("RPrecision@5", "RPrecision has no parameter k"),
        ("AP(ties=random)", "allowed is one of call, expected, best"),
    ],
)
def test_refusals_say_what_is_allowed(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words.replace("(", r"\(").replace(")", r"\)")):
        parse_measure(text)


def test_unknown_names_list_what_there_is() -> None:
    with pytest.raises(UnknownNameError, match=r"no measure 'ndgc', did you mean nDCG\?; there are AP, Bpref, DCG"):
        parse_measure("ndgc@10")


def test_measures_are_values() -> None:
    assert AP(denominator="min", k=10) == parse_measure("AP(denominator=min)@10")
    assert AP() @ 10 == AP(k=10)
    assert {AP(k=10): 1}[AP() @ 10] == 1
    with pytest.raises(InputError, match="takes no cut-off"):
        _ = parse_measure("INP") @ 10
    with pytest.raises(AttributeError):
        AP().k = 5  # type: ignore[misc]


def test_several_texts_of_one_measure_are_one() -> None:
    assert parse_measures(["AP", "AP(denominator=all)", AP()]) == (AP(),)
    with pytest.raises(InputError, match="give a list"):
        parse_measures("AP")


def test_defaults_fill_what_a_text_leaves_open() -> None:
    defaults = {"AP": {"denominator": "min"}}
    assert parse_measure("AP@5", defaults=defaults) == AP(denominator="min", k=5)
    assert parse_measure("AP(denominator=all)@5", defaults=defaults) == AP(k=5)
    assert parse_measure("AP(cut=relevant)@5", defaults=defaults) == AP(cut="relevant", k=5)
    # min(R, k) without a k is no choice anyone made.
    assert parse_measure("AP", defaults=defaults) == AP()
    assert parse_measure("Recall@5", defaults=defaults) == Recall(k=5)


def test_every_measure_has_words_and_a_documented_docstring() -> None:
    for name in BUILT_IN:
        family = measure_class(name)
        text = family.__doc__ or ""
        for part in ("::", "Convention\n", "How to read it\n", "References\n", "Examples\n"):
            assert part in text, f"{name} does not say its {part.strip()}"
    for form in ("AP(denominator=min)@10", "AP(cut=relevant)", "Recall(average=micro)@3", "ERR(max_grade=3)"):
        assert len(parse_measure(form).words) > 20


def test_entry_points_of_the_project_are_the_built_in_table() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"][registry.ENTRY_POINT_GROUP] == BUILT_IN


def test_every_built_in_loads_under_its_own_name() -> None:
    for name in BUILT_IN:
        assert measure_class(name).__name__ == name
        assert name in measure_names()


@dataclass(frozen=True, kw_only=True)
class BothFound(ListMeasure):
    """Whether two relevant items are among the first k."""

    k: int | str | None = cutoff()

    def of_list(self, grades: Any, judged: Any) -> Any:
        return (grades[: self.k] >= 1).sum() >= 2 if len(judged) else None


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})
    register(BothFound)


@pytest.mark.usefixtures("own")
def test_a_measure_of_ten_lines_has_every_tie_rule() -> None:
    ranking = Ranking.from_dict({"q1": {"a": 1.0, "b": 0.5, "c": 0.5, "d": 0.5}, "q2": {"a": 1.0}})
    relevance = Relevance.from_dict({"q1": {"a": 1, "c": 2}, "q2": {}})
    by_rule = {
        ties: evaluate(ranking, relevance, ["BothFound@2"], ties=ties)["BothFound@2"].values.tolist()
        for ties in ("expected", "best", "worst", "listed", "id_desc")
    }
    assert {ties: values[0] for ties, values in by_rule.items()} == {
        "expected": pytest.approx(1 / 3),
        "best": 1,
        "worst": 0,
        "listed": 0,
        "id_desc": 0,
    }
    assert all(np.isnan(values[1]) for values in by_rule.values())
    assert parse_measure("BothFound@2").words == "Whether two relevant items are among the first k"


@pytest.mark.usefixtures("own")
def test_too_many_orders_are_refused_with_a_way_out() -> None:
    ranking = Ranking.from_similarity(np.zeros((1, 40)))
    relevance = Relevance.from_matrix(np.arange(40)[None] % 3)
    with pytest.raises(InputError, match="of the first 20 places; choose ties='listed'"):
        evaluate(ranking, relevance, ["BothFound@20"])
    # 26 of 40 are relevant, all tied; of the first five places every order is gone through.
    fewer_than_two = (comb(14, 5) + 26 * comb(14, 4)) / comb(40, 5)
    assert evaluate(ranking, relevance, ["BothFound@5"])["BothFound@5"].mean == pytest.approx(1 - fewer_than_two)
    assert evaluate(ranking, relevance, ["BothFound@5"], ties="listed")["BothFound@5"].mean == 1


@pytest.mark.usefixtures("own")
def test_names_are_taken_once() -> None:
    assert register(BothFound) is BothFound
    with pytest.raises(InputError, match="already a measure BothFound"):
        register(type("BothFound", (Measure,), {"expectation": lambda *_: None}))
    with pytest.raises(InputError, match="already a measure AP"):
        register(type("AP", (Measure,), {}))
    with pytest.raises(InputError, match="not a class below Measure"):
        register(Positions)  # type: ignore[type-var]


def test_plug_ins_come_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def points(*, group: str) -> list[EntryPoint]:
        assert group == "visual_search.measures"
        return [
            EntryPoint("HitRate", "nowhere:Other", group),  # a built-in's name is not taken over
            EntryPoint("Positions", "visual_search.evaluation.positions:Positions", group),
            EntryPoint("Plugged", "plugged_in:Plugged", group),
        ]

    @dataclass(frozen=True, kw_only=True)
    class Plugged(HitRate):
        """From another package."""

    monkeypatch.setattr("importlib.metadata.entry_points", points)
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(EntryPoint, "load", lambda self: Plugged if self.name == "Plugged" else Positions)
    assert "Plugged" in measure_names()
    assert str(parse_measure("Plugged@3")) == "Plugged@3"
    assert parse_measure("HitRate@3") == HitRate(k=3)
    with pytest.raises(InputError, match="must name a class below Measure called Positions"):
        parse_measure("Positions")
