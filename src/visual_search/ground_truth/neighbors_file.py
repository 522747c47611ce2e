"""The file of an exact answer: a zip archive with a manifest and one npy array a part, which `numpy.load` opens too."""

from __future__ import annotations

import errno
import io
import json
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import FileFormatError, InputError, Problems, first_few
from visual_search.formats.atomic import atomic_write
from visual_search.formats.ragged import offsets_of
from visual_search.formats.strict_json import parse_json
from visual_search.formats.zip_ends import check_ends
from visual_search.ground_truth.exact_answers import ExactAnswers
from visual_search.ground_truth.gallery_ids import GalleryIds
from visual_search.ground_truth.metric_names import TRUTH_METRICS
from visual_search.ground_truth.truth_scope import TruthScope
from visual_search.ids import Ids

if TYPE_CHECKING:
    from visual_search.ground_truth.exact_neighbors import ExactNeighbors

__all__ = ["FORMAT", "VERSION", "read_neighbors", "write_neighbors"]

AnyArray: TypeAlias = npt.NDArray[Any]

FORMAT = "visual-search exact neighbors"
VERSION = 1

# Part of ExactAnswers, its type in the file.
_PARTS = {
    "positions": np.int64,
    "distances": np.float64,
    "certified": np.bool_,
    "tie_offsets": np.int64,
    "tie_positions": np.int64,
    "ties_capped": np.bool_,
    "evaluations": np.int64,
}

_MEMBERS = {"manifest.json"} | {
    f"{name}.npy"
    for name in (
        *(*_PARTS, "subset_sizes"),
        *("gallery_ids", "gallery_ids_offsets", "query_ids", "query_ids_offsets"),
    )
}

# What distances may be: a cosine is minus the product of two unit vectors, whose length is rounded.
_RANGES = {
    "l2": (0.0, np.inf, "0 or more"),
    "ip": (-np.inf, np.inf, "any number"),
    "cosine": (-1.0 - 1e-9, 1.0 + 1e-9, "-1 to 1"),
    "hamming": (0.0, np.inf, "whole numbers of 0 or more"),
    "jaccard": (0.0, 1.0, "0 to 1"),
}


