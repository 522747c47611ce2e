"""Judges whose thresholds, noise and queries are known, to try agreement and its intervals on."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.ids import Ids
from visual_search.judging.judgement_table import JudgementTable
from visual_search.rankings.ranking import Ranking

__all__ = ["simulated_judgements", "simulated_marks", "simulated_study"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]

# Cuts of the latent relevance between the grades 0, 1, 2.
_CUTS = np.array([0.0, 1.0])


def simulated_marks(
    latent: FloatArray, leniency: FloatArray, *, noise: float, random: np.random.Generator
) -> FloatArray:
    r"""Grades 0, 1, 2 that judges of given leniency give to items of given latent relevance.

    .. math:: g_{ij} = \#\{t : x_i + a_j + e_{ij} > t\}, \quad e_{ij} \sim N(0, \text{noise}^2)

    Parameters
    ----------
    latent : float64 array of shape (items,)
    leniency : float64 array of shape (judges,)
        Added to the relevance that this judge sees.
    noise : float
        Standard deviation of what a judge sees otherwise in an item.
    random : numpy.random.Generator

    Returns
    -------
    float64 array of shape (items, judges)

    Examples
    --------
    >>> marks = simulated_marks(np.array([-9.0, 0.5, 9.0]), np.zeros(2), noise=0, random=np.random.default_rng(0))
    >>> marks.tolist()
    [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    """
    seen = latent[:, None] + leniency + noise * random.standard_normal((len(latent), len(leniency)))
    grades: FloatArray = (seen[:, :, None] > _CUTS).sum(axis=2).astype(np.float64)
    return grades


def simulated_judgements(
    queries: int,
    *,
    items: int = 8,
    leniency: tuple[float, ...] = (-0.3, 0.0, 0.3),
    noise: float = 0.6,
    missing: float = 0.2,
    seed: int = 0,
) -> JudgementTable:
    """Judgements of the same judges on queries drawn at random, some pairs left out at random.

    A query's items share half of their latent relevance, so that the pairs of a query are not independent.

    Parameters
    ----------
    queries, items : int
        Items a query.
    leniency : tuple of float
        One a judge.
    noise : float
    missing : float in [0, 1)
        Share of the judgements that were not made.
    seed : int

    Examples
    --------
    >>> simulated_judgements(2, items=2, missing=0)
    JudgementTable(12 judgements of 4 pairs by 3 judges, 0 without a grade, 0 adjudicated)
    """
    random = np.random.default_rng(seed)
    shared = np.repeat(random.standard_normal(queries), items)
    latent = np.sqrt(0.5) * (shared + random.standard_normal(queries * items))
    marks = simulated_marks(latent, np.array(leniency), noise=noise, random=random)
    return _table(marks, random.random(marks.shape) >= missing, items)


def simulated_study(
    queries: int,
    judges: int,
    *,
    items: int = 10,
    per_pair: int | None = None,
    overlap: float = 1.0,
    spread: float = 0.5,
    noise: float = 0.5,
    seed: int = 0,
) -> tuple[Ranking, JudgementTable]:
    """One system's lists, and the marks of a panel of judges drawn anew, on queries drawn anew.

    Parameters
    ----------
    queries, judges, items : int
        Judges of the panel, items a query.
    per_pair : int, optional
        Judges a pair, drawn for each; all of the panel where left out.
    overlap : float in [0, 1]
        Share of the pairs that get so many; the others get one.
    spread : float
        Standard deviation of the leniency of judges.
    noise : float
        Standard deviation of what a judge sees otherwise in an item.
    seed : int

    Examples
    --------
    >>> simulated_study(2, 3, items=2)[1]
    JudgementTable(12 judgements of 4 pairs by 3 judges, 0 without a grade, 0 adjudicated)
    """
    random = np.random.default_rng(seed)
    shared = np.repeat(random.standard_normal(queries), items)
    latent = np.sqrt(0.3) * shared + np.sqrt(0.7) * random.standard_normal(queries * items)
    marks = simulated_marks(latent, spread * random.standard_normal(judges), noise=noise, random=random)
    scores = (latent + 0.8 * random.standard_normal(len(latent))).reshape(queries, items)
    several = random.random((len(latent), 1)) < overlap
    order = np.argsort(random.random(marks.shape), axis=1)
    table = _table(marks, order < np.where(several, per_pair or judges, 1), items)
    return Ranking.from_similarity(scores, query_ids=table.queries, gallery_ids=table.items), table


def _table(marks: FloatArray, made: npt.NDArray[np.bool_], items: int) -> JudgementTable:
    """Marks of shape (queries * items, judges) as a table, those that were made."""
    pair, judge = (rows.astype(np.int64) for rows in np.nonzero(made))
    return JudgementTable(
        Ids([f"j{number}" for number in range(marks.shape[1])], what="judges"),
        Ids([f"q{number}" for number in range(len(marks) // items)], what="queries"),
        Ids([f"d{number}" for number in range(items)], what="items"),
        judge,
        pair // items,
        pair % items,
        marks[pair, judge],
        np.zeros(len(pair), dtype=np.bool_),
    )
