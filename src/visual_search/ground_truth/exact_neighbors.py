"""The exact answer of a nearest-neighbour search, with ids, fingerprints and what is known of its exactness."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError, FingerprintError, InputError, Problems
from visual_search.formats.fingerprint import fingerprint_array, fingerprint_json
from visual_search.ground_truth.answer_checks import check_answers
from visual_search.ground_truth.exact_answers import ExactAnswers
from visual_search.ground_truth.gallery_ids import GalleryIds
from visual_search.ground_truth.provenance import difference, installed_versions
from visual_search.ground_truth.truth_scope import ScopeKind, TruthScope
from visual_search.ids import Id, Ids

__all__ = ["ExactNeighbors", "neighbors_of"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ExactNeighbors:
    """The k nearest gallery items of each query under a stated metric: the ground truth of an index.

    Made by `exact_neighbors` from vectors, by `neighbors_of` from what an exact search found, and by `load`. It is not
    relevance: it says what is nearest, not what is right, and only `NeighborRecall` and `DistanceRatio` read it.

    Attributes
    ----------
    queries : Ids
        One id per query, shape (n,).
    gallery : GalleryIds
        Ids of the gallery's rows, shape (gallery_size,).
    answers : ExactAnswers
        Rows, distances, ties and certificates. In a filtered truth an answer may be shorter than k; the places after
        its end have position -1 and distance infinity.
    metric : str
        "l2", "ip", "cosine", "hamming", "jaccard": what the distances are. `neighbors_of` takes "inner_product" for
        "ip".
    gallery_fingerprint, queries_fingerprint : str
        Of the vectors with their ids, in order.
    scope : TruthScope
        The whole gallery, a sample of one, or a subset for each query.
    versions : mapping
        What computed it.

    Raises
    ------
    InputError
        Parts that contradict each other; all of them are listed.

    Convention
    ----------
    Distances are float64 and exact where they decide a tie. For inner product and cosine they are minus the
    product. ``.ids`` are the gallery's, nearest first, of shape (n, k); items exactly as far as the k-th stand in
    ``.ties``, beside them.

    Examples
    --------
    >>> answers = ExactAnswers(
    ...     positions=np.array([[1, 0]]),
    ...     distances=np.array([[0.5, 2.0]]),
    ...     certified=np.array([True]),
    ...     tie_offsets=np.array([0, 1]),
    ...     tie_positions=np.array([2]),
    ...     ties_capped=np.array([False]),
    ...     evaluations=np.array([3]),
    ... )
    >>> truth = neighbors_of(
    ...     answers,
    ...     gallery_ids=["a", "b", "c"],
    ...     query_ids=["q"],
    ...     metric="l2",
    ...     gallery_fingerprint="sha256:1",
    ...     queries_fingerprint="sha256:2",
    ... )
    >>> truth.ids.tolist(), truth.ties, truth.k
    ([['b', 'a']], [['c']], 2)
    """

    queries: Ids
    gallery: GalleryIds
    answers: ExactAnswers
    metric: str
    gallery_fingerprint: str
    queries_fingerprint: str
    scope: TruthScope = field(default_factory=TruthScope)
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_answers(self.answers, queries=len(self.queries), gallery=self.gallery, scope=self.scope)
        if not self.metric:
            raise InputError("metric: none given; name what the distances are, as in metric='l2'")

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def k(self) -> int:
        """How many neighbours were looked for."""
        return int(self.answers.positions.shape[1])

    @property
    def gallery_size(self) -> int:
        """How many items they were looked for among."""
        return len(self.gallery)

    @property
    def kind(self) -> ScopeKind:
        """What it is the truth of: "full", "sample" or "filtered"."""
        return self.scope.kind

    @property
    def positions(self) -> Int64Array:
        """Gallery rows, nearest first, int64 of shape (n, k); -1 after the end of a short answer."""
        return self.answers.positions

    @property
    def distances(self) -> FloatArray:
        """Exact distances, float64 of shape (n, k); infinite after the end of a short answer."""
        return self.answers.distances

    @property
    def certified(self) -> BoolArray:
        """Where the answer is proven, bool of shape (n,)."""
        return self.answers.certified

    @property
    def ties_capped(self) -> BoolArray:
        """Where more items tie with the k-th than were kept, bool of shape (n,)."""
        return self.answers.ties_capped

    @property
    def lengths(self) -> Int64Array:
        """Neighbours per query, int64 of shape (n,); below k only in a filtered truth."""
        lengths: Int64Array = (self.answers.positions >= 0).sum(axis=1).astype(np.int64)
        return lengths

    @property
    def ids(self) -> npt.NDArray[Any]:
        """Gallery ids, nearest first, of shape (n, k); integers or strings, -1 or "" after the end. Made anew."""
        return self.gallery.array(self.answers.positions)

    @property
    def ties(self) -> list[list[Id]]:
        """For each query the ids beyond its answer that are exactly as far as its k-th. Made anew."""
        return [self.gallery.take(self.answers.tied(query).tolist()) for query in range(len(self))]

    @property
    def fingerprint(self) -> str:
        """Of the whole truth: what was asked of what, and what came out."""
        answers = self.answers
        return fingerprint_json(
            {
                "metric": self.metric,
                "scope": self.scope.as_json(),
                "gallery": self.gallery_fingerprint,
                "queries": self.queries_fingerprint,
                "positions": fingerprint_array(answers.positions),
                "distances": fingerprint_array(answers.distances),
                "ties": [fingerprint_array(answers.tie_offsets), fingerprint_array(answers.tie_positions)],
            }
        )

    def label(self) -> str:
        """What it is the truth of, in words."""
        return f"the {self.k} nearest by {self.metric} in {self.scope.label(self.gallery_size)}"

    def verify(
        self,
        gallery: Any | None = None,
        queries: Any | None = None,
        *,
        gallery_ids: Any | None = None,
        query_ids: Any | None = None,
        metric: str | None = None,
    ) -> None:
        """Refuse to be used for other vectors, or another metric, than it was made for.

        Parameters
        ----------
        gallery, queries : array or str, optional
            The vectors, of shape (rows, dimension), or their fingerprint with ids; what is not given is not compared.
        gallery_ids, query_ids : optional
            Their ids, where the vectors are given; the truth's own by default. Given alone, as in
            ``gallery_ids=index.ids``, they tell whether an engine holds a sample, all of it and nothing else.
        metric : str, optional
            What was searched by: nearest by angle is not nearest by inner product.

        Raises
        ------
        FingerprintError
            Says which part differs: the metric, the number of rows, the ids, or the vectors.
        """
        problems = Problems(f"this truth ({self.label()})")
        if metric is not None and ("ip" if metric == "inner_product" else metric) != self.metric:
            problems.add(f"metric: {metric!r} here and {self.metric!r} in the truth: other items are nearest")
        parts = (
            ("gallery", gallery, gallery_ids, self.gallery, self.gallery_fingerprint),
            ("queries", queries, query_ids, GalleryIds(self.queries, what="queries"), self.queries_fingerprint),
        )
        for what, given, ids, own, made_for in parts:
            apart = difference(given, ids, own, made_for)
            if apart:
                problems.add(f"{what}: {apart}")
        problems.raise_if_any(FingerprintError)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to one file, whole or not at all; nothing in it is pickled."""
        from visual_search.ground_truth.neighbors_file import write_neighbors

        write_neighbors(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ExactNeighbors:
        """Read it from a file; `verify` tells whether it belongs to some vectors.

        Raises
        ------
        FileFormatError
            Not such a file, cut off, damaged, or of a newer version.
        """
        from visual_search.ground_truth.neighbors_file import read_neighbors

        try:
            return cls(**read_neighbors(path))
        except FileFormatError:
            raise
        except InputError as error:
            raise FileFormatError(f"{os.fspath(path)}: {error}") from error

    def __repr__(self) -> str:
        proven = int(self.certified.sum())
        return f"ExactNeighbors({len(self)} queries, {self.label()}, {proven} certified)"


def neighbors_of(
    answers: ExactAnswers,
    *,
    gallery_ids: Any,
    query_ids: Iterable[Any] | None = None,
    metric: str,
    gallery_fingerprint: str,
    queries_fingerprint: str,
    scope: TruthScope | None = None,
    versions: Mapping[str, str] | None = None,
) -> ExactNeighbors:
    """Give what an exact search found ids, fingerprints and the versions it was found with.

    Parameters
    ----------
    answers : ExactAnswers
        Gallery rows, distances, ties and certificates.
    gallery_ids : int, or ids
        One id per gallery row; a number n stands for the row numbers 0..n - 1.
    query_ids : iterable, optional
        One id per query; 0, 1, 2, ... by default.
    metric : str
        What the distances are.
    gallery_fingerprint, queries_fingerprint : str
        Of the vectors with their ids; ``GalleryIds(ids).fingerprint_with(vectors)``.
    scope : TruthScope, optional
        The whole gallery by default.
    versions : mapping, optional
        Package versions; those that are installed by default.

    Returns
    -------
    ExactNeighbors

    Raises
    ------
    InputError
        Parts that contradict each other.
    """
    return ExactNeighbors(
        queries=Ids(range(len(answers.positions)) if query_ids is None else query_ids, what="query_ids"),
        gallery=GalleryIds(gallery_ids, what="gallery_ids"),
        answers=answers,
        metric="ip" if metric == "inner_product" else metric,
        gallery_fingerprint=gallery_fingerprint,
        queries_fingerprint=queries_fingerprint,
        scope=TruthScope() if scope is None else scope,
        versions=installed_versions() if versions is None else dict(versions),
    )