def write_neighbors(truth: ExactNeighbors, path: str | os.PathLike[str]) -> None:
    """Write an exact answer whole or not at all.

    Two equal answers make equal bytes: the archive holds no time and is not compressed.
    """
    arrays: dict[str, AnyArray] = {
        name: np.asarray(getattr(truth.answers, name), dtype=kind) for name, kind in _PARTS.items()
    }
    if truth.scope.subset_sizes is not None:
        arrays["subset_sizes"] = truth.scope.subset_sizes
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "metric": truth.metric,
        "scope": truth.scope.as_json(),
        "gallery_fingerprint": truth.gallery_fingerprint,
        "queries_fingerprint": truth.queries_fingerprint,
        "gallery_ids": _add_ids(arrays, "gallery_ids", truth.gallery),
        "query_ids": _add_ids(arrays, "query_ids", GalleryIds(truth.queries)),
        "versions": dict(truth.versions),
    }
    with atomic_write(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False)
        archive.writestr(zipfile.ZipInfo("manifest.json"), text)
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_neighbors(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the parts of an exact answer.

    Raises
    ------
    FileFormatError
        Not such a file, cut off, damaged, with bytes before its begin or behind its end, of a newer version, or with
        parts that contradict each other.
    OSError
        It is not there or cannot be read.
    """
    path = Path(path)
    if not path.is_file() and path.exists():
        raise FileFormatError(f"{path}: a folder, pipe or device; a truth is a file")
    try:
        with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            check_ends(archive, path)
            return _parts(archive, path)
    except FileFormatError:
        raise
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        # A damaged directory of the archive leads to a place before the file's begin.
        raise FileFormatError(f"{path}: not a file of exact neighbours, or cut off or damaged: {error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise FileFormatError(
            f"{path}: not a file of exact neighbours, or cut off, damaged or with much behind its end: {error}"
        ) from error
    except (InputError, LookupError, TypeError, ValueError, MemoryError, OverflowError, TokenError) as error:
        raise FileFormatError(f"{path}: parts are missing or contradict each other: {error}") from error


def _parts(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    names = archive.namelist()
    if "manifest.json" not in names:
        raise FileFormatError(f"{path}: no manifest.json inside; this is not a file of exact neighbours")
    manifest, repeated = parse_json(archive.read("manifest.json"), subject=f"{path}: manifest.json")
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FileFormatError(f"{path}: its manifest does not say that it is a file of exact neighbours")
    if manifest["version"] != VERSION:
        raise FileFormatError(
            f"{path}: version {manifest['version']}; this program reads version {VERSION}: install a newer one"
        )
    _check_names(names, path)
    _check_manifest(manifest, repeated, path)
    answers = ExactAnswers(**{name: _array(archive, name, kind) for name, kind in _PARTS.items()})
    if manifest["query_ids"]["count"] != len(answers.positions):
        raise ValueError(f"{manifest['query_ids']['count']} query ids for {len(answers.positions)} answers")
    _check_distances(answers.distances, manifest["metric"], path)
    scope = manifest["scope"]
    sizes = _array(archive, "subset_sizes", np.int64) if scope["kind"] == "filtered" else None
    return {
        "queries": Ids(_ids(archive, "query_ids", manifest["query_ids"]), what="query_ids"),
        "gallery": GalleryIds(_ids(archive, "gallery_ids", manifest["gallery_ids"])),
        "answers": answers,
        "metric": manifest["metric"],
        "gallery_fingerprint": manifest["gallery_fingerprint"],
        "queries_fingerprint": manifest["queries_fingerprint"],
        "scope": TruthScope(**scope, subset_sizes=sizes),
        "versions": manifest["versions"],
    }


def _check_names(names: Sequence[str], path: Path) -> None:
    """Refuse a member that comes twice, of which the last would win, and one that nobody reads."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    foreign = sorted(set(names) - _MEMBERS)
    problems = Problems(f"{path}: members of the archive")
    if twice:
        problems.add(
            f"{counted(len(twice), 'name', 'names')} more than once: {first_few(twice)}; a member is there once"
        )
    if foreign:
        problems.add(
            f"{counted(len(foreign), 'member', 'members')} that no truth of this version has: {first_few(foreign)}"
        )
    problems.raise_if_any(FileFormatError)


def _check_manifest(manifest: dict[str, Any], repeated: Sequence[str], path: Path) -> None:
    """Refuse what no writer wrote: the archive's checksums say only that it is as somebody left it."""
    problems = Problems(f"{path}: manifest.json")
    for line in repeated:
        problems.add(f"{line}; keep one of them")
    if manifest.get("metric") not in TRUTH_METRICS:
        problems.add(f"metric: got {manifest.get('metric')!r}; must be one of {', '.join(TRUTH_METRICS)}")
    for name in ("gallery_fingerprint", "queries_fingerprint"):
        if not isinstance(manifest.get(name), str):
            problems.add(f"{name}: got {manifest.get(name)!r}; a text is needed")
    versions = manifest.get("versions")
    if not isinstance(versions, dict) or not all(isinstance(one, str) for one in versions.values()):
        problems.add(f"versions: got {versions!r}; an object of texts is needed")
    for name in ("gallery_ids", "query_ids"):
        said = manifest.get(name)
        count = said.get("count") if isinstance(said, dict) else None
        if type(count) is not int or not 0 <= count < 2**63:
            problems.add(f"{name}.count: got {count!r}; a whole number of at least 0 is needed")
    problems.raise_if_any(FileFormatError)


def _check_distances(distances: AnyArray, metric: str, path: Path) -> None:
    """Refuse numbers that are no distances of this metric: another one's, or changed by hand."""
    least, most, words = _RANGES[metric]
    with np.errstate(invalid="ignore"):
        wrong = np.isfinite(distances) & ((distances < least) | (distances > most))
        if metric == "hamming":
            wrong |= np.isfinite(distances) & (distances != np.floor(distances))
    rows = np.flatnonzero(wrong.reshape(len(distances), -1).any(axis=1))
    if rows.size:
        raise FileFormatError(
            f"{path}: distances of {rows.size} queries are none by {metric}, which are {words}; first queries: "
            f"{first_few(rows.tolist())}; they are of another metric, or changed: build the truth again"
        )


def _array(archive: zipfile.ZipFile, name: str, kind: type[np.generic]) -> AnyArray:
    # Read to its end first, so that the archive's own checksum is compared.
    member = io.BytesIO(archive.read(f"{name}.npy"))
    array: AnyArray = np.lib.format.read_array(member, allow_pickle=False)
    if array.dtype != kind:
        raise ValueError(f"{name} has dtype {array.dtype}, expected {np.dtype(kind)}")
    return array


def _add_ids(arrays: dict[str, AnyArray], name: str, ids: GalleryIds) -> dict[str, Any]:
    held = ids.held
    if isinstance(held, range):
        return {"kind": "rows", "count": len(held)}
    if isinstance(held, np.ndarray):
        arrays[name] = held
        return {"kind": "int", "count": len(held)}
    encoded = [str(text).encode("utf-8", "surrogatepass") for text in held]
    arrays[name] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    arrays[f"{name}_offsets"] = offsets_of(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)))
    return {"kind": "str", "count": len(held)}


def _ids(archive: zipfile.ZipFile, name: str, said: dict[str, Any]) -> Any:
    if said["kind"] == "rows":
        return range(said["count"])
    if said["kind"] == "int":
        return _array(archive, name, np.int64)
    data = _array(archive, name, np.uint8).tobytes()
    offsets = _array(archive, f"{name}_offsets", np.int64).tolist()
    return [data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(offsets)]
