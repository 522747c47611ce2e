"""What an exact answer is exact of: a whole gallery, a sample of one, or a subset for each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError

__all__ = ["ScopeKind", "TruthScope"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
ScopeKind: TypeAlias = Literal["full", "sample", "filtered"]


@dataclass(frozen=True, slots=True, eq=False)
class TruthScope:
    """Among which items the nearest were looked for.

    Attributes
    ----------
    kind : {"full", "sample", "filtered"}
        The whole gallery; a random sample of a larger one, which the engine must then hold and nothing else; or, for
        each query, the items that pass its filter.
    population : int or None
        Size of the gallery a sample was drawn from.
    seed : int or None
        Seed of the draw.
    words : str
        What the filter is.
    subset_sizes : int64 array of shape (queries,) or None
        How many items pass each query's filter; where they are fewer than k, the answer has only those.

    Examples
    --------
    >>> TruthScope.sample(of=1_000_000, seed=3).label(50_000)
    'a sample of 50,000 items out of 1,000,000 (seed 3), not the full gallery'
    """

    kind: ScopeKind = "full"
    population: int | None = None
    seed: int | None = None
    words: str = ""
    subset_sizes: Int64Array | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(ScopeKind):
            raise InputError(f"scope: kind={self.kind!r}; one of {', '.join(get_args(ScopeKind))}")
        if (self.kind == "sample") != (self.population is not None):
            raise InputError("scope: a sample, and nothing else, says of how many items it was drawn")
        if (self.kind == "filtered") != (self.subset_sizes is not None):
            raise InputError("scope: a filtered truth, and nothing else, has a subset size for each query")

    @classmethod
    def sample(cls, *, of: int, seed: int | None) -> TruthScope:
        """The gallery is a random sample of ``of`` items."""
        return cls("sample", population=of, seed=seed)

    @classmethod
    def filtered(cls, subset_sizes: Any, *, words: str = "") -> TruthScope:
        """Each query sees only the items that pass its filter."""
        return cls("filtered", words=words, subset_sizes=np.asarray(subset_sizes, dtype=np.int64))

    def label(self, gallery_size: int) -> str:
        """What a recall against it is a recall of."""
        items = f"{gallery_size:,} items"
        if self.kind == "sample":
            drawn = "" if self.seed is None else f" (seed {self.seed})"
            return f"a sample of {items} out of {self.population:,}{drawn}, not the full gallery"
        if self.subset_sizes is not None:
            sizes = self.subset_sizes
            least, most = int(sizes.min(initial=gallery_size)), int(sizes.max(initial=0))
            span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
            said = f" ({self.words})" if self.words else ""
            return f"each query's own subset{said}, {span} of {items}"
        return f"the full gallery of {items}"

    def as_json(self) -> dict[str, Any]:
        """As a JSON object, without the sizes, which are an array."""
        return {"kind": self.kind, "population": self.population, "seed": self.seed, "words": self.words}
