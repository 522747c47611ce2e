"""Any image model in an ONNX file."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from PIL.Image import Image

from visual_search.errors import FileFormatError, InputError, NonFiniteError, first_few
from visual_search.formats.fingerprint import fingerprint_file
from visual_search.indexing.embedders.arguments import needed_argument
from visual_search.indexing.embedders.normalization import unit_rows
from visual_search.indexing.embedders.onnx_external_data import external_data_files
from visual_search.indexing.embedders.onnx_graph import ImageInput, image_input, vector_output
from visual_search.indexing.embedders.onnx_options import OnnxOptions
from visual_search.indexing.embedders.onnx_session import open_session, run
from visual_search.indexing.embedders.resizing import Resize

__all__ = ["OnnxEmbedder"]

_IMAGENET_MEAN, _IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_GREY_MEAN, _GREY_STD = (0.449,), (0.226,)


class OnnxEmbedder:
    """Any image model in an ONNX file, run by ONNX Runtime on the CPU.

    ``v = pool(model((value * scale - mean) / std))``: ``pool`` is nothing for an output of 2 axes, the mean over
    space for 4, and as ``options.pool`` says for 3.

    Parameters
    ----------
    path : str or path
        The file. Tensors may lie in files beside it; they are part of the weights' hash.
    options : OnnxOptions, optional
        Preprocessing, and what the graph leaves open.
    threads : int, optional
        Threads that share one inference; all cores this process may use when None.
    batch_size : int, default 4
        Images per inference, where the graph does not fix their number.

    Raises
    ------
    FileFormatError
        Not an ONNX model, a truncated one, or a file with its tensors is missing.
    InputError
        The model takes no image, or options contradict the graph.

    Convention
    ----------
    In a text form parameters stand behind a question mark, ``onnx:model.onnx?size=224&mean=0.5&std=0.5``; a file
    whose own name has one is given with a question mark at the end. The path is kept as given: relative ones start
    at the current folder.

    How to read it
    --------------
    ``preprocessing`` says in words everything that is done; compare it with what the model was trained with. Wrong
    preprocessing gives plausible but worse vectors, and no error.
    """

    decode_size = None

    def __init__(
        self,
        path: str | os.PathLike[str],
        options: OnnxOptions | None = None,
        *,
        threads: int | None = None,
        batch_size: int = 4,
    ) -> None:
        self._options = options or OnnxOptions()
        self._path = os.fspath(path)
        what = f"onnx:{self._path}"
        self._what = what
        self._weights_hash = _weights_hash(Path(self._path))
        self._session = open_session(Path(self._path), what=what, threads=threads)
        self._input = image_input(self._session.get_inputs(), self._options, what=what)
        self._output = vector_output(self._session.get_outputs(), self._options, what=what)
        self._resize = Resize(
            self._input.height, self._input.width, self._options.resize, self._options.filter, self._options.crop
        )
        self._mean, self._std = _mean_and_std(self._input, self._options, what)
        self._batch_size = self._input.batch or batch_size
        self._dimension = self._probe()

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        """Take ``FILE`` or ``FILE?name=value&...``."""
        needed_argument(argument, "onnx", "onnx:model.onnx")
        path, mark, parameters = argument.rpartition("?")
        if not mark:
            path, parameters = argument, ""
        return cls(path, OnnxOptions.from_text(parameters, what=f"onnx:{argument}"))

    @property
    def name(self) -> str:
        """``onnx:FILE`` with every parameter that is not the default."""
        parameters = self._options.as_text()
        return f"onnx:{self._path}" + (f"?{parameters}" if parameters or "?" in self._path else "")

    @property
    def dimension(self) -> int:
        """Length of a vector, as the model itself gave it for a black image."""
        return self._dimension

    @property
    def preprocessing(self) -> str:
        """What is done to the pixels and to the output, in words."""
        colours = self._options.order.upper() if self._input.channels == 3 else "grey"
        parts = [colours, self._resize.words]
        if self._input.dtype is np.uint8:
            parts.append("8-bit values")
        else:
            mean, std = (",".join(f"{part:g}" for part in values) for values in (self._mean, self._std))
            parts.append(f"(value * {self._options.scale:.6g} - [{mean}]) / [{std}]")
        parts.append(f"{self._input.layout} into {self._input.name!r}")
        pooled = {2: "", 3: f", {self._output.pool} of the tokens", 4: ", spatial mean"}[self._output.axes]
        parts.append(f"output {self._output.name!r}{pooled}")
        return ", ".join(parts) + (", L2-normalised" if self._options.normalize == "l2" else "")

    @property
    def weights_hash(self) -> str:
        """SHA-256 of the file; where tensors lie in other files, SHA-256 over the names and hashes of all."""
        return self._weights_hash

    @property
    def batch_size(self) -> int:
        """Images per inference."""
        return self._batch_size

    def prepare(self, image: Image) -> npt.NDArray[Any]:
        """One image as the array the model takes."""
        small = self._resize(image)
        pixels = np.asarray(small if self._input.channels == 3 else small.convert("L"))
        pixels = pixels.reshape(self._input.height, self._input.width, self._input.channels)
        if self._options.order == "bgr":
            pixels = pixels[:, :, ::-1]
        if self._input.dtype is not np.uint8:
            scaled = pixels.astype(np.float32) * np.float32(self._options.scale)
            pixels = ((scaled - self._mean) / self._std).astype(self._input.dtype, copy=False)
        return np.ascontiguousarray(pixels.transpose(2, 0, 1) if self._input.layout == "nchw" else pixels)

    def embed(self, batch: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Prepared images to vectors of shape (n, dimension)."""
        size = self._input.batch
        if size is None or len(batch) == size:
            vectors = self._pooled(batch)
        else:
            vectors = np.concatenate(
                [self._padded(batch[at : at + size], size) for at in range(0, len(batch), size)]
            )
        return unit_rows(vectors) if self._options.normalize == "l2" else vectors

    def _padded(self, batch: npt.NDArray[Any], size: int) -> npt.NDArray[np.float32]:
        """Fill a batch that the graph fixes at ``size`` with zeros and drop what comes of them."""
        if len(batch) == size:
            return self._pooled(batch)
        whole = np.zeros((size, *batch.shape[1:]), dtype=batch.dtype)
        whole[: len(batch)] = batch
        return self._pooled(whole)[: len(batch)]

    def _pooled(self, batch: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        given = run(self._session, self._output.name, {self._input.name: batch}, what=self._what)
        if self._output.axes == 4:
            given = given.mean(axis=(2, 3) if self._input.layout == "nchw" else (1, 2), dtype=np.float32)
        elif self._output.axes == 3:
            given = given[:, 0] if self._output.pool == "first" else given.mean(axis=1, dtype=np.float32)
        return np.ascontiguousarray(given, dtype=np.float32)

    def _probe(self) -> int:
        """Embed a black image, so that a model that cannot do it is refused before a run begins."""
        shape = (self._input.channels, self._input.height, self._input.width)
        prepared = np.zeros(shape if self._input.layout == "nchw" else (*shape[1:], shape[0]), self._input.dtype)
        vector = self.embed(prepared[None])
        if vector.ndim != 2 or vector.shape[0] != 1 or vector.shape[1] < 1:
            raise InputError(f"{self._what}: output {self._output.name!r} gave shape {vector.shape} for one image")
        if not np.isfinite(vector).all():
            raise NonFiniteError(f"{self._what}: output {self._output.name!r} is NaN or infinite for zeros")
        return int(vector.shape[1])


def _weights_hash(path: Path) -> str:
    if not path.is_file():
        raise FileFormatError(f"onnx:{path}: there is no such file; give the path of an ONNX model")
    beside = external_data_files(path)
    outside = [name for name in beside if not (path.parent / name).resolve().is_relative_to(path.parent.resolve())]
    if outside:
        raise FileFormatError(
            f"onnx:{path}: tensors are said to lie in {first_few(outside)}, outside the model's folder; save the "
            "model with its data beside it"
        )
    missing = [name for name in beside if not (path.parent / name).is_file()]
    if missing:
        raise FileFormatError(
            f"onnx:{path}: tensors lie in {first_few(missing)}, missing from {path.parent}; put the files "
            "that came with the model beside it"
        )
    whole = fingerprint_file(path)
    if not beside:
        return whole
    digest = hashlib.sha256(f"{whole}\n".encode())
    for name in beside:
        digest.update(f"{name}\n{fingerprint_file(path.parent / name)}\n".encode("utf-8", "surrogateescape"))
    return f"sha256:{digest.hexdigest()}"


def _mean_and_std(
    given: ImageInput, options: OnnxOptions, what: str
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    if given.dtype is np.uint8 and (options.mean or options.std or options.scale != 1 / 255):
        raise InputError(
            f"{what}: input {given.name!r} takes 8-bit values as they are; leave out scale, mean and std"
        )
    mean = options.mean or (_IMAGENET_MEAN if given.channels == 3 else _GREY_MEAN)
    std = options.std or (_IMAGENET_STD if given.channels == 3 else _GREY_STD)
    if options.order == "bgr" and options.mean is None:
        mean = mean[::-1]
    if options.order == "bgr" and options.std is None:
        std = std[::-1]
    for name, values in (("mean", mean), ("std", std)):
        if len(values) not in (1, given.channels):
            raise InputError(f"{what}: {name} has {len(values)} values for {given.channels} channels")
    return np.array(mean, dtype=np.float32), np.array(std, dtype=np.float32)
