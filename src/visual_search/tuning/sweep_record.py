"""A sweep as it was stored: on what, how, where, and its finished points."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from visual_search.counted import counted
from visual_search.errors import FileFormatError, InputError, UnknownNameError, first_few
from visual_search.evaluation.measures.parsing import parse_measure
from visual_search.evaluation.text_table import decimals, text_table
from visual_search.formats.json_lines import read_json_lines
from visual_search.tuning.ladder_builds import LadderBuild, ladder_builds, rebuilt_words, with_builds
from visual_search.tuning.not_finished import NotFinished, given_up_words
from visual_search.tuning.sweep_plan import check_asked, split_records, unfinished_words
from visual_search.tuning.sweep_point import COST_WORDS, COSTS, SweepPoint
from visual_search.tuning.sweep_shapes import check_header, check_lengths

__all__ = ["FORMAT", "Sweep", "cost_in_words", "is_header"]

FORMAT = "visual-search sweep 1"


@dataclass(frozen=True, eq=False)
class Sweep:
    """Points measured on the same data in the same way.

    Attributes
    ----------
    header : mapping
        ``data`` (fingerprints, metric, k, measures), ``protocol`` (threads, warm-up, counts, seed, load), ``versions``,
        ``machine``.
    points : tuple of SweepPoint
        In the order in which they were asked for.
    notes : tuple of str
        What a reader should know.
    file : Path or None
        Where it lies; None for one that was made in memory.
    missing : tuple of str
        Settings that were asked for and are not measured yet, as a killed sweep leaves them; files of versions that did
        not keep what was asked for say nothing of them.
    not_finished : tuple of NotFinished
        Settings that were given up, since they took longer than the time limit, in the order asked for.
    applied : mapping of str to tuple of str
        Of what a run was asked for: the structures that each setting given by values went to. Empty when read back.
    """

    header: Mapping[str, Any]
    points: tuple[SweepPoint, ...]
    notes: tuple[str, ...] = ()
    file: Path | None = None
    missing: tuple[str, ...] = ()
    not_finished: tuple[NotFinished, ...] = ()
    applied: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sweep:
        """Read the finished points of a file; one that its writer did not finish does not count.

        Raises
        ------
        FileFormatError
            Not a sweep's file, or with values of the wrong type; a folder.
        """
        _refuse_folder(Path(path))
        records, beyond = read_json_lines(path)
        if not is_header(records[0]):
            raise FileFormatError(f"{path}: its first line is not that of a sweep ({FORMAT})")
        try:
            check_header(records[0])
            of_runs, of_points, of_given_up = split_records(records[1:])
            asked = check_asked(of_runs)
            points = [SweepPoint.from_json(record) for record in of_points]
            for record in of_points:
                check_lengths(record, records[0]["data"]["measures"], len(records[0]["query_ids"]))
            given_up = NotFinished.latest(of_given_up, (point.key for point in points))
        except FileFormatError as error:
            raise FileFormatError(f"{path}: {error}") from error
        cut = (
            [f"{Path(path).name}: a point that its writer did not finish is left out ({beyond} bytes)"]
            if beyond
            else []
        )
        there = {point.key for point in points} | given_up.keys()
        missing = tuple(label for key, label in asked.items() if key not in there)
        notes = [*unfinished_words(missing, len(points), len(given_up)), *cut]
        made = cls.of(records[0], points, notes, given_up=list(given_up.values()))
        return replace(made, file=Path(path), missing=missing)

    @classmethod
    def of(
        cls,
        header: Mapping[str, Any],
        points: Sequence[SweepPoint],
        notes: Sequence[str] = (),
        *,
        given_up: Sequence[NotFinished] = (),
    ) -> Sweep:
        """Put points in order and say what is to be said of them."""
        ordered = sorted(with_builds(points), key=lambda point: point.place)
        late = sorted(given_up, key=lambda one: one.place)
        said = [*notes, *given_up_words(late), *rebuilt_words(ordered)]
        without = sum(point.cost is None for point in points)
        if without:
            said.append(f"cost not measured for {counted(without, 'point', 'points')}")
        ladders = {point.ladder for point in points}
        threads = header["protocol"]["threads"]
        if len(ladders) > 1 and any(point.engine == "pgvector" for point in points):
            said.append(f"pgvector runs in a server of its own, which threads={threads} does not bind")
        return cls(header, tuple(ordered), tuple(said), not_finished=tuple(late))

    @property
    def measures(self) -> tuple[str, ...]:
        """Text forms of the measures, the first is the default of every choice."""
        return tuple(self.header["data"]["measures"])

    @property
    def query_ids(self) -> list[Any]:
        """One id per value of every point."""
        return list(self.header["query_ids"])

    @property
    def neighbors(self) -> list[list[Any]] | None:
        """Ids of the exact neighbours of every query, nearest first; None where the file does not have them."""
        held: list[list[Any]] | None = self.header.get("neighbors")
        return held

    def refuse_if_empty(self) -> None:
        """Refuse to choose where there is nothing to choose from.

        Raises
        ------
        InputError
            No point is finished; with what became of those that were given up.
        """
        if not self.points:
            late = "".join(f"; {words}" for words in given_up_words(self.not_finished))
            mend = late or "; start the sweep again into the same file: it goes on where it was"
            raise InputError(f"{self.file.name if self.file else 'sweep'}: no point is finished{mend}")

    def measure(self, text: str | None = None) -> str:
        """The canonical form of one of the measures; the first where none is named.

        Raises
        ------
        UnknownNameError
            It was not measured.
        """
        if text is None:
            return self.measures[0]
        try:
            wanted = str(parse_measure(text))
        except (InputError, UnknownNameError) as error:
            raise type(error)(f"measure: {error}; this sweep has {', '.join(self.measures)}") from error
        if wanted not in self.measures:
            raise UnknownNameError(
                f"measure: {wanted} was not measured in this sweep; it has {', '.join(self.measures)}"
            )
        return wanted

    def table(self, measure: str | None = None) -> str:
        """Every point in plain text: mean, lowest query, costs; of a point that was given up, that it was.

        The build time is that of the build that the point was measured on, and says which where there are several.
        """
        chosen = self.measure(measure)
        shown = ("latency_p50", "latency_p95", "latency_p99", "throughput", "index_bytes", "build_seconds")
        costly = any(point.cost is not None for point in self.points)
        builds = {point.key: one for one in ladder_builds(self.points) for point in one.points}
        rows: list[tuple[int, list[str]]] = []
        for point in self.points:
            values = point.values[chosen]
            known = values[values == values]  # noqa: PLR0124 - NaN differs from itself
            costs = [
                cost_in_words(name, point.of(name)) if costly or name in _ALWAYS else "" for name in shown[:-1]
            ]
            mean, lowest = (float(known.mean()), float(known.min())) if known.size else (None, None)
            cells = [point.label, decimals(mean, 4), decimals(lowest), *costs, _build_cell(builds[point.key])]
            rows.append((point.place, cells))
        dashes = ["-" if costly or name in _ALWAYS else "" for name in shown]
        rows += [(one.place, [one.label, one.words(), "-", *dashes]) for one in self.not_finished]
        heads = [_SHORT.get(name, COST_WORDS[name]) for name in shown]
        lines = [cells for _, cells in sorted(rows, key=lambda row: row[0])]
        table = text_table(["setting", chosen, "lowest query", *heads], lines)
        return (
            table
            if costly or not self.points
            else f"{table}\ncost not measured: these settings cannot be ranked by what they cost"
        )

    def as_json(self, *, values: bool = False) -> dict[str, Any]:
        """As a JSON object; with ``values`` those of every query, else their means."""
        return {
            **{name: value for name, value in self.header.items() if name not in _BY_QUERY or values},
            "points": [point.as_json(values=values) for point in self.points],
            "builds": [one.as_json() for one in ladder_builds(self.points)],
            "not_finished": [one.told() for one in self.not_finished],
            "applied": {name: list(ladders) for name, ladders in self.applied.items()},
            "missing": list(self.missing),
            "notes": list(self.notes),
        }


_BY_QUERY = ("query_ids", "neighbors")
_ALWAYS = ("index_bytes", "build_seconds")
# Beside the median latency the two percentiles need not say of what they are.
_SHORT = {"latency_p95": "95th percentile", "latency_p99": "99th percentile"}


def _build_cell(one: LadderBuild) -> str:
    """The time of the build that a point was measured on."""
    seconds = cost_in_words("build_seconds", one.build["seconds"])
    return seconds if one.count == 1 else f"{seconds} (build {one.number} of {one.count})"


def _refuse_folder(path: Path) -> None:
    """Name the files of a folder, since ``sweep -o sweeps/`` made their names."""
    if path.is_dir():
        there = sorted(one.name for one in path.glob("*.jsonl"))
        held = f"one of those in it: {first_few(there, 3)}" if there else "and there is none (*.jsonl) in it"
        raise FileFormatError(f"{path}: a folder; give the file of a sweep, {held}")


def is_header(record: Any) -> bool:
    """Whether a record begins a sweep's file."""
    return isinstance(record, dict) and record.get("format") == FORMAT


def cost_in_words(name: str, value: float | None) -> str:
    """Write a cost with its unit.

    >>> cost_in_words("latency_p95", 0.00123), cost_in_words("index_bytes", 2_500_000)
    ('1.230 ms', '2.5 MB')
    """
    if value is None:
        return "-"
    unit = COSTS[name][0]
    if unit == "bytes":
        return f"{value / 1e6:,.1f} MB"
    if name.startswith("latency"):
        return f"{1000 * value:.3f} ms"
    return f"{value:,.0f}/s" if unit == "queries/s" else f"{value:.2f} s"
