"""What the hub embedders share of torch: where a model runs, what its weights hash to, arrays in and out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.indexing.embedders.hub_packages import hub_package
from visual_search.indexing.embedders.normalization import unit_rows

__all__ = ["TorchModel", "hash_of_state"]


class TorchModel:
    """A torch module in evaluation mode on the best device, with arrays on both sides.

    Parameters
    ----------
    module : torch.nn.Module
        Moved to the GPU where torch sees one.
    spec : str
        The embedder's text form, for errors.

    Attributes
    ----------
    weights_hash : str
        See ``hash_of_state``.
    """

    def __init__(self, module: Any, *, spec: str) -> None:
        self._torch = hub_package("torch", spec=spec)
        self.weights_hash = hash_of_state(module.state_dict(), self._torch)
        self._device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self.module = module.to(self._device).eval()

    def to_device(self, value: Any) -> Any:
        """A tensor on the model's device, from an array or a tensor; anything else as it is."""
        if isinstance(value, np.ndarray):
            value = self._torch.from_numpy(value)
        return value.to(self._device) if isinstance(value, self._torch.Tensor) else value

    def unit_vectors(self, compute: Callable[[], Any]) -> npt.NDArray[np.float32]:
        """Run without gradients; the tensor of shape (n, d) that comes back, as float32 rows of length 1."""
        with self._torch.inference_mode():
            vectors = compute()
        return unit_rows(np.ascontiguousarray(vectors.float().cpu().numpy()))


def hash_of_state(state: Mapping[str, Any], torch: Any) -> str:
    """SHA-256 over the tensors of a state dict: name, dtype, shape and bytes of each, sorted by name.

    The same whatever file format the weights came in; another value for another precision.
    """
    digest = hashlib.sha256()
    for name in sorted(state):
        tensor = state[name].detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        if tensor.numel():
            # As bytes, since NumPy knows no bfloat16.
            digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return f"sha256:{digest.hexdigest()}"
