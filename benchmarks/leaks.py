"""Time and memory of looking for leaks among generated pictures, step by step.

Run as ``python benchmarks/leaks.py``: 100,000 pictures, half of them queries and half gallery. Writes seeded JPEGs in a
temporary folder (some 5 kB each, so 500 MB), every hundredth gallery picture a scaled and compressed copy of a query.
Steps, each with its seconds and the process's peak memory so far:

- sign: decode every file, digest, hashes, small copies, with the journal that makes the run resumable;
- resume: the same once more, everything taken from the journal;
- compare: distinct pictures, candidates by hash, checks, chains, the report;
- mirrored: the same with mirror images;
- embeddings: cosines of random vectors of 256 dimensions besides (``--dimension 0`` leaves it out).

The share of planted copies that was found is printed as well, and pairs beyond those.
"""

from __future__ import annotations

import argparse
import io
import json
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from PIL import Image

from visual_search.ids import Ids
from visual_search.images.image_source import ImageSource
from visual_search.indexing.embedders.cores import available_cores
from visual_search.leaks.finding import find_leaks
from visual_search.leaks.leak_report import LeakReport
from visual_search.leaks.roles import Role
from visual_search.leaks.signing import sign_pictures
from visual_search.leaks.thresholds import LeakThresholds
from visual_search.testing.textures import texture

_T = TypeVar("_T")
_EVERY = 100


def peak_megabytes() -> float:
    """Most memory that this process has had at once, in MB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e6 if sys.platform == "darwin" else 1e3)


def write_pictures(folder: Path, count: int, width: int) -> tuple[list[ImageSource], set[tuple[str, str]]]:
    """Write queries and gallery; the planted pairs beside the sources."""
    half = count // 2
    sources, planted = [], set()
    for number in range(count):
        name = f"{'q' if number < half else 'g'}{number:07}.jpg"
        place = folder / f"{number // 1000:04}"
        place.mkdir(exist_ok=True)
        copied = number >= half and number % _EVERY == 0
        picture = texture(number - half if copied else number, (width, width * 3 // 4))
        if copied:
            picture = picture.resize((width * 2 // 3, width // 2), Image.Resampling.LANCZOS)
            planted.add((f"q{number - half:07}.jpg", name))
        stream = io.BytesIO()
        picture.save(stream, "JPEG", quality=60 if copied else 85)
        (place / name).write_bytes(stream.getvalue())
        sources.append(ImageSource(name, place / name))
    return sources, planted


def measured(name: str, work: Callable[[], _T], into: dict[str, Any]) -> _T:
    """Do a step and note its time and the memory so far."""
    begun = time.perf_counter()
    made = work()
    seconds = time.perf_counter() - begun
    into[name] = {"seconds": round(seconds, 2), "peak_mb": round(peak_megabytes())}
    print(f"{name:<11} {seconds:9.2f} s   peak {peak_megabytes():7.0f} MB")
    return made


def quality(report: LeakReport, planted: set[tuple[str, str]]) -> dict[str, int]:
    """Planted pairs found, and pairs beside them."""
    found = {(str(pair.first.id), str(pair.second.id)) for pair in report.pairs}
    return {"planted": len(planted), "found": len(found & planted), "others": len(found - planted)}


def main() -> None:
    """Write pictures, time every step, print a table and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="pictures in all")
    parser.add_argument("--width", type=int, default=256, help="of a picture, in pixels; its height is 3/4 of it")
    parser.add_argument("--dimension", type=int, default=256, help="of the embeddings; 0 for none")
    arguments = parser.parse_args()
    steps: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        sources, planted = measured("write", lambda: write_pictures(place, arguments.count, arguments.width), steps)
        journal = place / "leaks.unfinished"
        signed = measured("sign", lambda: sign_pictures(sources, journal=journal), steps)
        again = measured("resume", lambda: sign_pictures(sources, journal=journal), steps)
        assert again.resumed == len(sources)
        del again
    names = [entry.id for entry in signed.ledger.used]
    half = sum(name.startswith("q") for name in names)
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((len(names), max(arguments.dimension, 1)), dtype=np.float32)
    roles = [
        Role("query", Ids(names[:half]), signed.signatures[:half], vectors=vectors[:half]),
        Role("gallery", Ids(names[half:]), signed.signatures[half:], vectors=vectors[half:]),
    ]
    report = measured("compare", lambda: find_leaks(roles), steps)
    measured("mirrored", lambda: find_leaks(roles, mirrored=True), steps)
    if arguments.dimension:
        rule = LeakThresholds(cosine=0.95)
        measured("embeddings", lambda: find_leaks(roles, thresholds=rule), steps)
    told = quality(report, planted)
    print(f"planted {told['planted']:,}, found {told['found']:,}, other pairs {told['others']:,}")
    machine = {
        "machine": platform.machine(),
        "cores": available_cores(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "faiss-cpu", "pillow")},
    }
    print(json.dumps({"count": arguments.count, "width": arguments.width, "steps": steps, **told, **machine}))


if __name__ == "__main__":
    main()
