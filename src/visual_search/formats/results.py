"""Result files: one JSON record with the guide's keys first, and beside it the ranking, the queries and the images.

::

    results.json                           the record: measures, conventions, counts, fingerprints (written last)
    results.ranking.0123456789ab.parquet   one row a returned item
    results.queries.0123456789ab.parquet   one row a query, one column a measure
    results.items.0123456789ab.json        where the images of items and queries are: id -> path; and their SHA-256

From the JSON alone one reaches the other three, and from them the images behind every number. The digits are those of
each file's own content, so writing a result over an old one touches nothing of the old one until the new record is in
its place: whenever it is interrupted, one of the two is whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from visual_search.counted import counted
from visual_search.errors import FileFormatError, InputError
from visual_search.formats.atomic import write_text
from visual_search.formats.companions import LONGEST_NAME, companions_folder, remove_companions, write_companion
from visual_search.formats.fingerprint import fingerprint_file
from visual_search.formats.image_places import checked_places, read_places, write_places
from visual_search.formats.outputs import written_file
from visual_search.formats.plain_json import check_regular, read_plain_json
from visual_search.formats.query_runs import QueryRuns
from visual_search.formats.ranking_heads import RankingHeads, read_heads
from visual_search.formats.ranking_rows import RankingRows
from visual_search.formats.result_record import checked_record, is_plain_name, plain_record, record_text
from visual_search.formats.result_tables import (
    queries_table,
    ranking_table,
    read_columns,
    read_table,
    write_table,
)
from visual_search.ids import Id

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ImageLocation", "StoredResult", "check_result_path", "read_headline", "read_result", "write_result"]


@dataclass(frozen=True)
class ImageLocation:
    """Where one image's bytes are.

    Parameters
    ----------
    path : Path
        The image file, or the archive that holds it.
    member : str, optional
        Name inside the archive; None when ``path`` is the image itself.
    sha256 : str, optional
        Of the image's bytes when it was measured, in hexadecimal; None where nobody kept it. Two locations are equal
        when they are the same place, whatever was there.
    """

    path: Path
    member: str | None = None
    sha256: str | None = field(default=None, compare=False)


class StoredResult:
    """A result as its files tell it.

    Parameters
    ----------
    path : Path
        The JSON file; its companions are looked for in the same folder, those of a link beside what it leads to.
    record : dict
        The JSON value, guide's keys first.

    How to read it
    --------------
    ``record`` has every mean, count and convention; ``ranking()`` what was returned and how each item was judged;
    ``queries()`` each query's values; ``item_location`` and ``query_location`` lead to the images.
    """

    def __init__(self, path: Path, record: dict[str, Any]) -> None:
        self.path = path
        self.record = record

    def __repr__(self) -> str:
        return (
            f"StoredResult({self.path.name}: {self.record['model_name']}, "
            f"{counted(self.record['num_queries'], 'query', 'queries')})"
        )

    @property
    def has_ranking(self) -> bool:
        """Whether the record names a ranking file; one with only the guide's keys does not."""
        return "ranking" in self._files

    def ranking(self, *, queries: Iterable[Id] | None = None) -> pa.Table:
        """What was returned: query, position, rank, item, score, distance, state, grade.

        Parameters
        ----------
        queries : iterable of ids, optional
            Only these queries' rows are read; all when None.

        Raises
        ------
        FileFormatError
            No ranking file is named, it is gone, it is not the one this record was written with, or it is damaged.
        """
        return read_table(self._checked("ranking"), "ranking", queries=queries)

    def first_ranks(self, depth: int, columns: Sequence[str]) -> pa.Table:
        """Some columns of the rows of ranks 1 to ``depth``, in the file's order; what is ignored has no rank.

        Raises
        ------
        FileFormatError
            As for :meth:`ranking`.
        """
        import pyarrow.compute as pc

        return read_table(self._checked("ranking"), "ranking", rows=pc.field("rank") <= depth, columns=columns)

    def heads(self, shown: int) -> RankingHeads:
        """The first ``shown`` items of every list, and the first relevant one behind them.

        Raises
        ------
        FileFormatError
            As for :meth:`ranking`.
        """
        return read_heads(self._checked("ranking"), shown)

    def ranking_rows(self, runs: QueryRuns | None = None) -> RankingRows:
        """The same rows for one query at a time, without reading the rest of the file.

        Parameters
        ----------
        runs : QueryRuns, optional
            Where each query's rows are, where that is known of a file of this checksum.

        Raises
        ------
        FileFormatError
            As for :meth:`ranking`.
        """
        return RankingRows(self._checked("ranking"), runs)

    def checksum_of(self, name: str) -> str | None:
        """The checksum that the record gives of its ``ranking``, ``queries`` or ``items`` file; None without one.

        Whatever is read of the file is read only where the file has it.
        """
        told: str | None = (self.record.get("file_checksums") or {}).get(name) if name in self._files else None
        return told

    @property
    def has_queries(self) -> bool:
        """Whether the record names a file of values per query."""
        return "queries" in self._files

    def queries(self, *, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a query: query, group, category, num_relevant, and a float64 column a measure (null: undefined).

        Parameters
        ----------
        columns : sequence of str, optional
            Only these are read; all when None.

        Raises
        ------
        FileFormatError
            As for :meth:`ranking`.
        InputError
            A column that is not there.
        """
        return read_table(self._checked("queries"), "queries", columns=columns)

    def query_columns(self) -> list[str]:
        """Names of the columns of :meth:`queries`, in the file's order.

        Raises
        ------
        FileFormatError
            As for :meth:`ranking`.
        """
        return read_columns(self._checked("queries"), "queries")

    def item_location(self, item: Id) -> ImageLocation | None:
        """Where a gallery item's image is, or None when the result does not say; the file may have gone since."""
        return self._location("items", item)

    def query_location(self, query: Id) -> ImageLocation | None:
        """Where a query's image is, or None when the result does not say; the file may have gone since."""
        return self._location("queries", query)

    @property
    def image_roots(self) -> tuple[Path, ...]:
        """Folders, anywhere on this machine, below which the result says that its images are; each once."""
        roots = (self.folder / part["root"] for part in self._manifest.values())
        return tuple(dict.fromkeys(roots))

    @cached_property
    def folder(self) -> Path:
        """The folder of the companions, from which relative places of images count."""
        return companions_folder(self.path, self._files.values())

    @property
    def _files(self) -> Mapping[str, str]:
        files: Mapping[str, str] = self.record.get("files") or {}
        return files

    def _companion(self, name: str) -> Path:
        if name not in self._files:
            raise FileFormatError(
                f"{self.path.name}: the record names no {name} file; evaluate again with an output path to have one"
            )
        return self.folder / self._files[name]

    def companion_marks(self) -> dict[str, list[int] | None]:
        """Size in bytes and time of the last change of each companion, in ns; None for one that is gone."""
        marks: dict[str, list[int] | None] = {}
        for name in self._files:
            try:
                told = self._companion(name).stat()
            except OSError:
                marks[name] = None
            else:
                marks[name] = [told.st_size, told.st_mtime_ns]
        return marks

    def _checked(self, name: str) -> Path:
        companion = self._companion(name)
        expected = (self.record.get("file_checksums") or {}).get(name)
        try:
            check_regular(companion)
            found = _fingerprint_once(companion, _identity(companion))
        except OSError as problem:
            raise FileFormatError(
                f"{self.path.name}: its {name} file {companion.name} cannot be read ({problem.strerror}); it "
                "belongs beside the JSON file: bring it back or evaluate again"
            ) from problem
        if expected is not None and found != expected:
            raise FileFormatError(
                f"{self.path.name}: {companion.name} is not the {name} file this record was written with: checksum "
                f"{found[:19]}..., not {str(expected)[:19]}...; evaluate again to have both from one run"
            )
        return companion

    @cached_property
    def _manifest(self) -> dict[str, dict[str, Any]]:
        if "items" not in self._files:
            return {}
        return read_places(self._checked("items"))

    def _location(self, side: str, key: Id) -> ImageLocation | None:
        part = self._manifest.get(side)
        place = part["paths"].get(str(key)) if part else None
        if part is None or place is None:
            return None
        root, sha256 = self.folder / part["root"], part.get("sha256", {}).get(str(key))
        if isinstance(place, str):
            return ImageLocation(root / place, sha256=sha256)
        return ImageLocation(root / place["archive"], place["member"], sha256)


def _identity(path: Path) -> tuple[int, ...]:
    """What changes whenever a file's bytes do."""
    told = path.stat()
    return told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns


@lru_cache(maxsize=4096)
def _fingerprint_once(path: Path, identity: tuple[int, ...]) -> str:  # noqa: ARG001 - a part of the cache's key
    """A companion's checksum; read again only when the file has changed."""
    return fingerprint_file(path)


def write_result(
    path: str | os.PathLike[str],
    record: Mapping[str, Any],
    *,
    ranking: Mapping[str, Any],
    queries: Mapping[str, Any],
    items: Mapping[str, Any] | None,
) -> StoredResult:
    """Write a result: companions first, then the JSON; a result that was there stays whole until then.

    Companions of the result that was there are removed at the end. After an interruption the old or the new result
    reads; companions that no record names may lie beside it.

    Parameters
    ----------
    path : path
        The JSON file; companions take its stem.
    record : mapping
        JSON values, the guide's keys first and in order; undefined values None, never NaN. ``files`` and
        ``file_checksums`` are added here.
    ranking : mapping of column name to sequence
        ``query``, ``position`` (as returned, from 1), ``rank`` (among the items that count, from 1; none for ignored
        ones), ``item``, ``score``, ``state`` (relevant, not_relevant, unjudged, ignored);
        ``distance`` and ``grade`` may be left out. One row a returned item; NaN or None in distance and grade means
        that there is none.
    queries : mapping of column name to sequence
        ``query``, ``num_relevant``, optionally ``group`` and ``category``, and one column a measure named by its
        canonical text; NaN or None: undefined.
    items : mapping, optional
        ``{"items": {"root": folder, "paths": {id: path}}, "queries": {...}}``; a path is relative to the root, with
        forward slashes, or ``{"archive": path, "member": name}``. A relative root is relative to the JSON file. Beside
        ``paths`` may stand ``"sha256": {id: hexadecimal digits}``, of the images as they were measured.

    Returns
    -------
    StoredResult
        The result as :func:`read_result` would give it.

    Raises
    ------
    InputError
        Keys missing, in another order or of another type, NaN in the record, columns of different lengths, an
        unknown state, a path that leaves its root; all problems at once.
    """
    target = check_result_path(path)
    plain = plain_record(record)
    checked_record(plain, target.name, error=InputError, in_order=True)
    tables = {"ranking": ranking_table(ranking), "queries": queries_table(queries)}
    manifest = None if items is None else checked_places(plain_record(items, odd_names=True), "items", InputError)
    replaced = (read_result(target).record.get("files") or {}) if target.exists() else {}
    writers: dict[str, Callable[[Path], object]] = {
        name: partial(write_table, table=table) for name, table in tables.items()
    }
    if manifest is not None:
        writers["items"] = partial(write_places, places=manifest)
    files: dict[str, str] = {}
    checksums: dict[str, str] = {}
    for name, write in writers.items():
        files[name], checksums[name] = write_companion(target, name, write)
    whole = {**plain, "files": files, "file_checksums": checksums}
    write_text(target, record_text(whole))
    remove_companions(target, set(replaced.values()) - set(files.values()))
    return StoredResult(target, whole)


def check_result_path(path: str | os.PathLike[str]) -> Path:
    """Refuse a path at which a result cannot or should not be written, before any work is done for it.

    Returns
    -------
    Path
        Where it is written: of a link what it leads to, which the companions then lie beside.

    Raises
    ------
    InputError
        A folder, a device, a link that leads to no file, a name that does not end in ``.json``, starts with a dot or
        has a colon or backslash, a name that is too long, or a file that is there and is no result.
    """
    target = Path(path)
    if (size := len(os.fsencode(target.name))) > LONGEST_NAME:
        raise InputError(
            f"output: a name of {size} bytes, {target.name[:40]!r}...; file systems take {LONGEST_NAME}: give a "
            "shorter one"
        )
    if target.is_dir():
        raise InputError(f"output: {target} is a folder; give a file, such as {target / 'results.json'}")
    target = written_file(path, "output")
    if target.suffix != ".json":
        leads = f"{os.fspath(path)} leads to " if target != Path(path) else ""
        raise InputError(f"output: {leads}{target.name!r}; a result is JSON: give a name that ends in .json")
    if not is_plain_name(target.name):
        raise InputError(
            f"output: {target.name!r}; its companions take its name, which must be good on every system: give one "
            "that starts with no dot and has no colon or backslash"
        )
    if target.exists():
        try:
            read_result(target)
        except FileFormatError as problem:
            raise InputError(
                f"output: {target} is there and is no result ({problem}); give another name, so that nothing is lost"
            ) from problem
    return target


def read_result(path: str | os.PathLike[str]) -> StoredResult:
    """Read a result's record; companions are read when asked for.

    A JSON with only the guide's keys is a result too: it has no ranking and leads to no images.

    Raises
    ------
    FileFormatError
        Truncated, not JSON, not a result, of a newer version, or with values of the wrong type; all problems at
        once, each with what is allowed.
    FileNotFoundError
        No such file.
    """
    source = Path(path)
    value = read_plain_json(source)
    checked_record(value, source.name, error=FileFormatError)
    return StoredResult(source, value)


def read_headline(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a result's record, with ``per_query_results`` empty where a file beside it has the queries' values.

    Several times as quick as :func:`read_result` for thousands of queries. What is returned is checked in the same
    way; what is passed over is not, and is not returned.

    Raises
    ------
    FileFormatError, FileNotFoundError
        As :func:`read_result`.
    """
    source = Path(path)
    value = read_plain_json(source, passed_over="per_query_results")
    if not (isinstance(value, dict) and isinstance(files := value.get("files"), dict) and "queries" in files):
        return read_result(source).record
    checked_record(value, source.name, error=FileFormatError)
    return value | {"per_query_results": []} if "per_query_results" in value else value
