"""A process of its own, of low priority, for what would keep the pages waiting if one process did both.

Threads of one Python process take turns: minutes of resampling in one of them slow every page down. What is computed
here takes only the time that the pages leave.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import traceback
import weakref
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import IO, Any

from visual_search.errors import InputError, VisualSearchError

__all__ = ["SideProcess", "SideProcessError", "serve_calls"]

_LEAST_PRIORITY = 19
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class SideProcessError(RuntimeError):
    """The process came to an end, or what it was to do failed in a way nobody foresaw."""


class SideProcess:
    """Calls functions elsewhere, one at a time; safe to use from several threads.

    The process begins with the first call. It ends by :meth:`close`, with this object, or with this process, whatever
    that dies of.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._end: Callable[[], object] = lambda: None

    def call(self, function: Callable[..., Any], **given: Any) -> Any:
        """What a function returns.

        Parameters
        ----------
        function : callable
            Of a module, by a name of its own there.
        **given : JSON values
            Its keyword arguments.

        Returns
        -------
        JSON value

        Raises
        ------
        InputError
            The function refused with an error of this package; the message is its own.
        SideProcessError
            It failed otherwise, or the process was ended from outside; the next call begins another.
        """
        line = json.dumps([function.__module__, function.__qualname__, given])
        with self._lock:
            if self._process is None:
                try:
                    self._begin()
                except OSError:  # no more processes to be had: done here, if slower for all
                    return function(**given)
            answer = self._asked(line)
        kind, value = answer
        if kind == "refused":
            raise InputError(value)
        if kind == "failed":
            raise SideProcessError(f"{function.__qualname__} failed in the process beside the pages:\n{value}")
        return value

    def close(self) -> None:
        """End the process, where there is one; a call under way fails. The next call begins another."""
        process = self._process
        if process is not None:
            process.kill()
        with self._lock:
            self._over()

    def rest(self) -> None:
        """End the process where no call is under way, so that it takes no memory."""
        if self._lock.acquire(blocking=False):
            try:
                self._over()
            finally:
                self._lock.release()

    @property
    def pid(self) -> int | None:
        """Of the process; None where there is none."""
        process = self._process
        return None if process is None else process.pid

    def _asked(self, line: str) -> tuple[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            told = process.stdout.readline()
        except (OSError, ValueError):
            told = ""
        if not told.endswith("\n"):
            self._over()
            raise SideProcessError(f"the process beside the pages came to an end (status {process.returncode})")
        kind, value = json.loads(told)
        return kind, value

    def _begin(self) -> None:
        begun = "import sys; sys.path[:] = {!r}; from {} import serve_calls; serve_calls()"
        self._process = subprocess.Popen(  # noqa: S603 - this program, by its own path
            [sys.executable, "-c", begun.format(sys.path, __name__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=os.environ | _ONE_THREAD,
            creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0),
        )
        self._end = weakref.finalize(self, _ended, self._process)

    def _over(self) -> None:
        self._end()
        self._process = None


def _ended(process: subprocess.Popen[str]) -> None:
    process.kill()  # it holds nothing
    process.wait()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            if stream is not None:
                stream.close()


def serve_calls() -> None:
    """Be the process: a line of JSON for each call comes in, a line with its answer goes out, until no more come."""
    if hasattr(os, "nice"):
        os.nice(_LEAST_PRIORITY)
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # a terminal interrupts all it started; the first process ends this
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    with suppress(BrokenPipeError):
        _answer_all(sys.stdin, answers)
    os._exit(0)  # an answer that nobody takes is not tried again when the stream is closed


def _answer_all(calls: IO[str], answers: IO[str]) -> None:
    for line in calls:
        module, name, given = json.loads(line)
        try:
            answer = ["value", getattr(import_module(module), name)(**given)]
            text = json.dumps(answer)
        except VisualSearchError as problem:
            text = json.dumps(["refused", str(problem)])
        except Exception:  # noqa: BLE001 - told to the caller, whatever it is
            text = json.dumps(["failed", traceback.format_exc()])
        answers.write(text + "\n")
        answers.flush()
