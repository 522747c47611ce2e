"""Codes, or embeddings to be hashed, and labels on disk, to the table, the curves and the page."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.code_curves import EmptyBall
from visual_search.evaluation.code_study import CODE_MEASURES, CodeStudy, study_codes
from visual_search.evaluation.result import Result
from visual_search.evaluation.similarity import evaluate_similarity
from visual_search.formats.binary_codes import BinaryCodes, Zeros
from visual_search.formats.label_files import read_array, read_labels
from visual_search.ground_truth.shared_labels import SharedLabels
from visual_search.indexing.hashing import HashName, fit_hasher
from visual_search.reports.code_section import code_section, write_code_page
from visual_search.undefined import none_if_nan

__all__ = ["CodeFiles", "CodesFound", "evaluate_code_files", "write_code_pages"]

PathLike: TypeAlias = "str | os.PathLike[str]"

# Relevant pairs of a float embedding that are written down, 16 bytes each.
_PAIRS = 20_000_000


@dataclass(frozen=True, slots=True)
class CodeFiles:
    """Where codes and labels are.

    Attributes
    ----------
    queries, query_labels : path
        Codes or embeddings (``.npy``), and labels (``.npy`` or CSV), a row an item.
    gallery, gallery_labels : path, optional
        Of the gallery; without them the queries are the gallery, and each is ignored for itself.
    """

    queries: PathLike
    query_labels: PathLike
    gallery: PathLike | None = None
    gallery_labels: PathLike | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CodesFound:
    """What `evaluate_code_files` found.

    Attributes
    ----------
    there, back : mapping of name to CodeStudy
        Queries against gallery and, where asked for, gallery against queries; one study for each length of code.
    vectors : Result or None
        The same measures of the float embedding, where codes were made of one.
    notes : tuple of str
    """

    there: Mapping[str, CodeStudy]
    back: Mapping[str, CodeStudy]
    vectors: Result | None
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One row for each direction, set of codes and measure; the float embedding last."""
        made = []
        for way, studies in (("there", self.there), ("back", self.back)):
            for name, study in studies.items():
                made += [{"direction": way if self.back else "", "codes": name, **row} for row in study.table()]
        if self.vectors is not None:
            made += [
                {
                    "direction": "there" if self.back else "",
                    "codes": "float embedding",
                    "rules": "",
                    "measure": text,
                    "expected": none_if_nan(found.mean),
                    "counted": found.counted,
                    "undefined": found.undefined,
                }
                for text, found in self.vectors.items()
            ]
        return made

    def as_json(self) -> dict[str, Any]:
        """The whole as a JSON object; undefined values are null."""
        return {
            "there": {name: study.as_json() for name, study in self.there.items()},
            "back": {name: study.as_json() for name, study in self.back.items()} or None,
            "vectors": None if self.vectors is None else self.vectors.as_json(),
            "notes": list(self.notes),
        }


