"""ONNX Runtime sessions on the CPU, with errors that say what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from visual_search.errors import FileFormatError, InputError
from visual_search.indexing.embedders.cores import available_cores

__all__ = ["open_session", "run"]

_ERRORS = (
    "EPFail",
    "Fail",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "NoModel",
    "NoSuchFile",
    "NotImplemented",
    "RuntimeException",
)


def open_session(model: Path | bytes, *, what: str, threads: int | None = None) -> Any:
    """Load a model for inference on the CPU.

    Parameters
    ----------
    model : Path or bytes
        The file, or its content. External data is found beside a file, not beside bytes.
    what : str
        What to call the model in errors.
    threads : int, optional
        Threads that share one inference, at least 1; all cores this process may use when None.

    Returns
    -------
    onnxruntime.InferenceSession
        Safe to run from several threads.

    Raises
    ------
    FileFormatError
        Not an ONNX model, a truncated one, or one this ONNX Runtime cannot run.

    Convention
    ----------
    Threads that wait do so asleep: by default ONNX Runtime's spin, which takes the cores from the threads that
    decode the next images and costs a third more processor time for nothing.
    """
    import onnxruntime

    if threads is not None and threads < 1:
        raise InputError(f"{what}: threads {threads} is not allowed; give at least 1, or None for all cores")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or available_cores()
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised; lines on stderr would only tear a progress bar
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    source = model if isinstance(model, bytes) else str(model)
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except _runtime_errors() as problem:
        raise FileFormatError(
            f"{what}: ONNX Runtime {onnxruntime.__version__} cannot load it: {problem}; it may be truncated, not "
            "an ONNX model, or made with a newer operator set"
        ) from problem


def run(session: Any, output: str, inputs: dict[str, Any], *, what: str) -> Any:
    """Compute one output of a model; what ONNX Runtime raises becomes an InputError."""
    try:
        return session.run([output], inputs)[0]
    except _runtime_errors() as problem:
        shapes = ", ".join(f"{name} {value.dtype}{list(value.shape)}" for name, value in inputs.items())
        raise InputError(f"{what}: the model failed on {shapes}: {problem}") from problem


def _runtime_errors() -> tuple[type[Exception], ...]:
    # ONNX Runtime's exceptions share no base class but Exception.
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return tuple(getattr(state, name) for name in _ERRORS if hasattr(state, name))
