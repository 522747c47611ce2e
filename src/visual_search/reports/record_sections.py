"""Records that are no results, each as a section of a report; a choice stands with the sweep that it was made from."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from visual_search.errors import FileFormatError, InputError, Problems
from visual_search.evaluation.protocols.split import Split
from visual_search.evaluation.protocols.split_files import read_split
from visual_search.formats.json_shapes import ANY, COUNT, TEXT, Each, There, is_value
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.indexing.index_table import VectorIndex
from visual_search.indexing.item_images import images_of
from visual_search.reports.attribution_section import attribution_section
from visual_search.reports.choice_section import choice_record_section, is_chosen_from, sweep_section
from visual_search.reports.code_section import codes_record_section
from visual_search.reports.comparisons import comparisons_from
from visual_search.reports.directions_section import directions_record_section
from visual_search.reports.judging_section import judging_record_section
from visual_search.reports.leaks_page import leaks_record_section
from visual_search.reports.ledger_tables import ledger_table
from visual_search.reports.page_section import Section, checked
from visual_search.reports.pictures import Album
from visual_search.reports.record_files import RecordFile
from visual_search.reports.rendering import render_part
from visual_search.reports.truth_section import truth_section
from visual_search.tuning.sweep_record import Sweep

__all__ = ["sections_of"]

_COMPARISON = {
    "systems": There([TEXT]),
    "queries": COUNT,
    "groups": COUNT,
    "contrasts": There([There(Each(ANY))]),
    "left_out": Each(TEXT),
    "notes": There([TEXT]),
    "differences": There([TEXT]),
    "despite": TEXT,
}
_TITLES = {
    "sweep": "Quality against cost",
    "choice": "The choice of a setting",
    "attribution": "Index error and representation error",
    "leaks": "Leaks",
    "truth": "The exact answers",
    "directions": "Both directions",
    "split": "The split and its proof",
    "codes": "Hash codes",
    "comparison": "Systems compared",
    "judging": "Judgements and what they leave open",
    "index": "Pictures of the index",
}


def sections_of(records: Sequence[RecordFile], *, album: Callable[[str], Album] | None = None) -> list[Section]:
    """Make the sections of a report, in the order of the records.

    Parameters
    ----------
    records : sequence of RecordFile
        Results among them are left to the page itself. A sweep that a choice was made from has no section of its own.
    album : callable, optional
        Gives the album for the pictures of a section, from its anchor; each section holds its own where left out.

    Raises
    ------
    FileFormatError
        Records that cannot be shown; all of them.
    """
    problems = Problems("records")
    sweeps = {
        one.path: sweep
        for one in records
        if one.kind == "sweep" and (sweep := _told(problems, partial(Sweep.load, one.path))) is not None
    }
    source = {
        one.path: next((path for path, sweep in sweeps.items() if is_chosen_from(one.value, sweep)), None)
        for one in records
        if one.kind == "choice"
    }
    taken = set(source.values())
    shown = [one for one in records if one.kind != "result" and not (one.kind == "sweep" and one.path in taken)]
    many, seen = Counter(one.kind for one in shown), Counter[str]()
    made: list[Section] = []
    for one in shown:
        seen[one.kind] += 1
        several = many[one.kind] > 1
        anchor = f"record-{one.kind}" + (f"-{seen[one.kind]}" if several else "")
        place = _Place(
            anchor,
            _TITLES[one.kind] + (f": {one.path.name}" if several else ""),
            sweeps.get(source.get(one.path) or one.path),
            None if album is None else album(anchor),
        )
        made += _told(problems, partial(_sections, one, place)) or []
    problems.raise_if_any(FileFormatError)
    return made


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a section goes, and what it may need besides its record."""

    anchor: str
    title: str
    sweep: Sweep | None
    album: Album | None


