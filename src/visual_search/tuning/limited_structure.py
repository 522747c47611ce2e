"""A structure in a process of its own, which is ended when it takes longer than it may.

A library that hangs inside its own code lets no signal handler and no other thread of its process end it: only the
process as a whole can be ended, from outside. So it gets one.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search import errors
from visual_search.errors import InputError, VisualSearchError
from visual_search.indexing.engines.postgres import lend_server, server_url
from visual_search.tuning.engine_text import EngineText
from visual_search.tuning.raw_messages import receive, send
from visual_search.tuning.structure import Measured, StructureHere, StructureJob

__all__ = ["LimitedStructure", "OutOfTimeError", "check_time_limit", "serve_structure"]

Vectors: TypeAlias = npt.NDArray[np.float32]

_MOST = 10_000_000  # seconds, 115 days
_TO_START = 120.0  # seconds for Python, the libraries and the vectors, which no setting is to blame for
_TO_END = 5.0


class OutOfTimeError(Exception):
    """The build or a search took longer than it may; its process is ended, and the structure is gone."""


def check_time_limit(seconds: Any) -> float:
    """The time limit as a plain number.

    Raises
    ------
    InputError
        Not a number above 0 and at most 10,000,000.
    """
    number = isinstance(seconds, int | float | np.integer | np.floating) and not isinstance(seconds, bool)
    if not (number and 0 < seconds <= _MOST):
        raise InputError(
            f"time_limit: got {seconds!r}; must be seconds, above 0 and at most {_MOST:,}, or left out for no limit"
        )
    return float(seconds)


class LimitedStructure:
    """A structure in a process of its own.

    The process ends with the block, and with this process, whatever that dies of. What it left elsewhere when it was
    ended for the time it took (a table in a database server, temporary files) stays there.

    Parameters
    ----------
    job : StructureJob
    gallery, queries : float32 arrays
        Copied into that process.
    seconds : float
        For the build, and for everything that is measured under one setting.

    Raises
    ------
    OutOfTimeError
        It took longer.
    InputError
        What a library raised, or that its process came to an end.
    """

    def __init__(self, job: StructureJob, gallery: Vectors, queries: Vectors, seconds: float) -> None:
        self._job, self._gallery, self._queries, self._seconds = job, gallery, queries, seconds

    def __enter__(self) -> Self:
        lent = server_url("") if self._job.engine == "pgvector" and not self._job.build.get("url") else None
        begin = "import sys; sys.path[:] = {!r}; from {} import serve_structure; serve_structure()"
        self._process = subprocess.Popen(  # noqa: S603 - this program, by its own path
            [sys.executable, "-c", begin.format(sys.path, __name__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if sys.__stderr__ is None else None,  # None here too where it was closed
            start_new_session=True,  # a terminal's interrupt comes to this process alone, which ends that one
        )
        try:
            job = {**self._job.as_json(), "own_process": True}
            self._asked(
                {"job": job, "seconds": self._seconds, "lent": lent},
                self._gallery,
                self._queries,
                seconds=max(_TO_START, self._seconds),
            )
            self._asked({"build": True})
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        if not any(raised):  # it may let go of what it holds elsewhere
            with suppress(OSError):
                self._stream("stdin").close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_TO_END)
        self._end()

    def measured(self, search: Mapping[str, Any]) -> Measured:
        """Search, and search again for the times."""
        told, (rows, scores) = self._asked({"search": dict(search)}, search=search)
        return Measured(rows, scores, told)

    def _asked(
        self, words: Any, *arrays: Any, seconds: float | None = None, search: Mapping[str, Any] | None = None
    ) -> tuple[Any, list[Any]]:
        late = threading.Event()
        allowed = self._seconds if seconds is None else seconds
        timer = threading.Timer(allowed, self._kill_late, [late])
        timer.daemon = True
        timer.start()
        ended: Exception | None = None
        try:
            send(self._stream("stdin"), words, *arrays)
            (kind, told), answer = receive(self._stream("stdout"))
        except (OSError, EOFError) as error:
            ended = error
        finally:
            timer.cancel()
        timer.join()  # it may be at work, just when the answer came
        if late.is_set() or ended is not None:
            if not late.is_set():
                self._await_end()
            self._end()
            if late.is_set() and seconds is None:
                raise OutOfTimeError from ended
            raise InputError(self._ended_words(search or {}, started=seconds is None)) from ended
        if kind == "failed":
            raise _error_of(*told)
        return told, answer

    def _ended_words(self, search: Mapping[str, Any], *, started: bool) -> str:
        setting = EngineText(self._job.engine, {**self._job.build, **search})
        if not started:
            return f"engine: the process for {setting} did not begin (status {self._process.returncode}); run again"
        return (
            f"engine: {setting} ended its process (status {self._process.returncode}; a negative one is the signal "
            "that ended it, -9 where memory ran out); the points before it are kept: leave it out, or mend it, and run "
            "again"
        )

    def _stream(self, name: str) -> IO[bytes]:
        stream: IO[bytes] = getattr(self._process, name)
        return stream

    def _await_end(self) -> None:
        """Let a process that closed its side end by itself, so that its own status is told; it is not reaped."""
        if hasattr(os, "waitid"):
            until = time.monotonic() + _TO_END
            how = os.WEXITED | os.WNOHANG | os.WNOWAIT
            while os.waitid(os.P_PID, self._process.pid, how) is None and time.monotonic() < until:
                time.sleep(0.01)

    def _kill_late(self, late: threading.Event) -> None:
        late.set()
        self._kill()

    def _kill(self) -> None:
        """End the process and what it started; it is not waited for, so that its number is not another's yet."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _end(self) -> None:
        if self._process.returncode is None:
            self._kill()
            self._process.wait()
        for name in ("stdin", "stdout"):
            with suppress(OSError):
                self._stream(name).close()


