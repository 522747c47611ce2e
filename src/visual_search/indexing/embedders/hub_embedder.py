"""What the embedders of the model hubs share: what they tell of themselves, and one size of batch."""

from __future__ import annotations

from visual_search.indexing.embedders.torch_model import TorchModel

__all__ = ["HubEmbedder"]


class HubEmbedder:
    """A torch model under its text form; a subclass loads it, prepares images and computes.

    Attributes
    ----------
    batch_size : int
        Images a batch.
    decode_size : None
        The model's own transform shrinks, so that images are decoded whole.
    """

    batch_size = 16
    decode_size = None

    _name: str
    _dimension: int
    _model: TorchModel

    @property
    def name(self) -> str:
        """The text form, ``HUB:MODEL`` with what the hub adds to it."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    @property
    def weights_hash(self) -> str:
        """SHA-256 over the tensors of all its parts."""
        return self._model.weights_hash
