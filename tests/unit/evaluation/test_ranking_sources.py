"""A run file and arrays of ids give what a ranking made of them gives."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from visual_search import IdLists, Ranking, Relevance, RunFile, evaluate
from visual_search.errors import DuplicateIdError, FileFormatError, InputError, NonFiniteError
from visual_search.evaluation.result import Result
from visual_search.evaluation.ties import TIE_RULES
from visual_search.kernels import compiled, dispatch, plain

MEASURES = ["AP", "AP(denominator=found)@5", "nDCG@10", "RR", "Precision@3", "Bpref", "HitRate@2", "Judged@5"]


@pytest.fixture(params=[compiled, plain], ids=["compiled", "plain"], autouse=True)
def twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_chosen", lambda: (request.param, None))


def same(one: Result, other: Result) -> None:
    assert list(one) == list(other)
    for name in one:
        for field in dataclasses.fields(one[name].parts):
            mine, theirs = getattr(one[name].parts, field.name), getattr(other[name].parts, field.name)
            assert np.array_equal(mine, theirs, equal_nan=True), name
    assert one.notes == other.notes
    assert one.missing_queries == other.missing_queries
    assert one.unjudged_queries == other.unjudged_queries


def random_lists(seed: int) -> tuple[np.ndarray, np.ndarray, list[int], dict[int, dict[int, int]]]:
    rng = np.random.default_rng(seed)
    ids = np.stack([rng.permutation(60)[:20] for _ in range(30)])
    scores = -np.sort(-rng.integers(-3, 9, ids.shape), axis=1) / 3
    queries = rng.permutation(40)[:30].tolist()
    relevance = {
        query: dict(zip(rng.permutation(60)[:12].tolist(), rng.integers(-1, 3, 12).tolist(), strict=True))
        for query in range(5, 40)
    }
    return ids, scores, queries, relevance


def written_run(folder: Path, ids: np.ndarray, scores: np.ndarray, queries: list[int]) -> Path:
    lines = [
        f"{query} Q0 {item} {rank} {float(score)!r} t"
        for query, items, values in zip(queries, ids, scores, strict=True)
        for rank, (item, score) in enumerate(zip(items, values, strict=True), 1)
    ]
    path = folder / "run.txt"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("ties", TIE_RULES)
def test_run_file(ties: str, tmp_path: Path) -> None:
    ids, scores, queries, judged = random_lists(1)
    path = written_run(tmp_path, ids, scores, queries)
    named = {str(query): {str(item): grade for item, grade in pairs.items()} for query, pairs in judged.items()}
    ignored = {query: ["1", "2", "3"] for query in named}
    kept = {query: {i: g for i, g in pairs.items() if i not in ("1", "2", "3")} for query, pairs in named.items()}
    relevance = Relevance.from_dict(kept, ignored=ignored)
    same(
        evaluate(RunFile(path), relevance, MEASURES, ties=ties),  # type: ignore[arg-type]
        evaluate(Ranking.from_trec(path), relevance, MEASURES, ties=ties),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("preset", ["trec_eval", "torchmetrics", "mteb", "guide"])
def test_run_file_under_presets(preset: str, tmp_path: Path) -> None:
    ids, scores, queries, judged = random_lists(2)
    path = written_run(tmp_path, ids, scores + np.arange(20)[::-1] * 1e-9, queries)
    relevance = Relevance.from_dict({str(q): {str(i): g for i, g in pairs.items()} for q, pairs in judged.items()})
    same(
        evaluate(RunFile(path), relevance, preset=preset),
        evaluate(Ranking.from_trec(path), relevance, preset=preset),
    )


def test_ranks_against_scores_are_noted_alike(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("q Q0 a 1 0.1 t\nq Q0 b 2 0.9 t\nr Q0 a 1 2 t\nr Q0 b 2 1 t\n")
    relevance = Relevance.from_dict({"q": {"a": 1}})
    result = evaluate(RunFile(path), relevance, ["RR"])
    assert "contradicts the scores in 1 of 2 queries" in result.notes[0]
    same(result, evaluate(Ranking.from_trec(path), relevance, ["RR"]))


@pytest.mark.parametrize("ties", TIE_RULES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_id_lists(ties: str, dtype: str) -> None:
    ids, scores, queries, judged = random_lists(3)
    ids[:, -1] = -1
    relevance = Relevance.from_dict(judged)
    values = scores.astype(dtype)
    same(
        evaluate(IdLists(ids, values, query_ids=queries), relevance, MEASURES, ties=ties),  # type: ignore[arg-type]
        evaluate(Ranking.from_arrays(ids, values, query_ids=queries), relevance, MEASURES, ties=ties),  # type: ignore[arg-type]
    )


def test_id_lists_without_scores_and_with_names_of_queries() -> None:
    ids, _, queries, judged = random_lists(4)
    relevance = Relevance.from_dict({f"q{query}": pairs for query, pairs in judged.items()})
    named = [f"q{query}" for query in queries]
    same(
        evaluate(IdLists(ids, query_ids=named), relevance, MEASURES),
        evaluate(Ranking.from_arrays(ids, query_ids=named), relevance, MEASURES),
    )


RELEVANCE = Relevance.from_dict({0: {1: 1}})


def test_faults_of_id_lists_are_named() -> None:
    with pytest.raises(NonFiniteError, match="1 score is NaN or infinite, first for query 0, item 2"):
        evaluate(IdLists([[1, 2]], [[1.0, np.nan]]), RELEVANCE, ["RR"])
    with pytest.raises(InputError, match="1 place does, first for query 0, item 2; if these are distances"):
        evaluate(IdLists([[1, 2]], [[1.0, 2.0]]), RELEVANCE, ["RR"])
    with pytest.raises(DuplicateIdError, match="1 repeated items within a query's list, first query 0, item 2"):
        evaluate(IdLists([[2, -1, 2]], [[3.0, 2.0, 1.0]]), RELEVANCE, ["RR"])
    with pytest.raises(InputError, match="scores: shape"):
        IdLists([[1, 2]], [[1.0]])
    with pytest.raises(InputError, match="ids: dtype float64"):
        IdLists([[1.0, 2.0]])
    with pytest.raises(InputError, match="item ids are str in the relevance"):
        evaluate(IdLists([[1, 2]]), Relevance.from_dict({0: {"a": 1}}), ["RR"])
    with pytest.raises(InputError, match="query ids are str in the relevance"):
        evaluate(IdLists([[1, 2]]), Relevance.from_dict({"q": {1: 1}}), ["RR"])
    with pytest.raises(InputError, match="no query in common"):
        evaluate(IdLists([[1, 2]], query_ids=[7]), RELEVANCE, ["RR"])


def test_faults_of_run_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("q Q0 a 1 0.1 t\nq Q0 a 2\n")
    with pytest.raises(FileFormatError, match="line 2: 4 fields, 6 needed"):
        evaluate(RunFile(path), Relevance.from_dict({"q": {"a": 1}}), ["RR"])
    path.write_text("q Q0 a 1 0.1 t\n")
    with pytest.raises(InputError, match="query ids are int in the relevance"):
        evaluate(RunFile(path), RELEVANCE, ["RR"])
    with pytest.raises(InputError, match="no query in common: 'q' against 'r'"):
        evaluate(RunFile(path), Relevance.from_dict({"r": {"a": 1}}), ["RR"])
