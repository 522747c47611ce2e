"""Time of indexing against bare Pillow decoding plus bare ONNX Runtime inference of the same files.

Run as ``python benchmarks/indexing.py``. Makes textured photographs (JPEG, seeded) of several sizes in a temporary
folder. For each size, all in one run and in turns:

- decode: Pillow opens and loads each file, one thread;
- infer: the same network on the images prepared beforehand, batches of the same size, one thread, nothing else;
- index: ``embed_sources`` with the shipped network, from the files to the vectors, with the defaults;
- every pixel: the same with JPEGs decoded whole (``decode_size`` None), to see what that choice brings.

CPU is processor seconds of index over those of decode + infer (aim: at most 1.15). Wall is its wall time over half
of that sum (aim on 2 cores: at most 1.2). The least of several repetitions of each counts, since other work on the
machine only ever adds. One process, one core or two: set the affinity to compare.
"""

from __future__ import annotations

import argparse
import io
import json
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from visual_search.images.image_source import ImageSource
from visual_search.indexing.embedders.cores import available_cores
from visual_search.indexing.embedders.efficientnet_lite0 import EfficientNetLite0Embedder
from visual_search.indexing.embedding import embed_sources

SIZES = ("1200x900", "1600x1200", "2048x1536", "4000x3000")


class EveryPixel(EfficientNetLite0Embedder):
    """The shipped network fed with whole JPEGs."""

    decode_size = None  # type: ignore[assignment] # the class says a size


def photograph(rng: np.random.Generator, width: int, height: int) -> bytes:
    """A JPEG with soft shapes, texture and noise, about as many bytes a pixel as a camera's."""
    shapes = Image.fromarray(rng.integers(0, 256, (height // 60, width // 60, 3), dtype=np.uint8))
    texture = Image.fromarray(rng.integers(0, 256, (height // 8, width // 8, 3), dtype=np.uint8))
    size = (width, height)
    soft = np.asarray(shapes.resize(size, Image.Resampling.BICUBIC), dtype=np.float32)
    fine = np.asarray(texture.resize(size, Image.Resampling.BICUBIC), dtype=np.float32)
    noise = rng.normal(0, 5, (height, width, 1)).astype(np.float32)
    pixels = np.clip(0.75 * soft + 0.25 * fine + noise, 0, 255).astype(np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=88)
    return stream.getvalue()


def write_photographs(folder: Path, count: int, width: int, height: int) -> list[ImageSource]:
    """Write seeded photographs and list them."""
    rng = np.random.default_rng(width)
    sources = []
    for number in range(count):
        path = folder / f"{number:04}.jpg"
        path.write_bytes(photograph(rng, width, height))
        sources.append(ImageSource(path.name, path))
    return sources


def decode_bare(sources: Sequence[ImageSource]) -> None:
    """What Pillow needs for the pixels alone."""
    for source in sources:
        with Image.open(source.path) as image:
            image.load()


def bare_inference(sources: Sequence[ImageSource]) -> Callable[[], None]:
    """What ONNX Runtime needs for the vectors alone: images prepared now, inference when called."""
    single = EfficientNetLite0Embedder(threads=1)
    prepared = np.stack([single.prepare(Image.open(source.path)) for source in sources])
    session: Any = single._session  # noqa: SLF001 - the bare session is the point

    def infer() -> None:
        for start in range(0, len(prepared), single.batch_size):
            session.run(["embedding"], {"image": prepared[start : start + single.batch_size]})

    return infer


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Processor and wall seconds of one call."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def index(sources: Sequence[ImageSource], embedder: EfficientNetLite0Embedder) -> int:
    """From files to vectors; how many there are."""
    return sum(len(batch.ids) for batch in embed_sources(sources, embedder))


def measure(sources: Sequence[ImageSource], repetitions: int) -> dict[str, float]:
    """Least seconds of each kind of work, in turns, and the ratios."""
    shipped, every_pixel = EfficientNetLite0Embedder(), EveryPixel()
    works: dict[str, Callable[[], object]] = {
        "decode": lambda: decode_bare(sources),
        "infer": bare_inference(sources),
        "index": lambda: index(sources, shipped),
        "every pixel": lambda: index(sources, every_pixel),
    }
    least = {name: (float("inf"), float("inf")) for name in works}
    for _ in range(repetitions):
        for name, work in works.items():
            cpu, wall = seconds(work)
            least[name] = (min(least[name][0], cpu), min(least[name][1], wall))
    bare = least["decode"][0] + least["infer"][0]
    each = 1000 / len(sources)
    return {
        "decode_ms": least["decode"][0] * each,
        "infer_ms": least["infer"][0] * each,
        "decode_share": least["decode"][0] / bare,
        "index_ms": least["index"][0] * each,
        "cpu_ratio": least["index"][0] / bare,
        "wall_ratio": least["index"][1] / (bare / 2),
        "cpu_ratio_every_pixel": least["every pixel"][0] / bare,
        "wall_ratio_every_pixel": least["every pixel"][1] / (bare / 2),
        "images_per_second": len(sources) / least["index"][1],
    }


def main() -> None:
    """Print machine, versions and one line a size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=64, help="photographs of each size (default: 64)")
    parser.add_argument("--repetitions", type=int, default=5, help="turns, of which the least counts (default: 5)")
    parser.add_argument("--sizes", nargs="+", default=SIZES, help=f"as WIDTHxHEIGHT (default: {' '.join(SIZES)})")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    arguments = parser.parse_args()
    versions = {name: version(name) for name in ("visual-search", "numpy", "pillow", "onnxruntime")}
    machine = {"machine": platform.machine(), "cores": available_cores(), "python": platform.python_version()}
    rows = {}
    for size in arguments.sizes:
        width, height = map(int, size.split("x"))
        with tempfile.TemporaryDirectory() as folder:
            sources = write_photographs(Path(folder), arguments.images, width, height)
            rows[size] = measure(sources, arguments.repetitions)
    if arguments.json:
        print(json.dumps({**machine, **versions, "sizes": rows}, indent=2))
        return
    print(", ".join(f"{name} {value}" for name, value in {**machine, **versions}.items()))
    print("size        decode  infer  share  index    CPU   wall  every pixel: CPU  wall  images/s")
    for size, row in rows.items():
        print(
            f"{size:<10} {row['decode_ms']:>5.1f}ms {row['infer_ms']:>4.1f}ms {row['decode_share']:>6.2f} "
            f"{row['index_ms']:>4.1f}ms {row['cpu_ratio']:>6.2f} {row['wall_ratio']:>6.2f} "
            f"{row['cpu_ratio_every_pixel']:>17.2f} {row['wall_ratio_every_pixel']:>5.2f} "
            f"{row['images_per_second']:>9.1f}"
        )


if __name__ == "__main__":
    main()
