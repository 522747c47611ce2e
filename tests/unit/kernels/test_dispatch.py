"""Which kernels run, and what happens when the compiled ones cannot."""

import dataclasses
import importlib
import json
import os
import subprocess
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from visual_search.errors import InputError, MissingDependencyError
from visual_search.kernels import _compiled, compiled, dispatch, plain, self_test


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(dispatch.ENVIRONMENT_VARIABLE, raising=False)
    monkeypatch.setattr(dispatch, "_chosen", dispatch._chosen.__wrapped__)


def test_the_compiled_kernels_were_built_and_are_chosen() -> None:
    assert dispatch.active() == ("compiled", "built and passed its self-test")
    assert dispatch.kernels() is compiled


def test_plain_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(dispatch.ENVIRONMENT_VARIABLE, "plain")
    assert dispatch.active() == ("plain", "VISUAL_SEARCH_KERNELS=plain")
    assert dispatch.kernels() is plain


def test_another_choice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(dispatch.ENVIRONMENT_VARIABLE, "fast")
    with pytest.raises(InputError, match="VISUAL_SEARCH_KERNELS='fast': one of plain, compiled"):
        dispatch.active()


def without_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def imported(name: str) -> ModuleType:
        if name == "visual_search.kernels.compiled":
            raise ImportError("no module named _compiled")
        module: ModuleType = real(name)
        return module

    monkeypatch.setattr(importlib, "import_module", imported)


def test_without_them_the_plain_ones_run_and_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    without_compiled(monkeypatch)
    assert dispatch.active().name == "plain"
    assert len(caplog.messages) == 1
    assert "cannot be loaded (no module named _compiled)" in caplog.messages[0]
    assert "the plain NumPy path gives the same numbers, slower" in caplog.messages[0]


def test_asked_for_and_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    without_compiled(monkeypatch)
    monkeypatch.setenv(dispatch.ENVIRONMENT_VARIABLE, "compiled")
    with pytest.raises(MissingDependencyError, match="install again with a C\\+\\+17 compiler"):
        dispatch.active()


@pytest.mark.parametrize("name", list(self_test.QUESTIONS))
def test_a_kernel_that_answers_wrongly_is_found_out(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    right = getattr(compiled, name)
    screen = compiled.RowScreen

    def wrong(*arguments: Any, **options: Any) -> Any:
        answer = right(*arguments, **options)
        if isinstance(answer, np.ndarray):
            return answer + 1
        if isinstance(answer, screen):
            found = answer.found
            full = np.ones(2, dtype=np.bool_)
            monkeypatch.setattr(answer, "found", lambda: dataclasses.replace(found(), full=full))
            return answer
        field = dataclasses.fields(getattr(answer, "hits", answer))[-1].name
        target = getattr(answer, "hits", answer)
        changed = dataclasses.replace(target, **{field: getattr(target, field) + 1})
        return dataclasses.replace(answer, hits=changed) if target is not answer else changed

    monkeypatch.setattr(compiled, name, wrong)
    assert self_test.first_wrong(compiled) == name
    assert dispatch.active() == ("plain", f"the compiled {name} failed its self-test")
    assert len(caplog.messages) == 1


def lacking(*_arguments: Any) -> Any:
    raise AttributeError("module '_compiled' has no attribute 'this'")


def other(*_arguments: Any) -> Any:
    # What nanobind raises for arguments it does not know.
    raise TypeError(
        "count(): incompatible function arguments. The following argument types are supported:\n    1. ..."
    )


@pytest.mark.parametrize("stale", [lacking, other])
@pytest.mark.parametrize("name", list(self_test.QUESTIONS))
def test_a_module_built_from_other_sources_gives_way_with_one_message(
    name: str, stale: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compiled, name, stale)
    chosen = dispatch.active()
    assert chosen.name == "plain"
    assert chosen.reason.startswith("the compiled kernels belong to another version of this package (")
    assert "\n" not in chosen.reason
    assert len(caplog.messages) == 1
    assert "install again" in caplog.messages[0]


def test_a_stale_module_is_an_error_where_compiled_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(dispatch.ENVIRONMENT_VARIABLE, "compiled")
    monkeypatch.delattr(_compiled, "count_code_ranks")
    with pytest.raises(MissingDependencyError, match="another version of this package .*install again"):
        dispatch.active()


def test_both_twins_know_the_answers() -> None:
    assert self_test.first_wrong(compiled) is None
    assert self_test.first_wrong(plain) is None
    functions = {name for name in dispatch.Kernels.__dict__ if not name.startswith("_")}
    assert set(self_test.QUESTIONS) == functions == set(compiled.__all__) == set(plain.__all__)


def test_the_choice_is_made_once_per_process_and_quickly() -> None:
    code = """
import json, time
import visual_search.kernels.dispatch as dispatch
start = time.perf_counter()
first = dispatch.active()
seconds = time.perf_counter() - start
print(json.dumps([first.name, seconds, dispatch.kernels() is dispatch.kernels()]))
"""
    environment = {key: value for key, value in os.environ.items() if key != dispatch.ENVIRONMENT_VARIABLE}
    answer = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    name, seconds, same = json.loads(answer.stdout)
    assert name == "compiled"
    assert same
    assert seconds < 5
    assert answer.stderr == b""