def _error_of(kind: str, told: list[Any]) -> Exception:
    """What was raised there, as far as it is an error of this package or of the system."""
    if kind == "OSError":
        return OSError(*told)
    found = getattr(errors, kind, None)
    known = isinstance(found, type) and issubclass(found, VisualSearchError)
    return (found if known else InputError)(told[0])  # type: ignore[misc] # a class where it is known


def serve_structure() -> None:
    """Be the process: vectors come in once, then what to do with them, until no more comes."""
    requests = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    if hasattr(os, "register_at_fork"):  # what a library begins may outlive this process, whose end is waited for
        os.register_at_fork(after_in_child=answers.close)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    first, (gallery, queries) = receive(requests)
    job = StructureJob.from_json(first["job"])
    if first["lent"] is not None:
        lend_server(first["lent"])
    asked: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, asked), daemon=True).start()
    send(answers, ("ready", None))
    structure = StructureHere(job, gallery, queries)
    while (request := asked.get()) is not None:
        _alarm(first["seconds"] + _TO_END)
        answer = _answer(structure, request)
        try:
            send(answers, *answer)
        except BrokenPipeError:
            os._exit(0)  # nobody is left to tell
        _alarm(0)


def _answer(structure: StructureHere, request: Mapping[str, Any]) -> tuple[Any, ...]:
    """What is sent back: words, and arrays."""
    try:
        if "build" in request:
            structure.__enter__()
            return (("built", None),)
        found = structure.measured(request["search"])
    except VisualSearchError as error:
        return (("failed", (type(error).__name__, [str(error)])),)
    except OSError as error:
        named = os.fsdecode(error.filename) if isinstance(error.filename, bytes | os.PathLike) else error.filename
        told = [error.errno, str(error.strerror), named] if error.errno else [str(error)]
        return (("failed", ("OSError", told)),)
    return ("measured", found.told), found.rows, found.scores


def _listen(requests: IO[bytes], asked: queue.SimpleQueue[dict[str, Any] | None]) -> None:
    """Pass on what is asked for; when the other process is gone, end this one, whatever it is doing."""
    with suppress(EOFError, OSError, ValueError):
        while True:
            asked.put(receive(requests)[0])
    asked.put(None)
    time.sleep(_TO_END)
    os._exit(0)


def _alarm(seconds: float) -> None:
    """Let the system end this process, also where a library gives no other thread a turn and nobody is left outside."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