def _told(problems: Problems, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except FileFormatError as problem:
        problems.add(str(problem))
        return None


def _sections(one: RecordFile, place: _Place) -> list[Section]:
    try:
        return _made(one, place)
    except FileFormatError as problem:
        name = one.path.name
        raise FileFormatError(str(problem) if name in str(problem) else f"{name}: {problem}") from problem
    except InputError as problem:
        raise FileFormatError(f"{one.path.name}: {problem}") from problem


def _made(one: RecordFile, place: _Place) -> list[Section]:
    named: dict[str, Any] = {"anchor": place.anchor, "title": place.title}
    if one.kind == "codes":
        return _codes_sections(one.value, **named)
    if one.kind == "sweep" and place.sweep is None:
        return []  # it could not be read, which is told already
    makers: dict[str, Callable[[], Section]] = {
        "sweep": lambda: sweep_section(place.sweep, **named),  # type: ignore[arg-type] # none was told above
        "choice": lambda: choice_record_section(one.value, place.sweep, **named),
        "attribution": lambda: attribution_section(one.value, **named),
        "leaks": lambda: leaks_record_section(one.value, album=place.album, **named),
        "truth": lambda: truth_section(ExactNeighbors.load(one.path), **named),
        "directions": lambda: directions_record_section(one.value, label=one.path.stem, **named),
        "split": lambda: _split_section(one, **named),
        "comparison": lambda: _comparison_section(one.value, **named),
        "judging": lambda: judging_record_section(one.value, **named),
        "index": lambda: _index_section(one, **named),
    }
    return [makers[one.kind]()]


def _split_section(one: RecordFile, *, anchor: str, title: str) -> Section:
    split = read_split(one.path)
    told = split.record() if isinstance(split, Split) else {"words": split.words, "proof": split.proof.as_json()}
    body = render_part("split_section.html.j2", anchor=anchor, split={"condition": None, "warnings": []} | told)
    return Section(anchor, title, body)


def _codes_sections(value: Mapping[str, Any], *, anchor: str, title: str) -> list[Section]:
    both = bool(value.get("back"))
    words = f"{title}, queries to gallery" if both else title
    made = [codes_record_section(value["there"], vectors=value.get("vectors"), anchor=anchor, title=words)]
    if both:
        made.append(
            codes_record_section(value["back"], anchor=f"{anchor}-back", title=f"{title}, gallery to queries")
        )
    return made


def _comparison_section(value: Mapping[str, Any], *, anchor: str, title: str) -> Section:
    told = checked(value, _COMPARISON, title, needed=("systems", "contrasts"))
    wrong = [row for row, one in enumerate(told["contrasts"]) if not _is_contrast(one)]
    if wrong:
        raise FileFormatError(
            f"{title}: contrasts {wrong[:5]}: a, b and measure are texts, the rest numbers or null"
        )
    known = [one for one in told["contrasts"] if one.get("difference") is not None]
    pairs = comparisons_from(one | {"p_adjusted": one.get("p_holm")} for one in known)
    body = render_part("comparison_section.html.j2", anchor=anchor, comparison=told, comparisons=pairs)
    return Section(anchor, title, body)


def _is_contrast(one: Mapping[str, Any]) -> bool:
    texts = all(isinstance(one.get(key), str) for key in ("a", "b", "measure"))
    numbers = ("difference", "p_value", "p_holm", "wins", "losses", "ties", "detectable", "effect_size")
    interval = one.get("interval")
    ends = not interval or (
        isinstance(interval, Mapping) and all(is_value(interval.get(k)) for k in ("low", "high"))
    )
    words = isinstance(one.get("caution"), str | None)
    return texts and ends and words and all(is_value(one.get(key)) for key in numbers)


def _index_section(one: RecordFile, *, anchor: str, title: str) -> Section:
    index = VectorIndex.open(one.path)
    images = images_of(index)
    if images is None:
        raise FileFormatError(
            f"{one.path.name}: an index of vectors alone, with no account of pictures to show; leave it out and give "
            "what was measured with it, such as the results JSON of visual-search evaluate; look through its items by "
            f"visual-search serve --index {shlex.quote(str(one.path))}; or make it of pictures with visual-search index"
        )
    named = [{"id": entry.id, "reason": entry.reason} for entry in images.ledger.left_out]
    table = ledger_table([one.path.name], images.ledger.as_json() | {"left_out_files": named})
    return Section(anchor, title, render_part("ledger_section.html.j2", anchor=anchor, ledgers=[table]))
