"""Indexes pictures in children that are killed with SIGKILL, and prints what was left; run by the test beside it.

Arguments: folder of pictures, folder to work in, number of moments spread over the run. The moments inside the save
come after them.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from visual_search.indexing.embedders.pixels import PixelEmbedder
from visual_search.indexing.index_folder import IndexFolder
from visual_search.indexing.index_table import VectorIndex
from visual_search.workflows.index_images import index_images

BATCH = 4
PAUSE = 0.03
# Of saving: after the vectors, the ids and the ledger were stored, before the manifest is published, and after it.
STEPS = (1, 3, 5, 6, 7)


class SlowPixels(PixelEmbedder):
    """Takes its time, and notes in a file how many it embedded, before it hands them over."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self.log = log

    def embed(self, batch: np.ndarray) -> np.ndarray:
        time.sleep(PAUSE)
        with self.log.open("a") as stream:
            stream.write("x" * len(batch))
        return super().embed(batch)


def run_child(work: Callable[[], object], *, kill_after: float | None) -> bool:
    """Run in a child; whether it was killed."""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def die_at_step(step: int) -> None:
    """Kill this process at the given step of saving: each companion's storing, the publishing, before and after."""
    count = 0

    def counted(method: Callable[..., object]) -> Callable[..., object]:
        def wrapper(*arguments: object) -> object:
            nonlocal count
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1
            value = method(*arguments)
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1
            return value

        return wrapper

    for name in ("store", "publish"):
        setattr(IndexFolder, name, counted(getattr(IndexFolder, name)))


def timed(pictures: Path, work: Path, attempt: int) -> float:
    """Seconds of a run that nobody kills."""
    begun = time.monotonic()
    slow = SlowPixels(work / "log")
    run_child(
        lambda: index_images(pictures, work / f"timed{attempt}", embedder=slow, batch_size=BATCH), kill_after=None
    )
    return time.monotonic() - begun


def main(pictures: Path, work: Path, moments: int) -> None:
    old = index_images(sorted(pictures.glob("*/*.png"))[:5], work / "old", embedder="pixels").index.fingerprint()
    new = index_images(pictures, work / "new", embedder="pixels").index.fingerprint()
    whole_run = min(timed(pictures, work, attempt) for attempt in range(3))
    outcomes = []
    for number in range(moments + len(STEPS)):
        place = work / f"run{number}"
        log = place.with_suffix(".log")
        log.touch()
        index_images(sorted(pictures.glob("*/*.png"))[:5], place, embedder="pixels")

        def child(place: Path = place, log: Path = log, number: int = number) -> None:
            if number >= moments:
                die_at_step(STEPS[number - moments])
            index_images(pictures, place, embedder=SlowPixels(log), batch_size=BATCH)

        moment = whole_run * (number + 1) / (moments + 1) if number < moments else None
        killed = run_child(child, kill_after=moment)
        found = VectorIndex.open(place).fingerprint()
        before = len(log.read_text())
        restarted = index_images(pictures, place, embedder=SlowPixels(log), batch_size=BATCH)
        outcomes.append(
            {
                "killed": killed,
                "found": {old: "old", new: "new"}.get(found, "other"),
                "embedded_before": before,
                "embedded_in_all": len(log.read_text()),
                "resumed": restarted.resumed,
                "right": restarted.index.fingerprint() == new == VectorIndex.open(place).fingerprint(),
            }
        )
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
