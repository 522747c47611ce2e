"""Hash codes beside a PyTorch loop of the usual form, in one process: ratio, memory, and the limit.

Ours takes float codes of -1 and 1 and multi-hot labels as the loop does, packs them (timed), and gives four measures
with the exact expectation over ties: AP, AP@1000, Precision@100 and nDCG(gain=binary)@1000. The loop gives one average
precision, of the order its sort leaves, on the number of threads that is faster for it here. It may be timed on a share
of the queries and scaled, which the line says. Printed are medians, the ratio, the peak memory of ours in a process of
its own (arrays included), and beside it the limit: reading the codes and labels of the whole gallery once a query.

    python benchmarks/codes.py [--sizes flickr large] [--runs 5] [--share 0.04] [--plain]

``--plain`` switches the compiled kernels off, as ``VISUAL_SEARCH_KERNELS=plain`` does.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from visual_search import SharedLabels, evaluate_codes
from visual_search.evaluation.code_conventions import code_band
from visual_search.evaluation.provenance import machine, versions
from visual_search.kernels.dispatch import active
from visual_search.kernels.threads import thread_count

if TYPE_CHECKING:
    import torch

MEASURES = ("AP", "AP@1000", "Precision@100", "nDCG(gain=binary)@1000")
FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Size:
    """Queries, gallery, bits, labels, and the share of the queries that the loop is timed on by default."""

    queries: int
    gallery: int
    bits: int
    labels: int
    share: float


SIZES = {
    "tiny": Size(50, 500, 64, 24, 1.0),
    "flickr": Size(2_000, 18_015, 64, 24, 1.0),
    "large": Size(5_000, 200_000, 64, 21, 0.04),
}


def made(size: Size) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Codes that lean towards their labels, and multi-hot labels, all float32 as a training script has them."""
    random = np.random.default_rng(0)
    leaning = random.standard_normal((size.labels, size.bits), dtype=np.float32)

    def side(count: int) -> tuple[FloatArray, FloatArray]:
        labels = (random.random((count, size.labels), dtype=np.float32) < 3 / size.labels).astype(np.float32)
        noise = random.standard_normal((count, size.bits), dtype=np.float32)
        return np.where(labels @ leaning + 3 * noise > 0, 1, -1).astype(np.float32), labels

    (queries, mine), (gallery, theirs) = side(size.queries), side(size.gallery)
    return queries, gallery, mine, theirs


def loop(queries: torch.Tensor, gallery: torch.Tensor, mine: torch.Tensor, theirs: torch.Tensor) -> float:
    """The usual loop: for each query label product, code product, sort, mean of j over the rank of the j-th hit."""
    import torch

    total = 0.0
    for code, label in zip(queries, mine, strict=True):
        relevant = (theirs @ label > 0).float()
        count = int(relevant.sum())
        if not count:
            continue
        distance = (gallery.shape[1] - gallery @ code) / 2
        ranks = torch.nonzero(relevant[torch.sort(distance).indices]).flatten() + 1
        total += float((torch.arange(1, count + 1) / ranks).mean())
    return total / len(queries)


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def seconds_to_read(count: float) -> float:
    """How long this machine takes to look at so many bytes that are in its caches, on all threads."""
    block = np.zeros(1 << 18, dtype=np.uint64)  # 2 MiB, as one gallery's codes
    times = 64

    def read(_: int) -> None:
        for _ in range(times):
            np.bitwise_or.reduce(block)

    with ThreadPoolExecutor(thread_count()) as pool:
        fastest = min(seconds(lambda: list(pool.map(read, range(thread_count())))) for _ in range(3))
    return fastest * count / (block.nbytes * times * thread_count())


def faster_threads(tensors: tuple[torch.Tensor, ...]) -> int:
    """Set PyTorch to the number of threads with which the loop is faster, one or all, and tell it."""
    import torch

    queries, gallery, mine, theirs = tensors
    taken: dict[int, float] = {}
    for threads in (1, thread_count()):
        torch.set_num_threads(threads)
        taken[threads] = min(seconds(lambda: loop(queries[:20], gallery, mine[:20], theirs)) for _ in range(3))
    fastest = min(taken, key=lambda threads: taken[threads])
    torch.set_num_threads(fastest)
    return fastest


def ours(data: tuple[FloatArray, FloatArray, FloatArray, FloatArray]) -> Any:
    """Everything from the arrays to the numbers."""
    queries, gallery, mine, theirs = data
    return evaluate_codes(queries, gallery, SharedLabels.of(mine, theirs), MEASURES)


def compared(name: str, size: Size, options: argparse.Namespace) -> None:
    """Print one size."""
    import torch

    data = made(size)
    share = size.share if options.share is None else options.share
    some = max(round(size.queries * share), 1)
    tensors = [torch.from_numpy(array) for array in data]
    few = tensors[0][:some], tensors[1], tensors[2][:some], tensors[3]
    ours(data)  # tables and threads once
    threads = faster_threads(few)
    mine, theirs = [], []
    for _ in range(options.runs):
        mine.append(seconds(lambda: ours(data)))
        theirs.append(seconds(lambda: loop(*few)) * size.queries / some)
    fast, slow = statistics.median(mine), statistics.median(theirs)
    bytes_read = size.queries * size.gallery * (-(-size.bits // 64) * 8 + -(-size.labels // 64) * 8)
    scaled = "" if some == size.queries else f" (timed on {some} of them and scaled)"
    print(
        f"{name}: {size.queries} queries{scaled} x {size.gallery} codes of {size.bits} bits, {size.labels} labels"
    )
    print(f"  ours {fast:.4f} s   PyTorch loop {slow:.3f} s ({threads} threads)   ratio {slow / fast:.1f}")
    print(f"  limit: reading {bytes_read / 1e9:.2f} GB of codes and labels {seconds_to_read(bytes_read):.4f} s")
    print(f"  peak memory of ours, arrays included: {peak(name):.0f} MB", flush=True)
    queries, gallery, ours_labels, their_labels = data
    band = code_band(queries[:some], gallery, SharedLabels.of(ours_labels[:some], their_labels), ["AP(empty=zero)"])
    print(f"  the loop prints {loop(*few):.4f} for these queries; over all orders of ties:")
    print("  " + repr(band).replace("\n", "\n  "), flush=True)


def high_water() -> float:
    """Megabytes this process has held at most; ``getrusage`` has on Linux what its parent held, too."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024


def peak(name: str) -> float:
    """Megabytes that a process of its own needed for ours."""
    command = [sys.executable, __file__, "--memory-of", name]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Compare at each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=["flickr", "large"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--share", type=float, help="share of the queries that the loop is timed on")
    parser.add_argument("--plain", action="store_true", help="without the compiled kernels")
    parser.add_argument("--memory-of", choices=list(SIZES), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.plain:
        os.environ["VISUAL_SEARCH_KERNELS"] = "plain"
    if options.memory_of:
        ours(made(SIZES[options.memory_of]))
        print(high_water())
        return
    import torch

    torch.set_num_threads(thread_count())
    print(
        f"kernels {active().name}, {thread_count()} threads, torch {torch.__version__}, {machine()}, {versions()}"
    )
    for name in options.sizes:
        compared(name, SIZES[name], options)


if __name__ == "__main__":
    main()