def evaluate_code_files(
    files: CodeFiles,
    measures: Sequence[str] = (),
    *,
    hashing: HashName | None = None,
    bits: Sequence[int] = (),
    packed: bool = False,
    zeros: Zeros | None = None,
    empty: EmptyBall = "undefined",
    k_values: Sequence[int] | None = None,
    both: bool = False,
) -> CodesFound:
    """Measure codes, or embeddings hashed to several lengths, by the labels their items share.

    Parameters
    ----------
    files : CodeFiles
        Where they are.
    measures : sequence of str
        Text forms; a usual set where there are none.
    hashing : {"sign", "median", "itq"}, optional
        How codes are made of embeddings; learnt from the gallery alone. Without it the files hold codes.
    bits : sequence of int
        Lengths of code to make; the embedding's own length by default.
    packed : bool
        As for `BinaryCodes.of`.
    zeros : {"refuse", "one", "zero"}, optional
        Of codes as for `BinaryCodes.of`, by default ``"refuse"``; of embeddings as for `fit_hasher`, by default
        ``"zero"``: a bit is 1 where its number is above the threshold.
    empty : {"undefined", "zero"}
        What the precision of an empty Hamming ball is.
    k_values : sequence of int, optional
        Cut-offs of the presets.
    both : bool
        Whether the gallery asks for the queries too, as in text to image after image to text.

    Returns
    -------
    CodesFound
    """
    if (files.gallery is None) != (files.gallery_labels is None):
        raise InputError("gallery and its labels are given together, or neither")
    if files.gallery is None and both:
        raise InputError("both ways: there is one set; give a gallery of the other kind")
    if bits and hashing is None:
        raise InputError("bits: say how codes are to be made of embeddings (sign, median or itq)")
    queries = read_array(files.queries)
    gallery = queries if files.gallery is None else read_array(files.gallery)
    labels = (
        _labels(files.query_labels, len(queries)),
        None if files.gallery_labels is None else _labels(files.gallery_labels, len(gallery)),
    )
    truth = SharedLabels.of(*labels)
    chosen = tuple(measures) or CODE_MEASURES
    there: dict[str, CodeStudy] = {}
    back: dict[str, CodeStudy] = {}
    reverse = SharedLabels.of(labels[1], labels[0]) if both else None
    made, remarks = _codes(queries, gallery, hashing, bits, packed=packed, zeros=zeros)
    for name, mine, theirs in made:
        there[name] = study_codes(mine, theirs, truth, chosen, empty=empty, k_values=k_values)
        if reverse is not None:
            back[name] = study_codes(theirs, mine, reverse, chosen, empty=empty, k_values=k_values)
    vectors, notes = (None, ()) if hashing is None else _of_vectors(queries, gallery, truth, chosen)
    notes = (*remarks, *notes)
    if hashing is not None and files.gallery is None:
        notes = (
            *notes,
            "the hash was learnt from the very items that ask; a gallery of its own is the stricter test",
        )
    return CodesFound(there, back, vectors, notes)


def write_code_pages(found: CodesFound, out: PathLike) -> Path:
    """One HTML page of what was found, a section for each direction."""
    sections = [
        code_section(found.there, vectors=found.vectors, title="Queries to gallery" if found.back else "Codes")
    ]
    if found.back:
        sections.append(code_section(found.back, anchor="back", title="Gallery to queries"))
    return write_code_page(sections, out)


def _codes(
    queries: npt.NDArray[Any],
    gallery: npt.NDArray[Any],
    hashing: HashName | None,
    bits: Sequence[int],
    *,
    packed: bool,
    zeros: Zeros | None,
) -> tuple[list[tuple[str, BinaryCodes, BinaryCodes]], tuple[str, ...]]:
    """Codes of both sides by name, and what was odd about the vectors they were learnt from."""
    if hashing is None:
        mine, theirs = BinaryCodes.both(queries, gallery, packed=packed, zeros=zeros or "refuse")
        return [(f"{theirs.bits} bits", mine, theirs)], ()
    made, remarks = [], []
    for length in bits or (None,):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # they are told as notes
            hasher = fit_hasher(hashing, gallery, bits=length, zeros=zeros or "zero")
        name = f"{hashing}, {hasher.bits} bits"
        made.append((name, hasher.codes(queries), hasher.codes(gallery)))
        remarks += [f"{name}: {remark}" for remark in hasher.remarks]
    return made, tuple(remarks)


def _labels(path: PathLike, rows: int) -> npt.NDArray[Any]:
    """Labels of so many rows; one row too few in a table is most likely its first, taken for a header."""
    labels = read_labels(path)
    if len(labels) == rows - 1 and Path(path).suffix != ".npy":
        raise InputError(
            f"{Path(path).name}: {counted(len(labels), 'row', 'rows')} under its first line, for {rows} items; the "
            "first line is the header, which names the column or each label: add one"
        )
    return labels


def _of_vectors(
    queries: npt.NDArray[Any],
    gallery: npt.NDArray[Any],
    truth: SharedLabels,
    measures: Sequence[str],
) -> tuple[Result | None, tuple[str, ...]]:
    relevant = sum(int(np.count_nonzero(truth.grades_of(row))) for row in range(len(truth)))
    if relevant > _PAIRS:
        note = (
            f"the float embedding was not measured: its {relevant} relevant pairs are more than the {_PAIRS} that are "
            "written down here"
        )
        return None, (note,)
    return evaluate_similarity(queries, gallery, truth.relevance(), measures), ()
