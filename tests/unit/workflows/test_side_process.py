"""The process beside the pages: it computes, refuses, fails and dies without taking anything along."""

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from visual_search.errors import InputError, VisualSearchError
from visual_search.evaluation.measures.parsing import parse_measure
from visual_search.formats.fingerprint import fingerprint_bytes, fingerprint_file
from visual_search.workflows.side_process import SideProcess, SideProcessError

_LONG = 60.0


@pytest.fixture
def beside() -> Iterator[SideProcess]:
    made = SideProcess()
    yield made
    made.close()


def test_it_is_another_process_and_gives_way_to_this_one(beside: SideProcess) -> None:
    assert beside.pid is None
    assert beside.call(os.getpid) == beside.pid != os.getpid()
    if hasattr(os, "getpriority"):
        assert beside.call(os.getpriority, which=os.PRIO_PROCESS, who=0) > os.getpriority(os.PRIO_PROCESS, 0)


def test_it_gives_what_the_function_returns(beside: SideProcess) -> None:
    text = json.dumps({"\u05e9": [1.5, None, "\ud800", "a\nb"]})
    assert beside.call(json.loads, s=text) == json.loads(text)


def test_what_the_function_prints_is_no_answer(beside: SideProcess) -> None:
    assert beside.call(print, end='["value", 3]\n') is None
    assert beside.call(json.loads, s="4") == 4


def test_what_this_package_refuses_is_refused_in_its_own_words(beside: SideProcess) -> None:
    with pytest.raises(VisualSearchError) as here:
        parse_measure("Recoll@5")
    with pytest.raises(InputError) as there:
        beside.call(parse_measure, text="Recoll@5")
    assert str(there.value) == str(here.value)


def test_other_failures_are_told_and_it_goes_on(beside: SideProcess) -> None:
    with pytest.raises(SideProcessError, match="JSONDecodeError"):
        beside.call(json.loads, s="{")
    with pytest.raises(SideProcessError, match="not JSON serializable"):
        beside.call(parse_measure, text="RR")
    assert beside.call(json.loads, s="4") == 4


def test_when_it_dies_the_caller_is_told_and_the_next_call_begins_another(beside: SideProcess) -> None:
    with pytest.raises(SideProcessError, match="status 3"):
        beside.call(os._exit, status=3)
    first = beside.call(os.getpid)
    assert isinstance(first, int)
    os.kill(first, signal.SIGKILL)
    with pytest.raises(SideProcessError, match="came to an end"):
        beside.call(os.getpid)
    assert beside.call(os.getpid) not in (first, os.getpid())


def test_an_interrupt_of_the_terminal_does_not_end_it(beside: SideProcess) -> None:
    process = beside.call(os.getpid)
    os.kill(process, signal.SIGINT)
    assert beside.call(os.getpid) == process


def test_without_another_process_it_is_done_here(beside: SideProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object, **__: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr(subprocess, "Popen", none_left)
    assert beside.call(os.getpid) == os.getpid()


def test_closed_or_forgotten_it_is_gone() -> None:
    closed, forgotten = SideProcess(), SideProcess()
    pids = [one.call(os.getpid) for one in (closed, forgotten)]
    closed.close()
    del forgotten
    gc.collect()
    assert [_is_there(pid) for pid in pids] == [False, False]
    assert closed.pid is None


def test_it_ends_with_what_began_it_whatever_that_dies_of() -> None:
    dying = (
        "import os, signal; from visual_search.workflows.side_process import SideProcess; one = SideProcess(); "
        "print(one.call(os.getpid), flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    told = subprocess.run([sys.executable, "-c", dying], capture_output=True, text=True, check=False)
    assert told.returncode == -signal.SIGKILL
    until = time.monotonic() + _LONG
    while _is_there(int(told.stdout)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not _is_there(int(told.stdout))


def test_it_rests_only_where_no_call_is_under_way(beside: SideProcess, tmp_path: Path) -> None:
    process = beside.call(os.getpid)
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(beside.call, fingerprint_file, path=str(tmp_path / "pipe"))
        with (tmp_path / "pipe").open("wb"):  # it is opened for reading, and has no end yet
            beside.rest()
            assert beside.pid == process
        assert reading.result(_LONG) == fingerprint_bytes(b"")
    beside.rest()
    assert beside.pid is None
    assert not _is_there(process)


def test_closed_a_call_under_way_fails(beside: SideProcess, tmp_path: Path) -> None:
    beside.call(os.getpid)
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(beside.call, fingerprint_file, path=str(tmp_path / "pipe"))
        with (tmp_path / "pipe").open("wb"):
            beside.close()
        with pytest.raises(SideProcessError, match="came to an end"):
            reading.result(_LONG)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
