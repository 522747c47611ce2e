"""An engine that hangs, fails or ends its process where it is asked to; installed as a plug-in by the tests."""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

from visual_search.indexing.engines.flat import FlatEngine
from visual_search.indexing.engines.settings import AnySetting, Setting, TextSetting

HOWS = ("sleep", "hold", "die", "fail", "no file", "bytes", "pipe", "exit", "fork")


class SleepyEngine(FlatEngine):
    name: ClassVar[str] = "sleepy"
    SETTINGS: ClassVar[tuple[AnySetting, ...]] = (
        Setting("add_for", 0, 0, 1000, "build", "seconds that an add takes"),
        TextSetting("folder", "", (), "build", "where it writes the number of its process, and of its builds"),
        Setting("search_for", 0, 0, 1000, "search", "seconds that a search takes"),
        TextSetting("how", "sleep", HOWS, "search", "what a search does"),
    )

    def __init__(self, *, dimension: int, metric: Any, settings: Any = None) -> None:
        super().__init__(dimension=dimension, metric=metric, settings={})
        self._own: dict[str, Any] = {setting.name: setting.default for setting in self.SETTINGS}
        self._own |= settings or {}

    @property
    def settings(self) -> Any:
        return dict(self._own)

    def configure(self, **settings: Any) -> None:
        self._own |= settings

    def add(self, rows: Any, vectors: Any) -> None:
        if self._own["folder"]:
            with (Path(self._own["folder"]) / "processes").open("a") as stream:
                stream.write(f"{os.getpid()}\n")
        time.sleep(self._own["add_for"])
        super().add(rows, vectors)

    def search(self, queries: Any, k: int) -> Any:
        print("what a library prints is no answer")
        how, seconds = self._own["how"], self._own["search_for"]
        if how == "hold":  # as a library does that lets no other thread of Python have a turn
            ctypes.PyDLL(None).sleep(seconds)
        elif how == "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        elif how == "fail":
            raise ValueError("it broke")
        elif how == "no file":
            raise FileNotFoundError(2, "No such file or directory", "centres.bin")
        elif how == "bytes":
            raise FileNotFoundError(2, "No such file or directory", b"centres.bin")
        elif how == "pipe":
            raise BrokenPipeError(32, "Broken pipe")
        elif how == "exit":
            sys.exit(7)
        elif how == "fork":  # it dies, and what it began lives on
            if child := os.fork():
                (Path(self._own["folder"]) / "child").write_text(str(child))
                os._exit(7)
            time.sleep(seconds)
            os._exit(0)
        else:
            time.sleep(seconds)
        return super().search(queries, k)
