"""SIGKILL inside a save: the folder holds the old index or the new one, whole."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from visual_search.errors import FileFormatError
from visual_search.indexing.index_table import VectorIndex

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills by signal")

# Saves into copies of a folder; each time the process is killed at another file operation, before it or after it.
# Writes by FAISS and of text count twice: once with half of the file written.
KILLED_SAVER = """
import os, shutil, signal, sys
from pathlib import Path
import numpy as np
from visual_search.indexing.engines import faiss_files
from visual_search.indexing.index_table import VectorIndex

before, copies = Path(sys.argv[1]), Path(sys.argv[2])


class Countdown:
    def __init__(self, at):
        self.left = at

    def tick(self):
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1


def counted(countdown, plain):
    def call(*args, **options):
        countdown.tick()
        result = plain(*args, **options)
        countdown.tick()
        return result

    return call


def halved(countdown, plain, path_of):
    def call(*args, **options):
        countdown.tick()
        result = plain(*args, **options)
        path = Path(path_of(args))
        if countdown.left == 0:
            os.truncate(path, path.stat().st_size // 2)
        countdown.tick()
        return result

    return call


def save_and_die(folder, at):
    index = VectorIndex.open(folder) if before.exists() else VectorIndex(4)
    index.add(["new"], np.ones((1, 4)))
    countdown = Countdown(at)
    for name in ("fsync", "replace", "unlink", "mkdir"):
        setattr(os, name, counted(countdown, getattr(os, name)))
    faiss_files.write_faiss = halved(countdown, faiss_files.write_faiss, lambda args: args[1])
    Path.write_text = halved(countdown, Path.write_text, lambda args: args[0])
    index.save(folder)


at = 0
while True:
    folder = copies / f"{at:03d}"
    if before.exists():
        shutil.copytree(before, folder)
    pid = os.fork()
    if pid == 0:
        save_and_die(folder, at)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0, "the save itself failed"
        break
    at += 1
print(at)
"""


def killed_copies(before: Path, copies: Path) -> list[Path]:
    copies.mkdir()
    ran = subprocess.run(
        [sys.executable, "-c", KILLED_SAVER, str(before), str(copies)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return [copies / f"{at:03d}" for at in range(int(ran.stdout))]


def small_index() -> VectorIndex:
    index = VectorIndex(4)
    index.add(["old", "older"], np.eye(4)[:2])
    return index


def test_killed_at_every_file_operation_of_a_save(tmp_path: Path) -> None:
    old = small_index()
    old.save(tmp_path / "before")
    new = small_index()
    new.add(["new"], np.ones((1, 4)))
    folders = killed_copies(tmp_path / "before", tmp_path / "copies")
    assert len(folders) >= 20
    found = []
    for folder in folders:
        index = VectorIndex.open(folder)
        found.append(index.fingerprint())
        assert index.fingerprint() in {old.fingerprint(), new.fingerprint()}
        # And whoever comes next can save, which clears away what the killed one left.
        index.save(folder)
        assert VectorIndex.open(folder).fingerprint() == index.fingerprint()
        assert len([path for path in folder.iterdir() if path.name != ".lock"]) == 3
    assert found[0] == old.fingerprint()
    assert found[-1] == new.fingerprint()
    changed = found.index(new.fingerprint())
    assert set(found[changed:]) == {new.fingerprint()}, "once the new one is there it stays"


def test_killed_in_the_first_save_there_is_no_index_or_a_whole_one(tmp_path: Path) -> None:
    whole = 0
    for folder in killed_copies(tmp_path / "absent", tmp_path / "copies"):
        if (folder / "manifest.json").exists():
            assert list(VectorIndex.open(folder).ids) == ["new"]
            whole += 1
        else:
            with pytest.raises(FileFormatError, match=r"without manifest\.json|no index folder there"):
                VectorIndex.open(folder)
        small_index().save(folder)
        assert list(VectorIndex.open(folder).ids) == ["old", "older"]
    assert whole > 0


ENDLESS_SAVER = """
import sys
import numpy as np
from visual_search.indexing.index_table import VectorIndex

index = VectorIndex.open(sys.argv[1])
vectors = np.random.default_rng(0).normal(size=(100_000, 4))
print("saving", flush=True)
for start in range(0, len(vectors), 20):
    index.add(range(start, start + 20), vectors[start : start + 20])
    index.save(sys.argv[1])
"""


def test_killed_at_any_moment_of_many_saves(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(100_000, 4))
    start = VectorIndex(4)
    start.save(tmp_path / "start")
    for delay in (0.01, 0.05, 0.11, 0.17, 0.29):
        folder = tmp_path / f"index-{delay}"
        shutil.copytree(tmp_path / "start", folder)
        saver = subprocess.Popen([sys.executable, "-c", ENDLESS_SAVER, str(folder)], stdout=subprocess.PIPE)
        assert saver.stdout is not None
        assert saver.stdout.readline() == b"saving\n"
        time.sleep(delay)
        saver.send_signal(signal.SIGKILL)
        saver.wait()
        saver.stdout.close()
        index = VectorIndex.open(folder)
        expected = VectorIndex(4)
        expected.add(range(len(index)), vectors[: len(index)])
        assert len(index) % 20 == 0
        assert index.fingerprint() == expected.fingerprint()
