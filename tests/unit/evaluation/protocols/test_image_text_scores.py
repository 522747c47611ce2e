"""Both directions between images and any number of texts: hit rates, their sum, median ranks, folds, codes."""

from typing import Any

import numpy as np
import pytest

from visual_search.errors import InputError
from visual_search.evaluation.protocols.image_text_scores import evaluate_image_text, evaluate_image_text_folds
from visual_search.formats.binary_codes import BinaryCodes

Array = np.ndarray[Any, Any]


def made(*, bits: bool = False) -> tuple[Array, Array, Array]:
    """Thirty images with one to six texts each, in no order."""
    rng = np.random.default_rng(3)
    owner = rng.permutation(np.repeat(np.arange(30), rng.integers(1, 7, 30)))
    images = rng.standard_normal((30, 40))
    texts = images[owner] + 2 * rng.standard_normal((len(owner), 40))
    return (np.where(images > 0, 1, -1), np.where(texts > 0, 1, -1), owner) if bits else (images, texts, owner)


def first_ranks(similarity: Array, relevant: Array) -> Array:
    """Rank of the first relevant item of each row; nothing ties."""
    best = np.where(relevant, similarity, -np.inf).max(axis=1)
    ranks: Array = (similarity > best[:, None]).sum(axis=1) + 1
    return ranks


def test_as_counted_by_hand() -> None:
    images, texts, owner = made()
    similarity = images @ texts.T
    relevant = owner == np.arange(30)[:, None]
    ways = [first_ranks(similarity, relevant), first_ranks(similarity.T, relevant.T)]
    found = evaluate_image_text(images, texts, owner, metric="ip")
    assert found.r_sum == pytest.approx(100 * sum((ranks <= k).mean() for ranks in ways for k in (1, 5, 10)))
    assert found.median_ranks == (np.median(ways[0]), np.median(ways[1]))
    pooled = found.directions.pooled["HitRate@5"]
    assert pooled.mean == pytest.approx((np.concatenate(ways) <= 5).mean())
    assert pooled.counted == 30 + len(owner)
    assert set(found.directions.asymmetry) == set(found.directions.there)
    assert "image -> text" in found.directions.summary()
    assert "text -> image" in found.directions.summary()


def test_codes_have_ties_in_expectation() -> None:
    images, texts, owner = made(bits=True)
    found = evaluate_image_text(images[:, :6], texts[:, :6], owner, codes=True)
    again = np.random.default_rng(1).permutation(len(owner))
    other = evaluate_image_text(images[:, :6], texts[again][:, :6], owner[again], codes=True)
    assert found.r_sum == pytest.approx(other.r_sum, abs=1e-9)
    assert 0 < found.r_sum < 600
    collapsed = evaluate_image_text(np.ones((4, 3)), np.ones((4, 3)), [0, 1, 2, 3], codes=True, k_values=[1, 2])
    assert collapsed.r_sum == pytest.approx(100 * 2 * (1 / 4 + 2 / 4))


def test_folds_have_galleries_of_their_own() -> None:
    images, texts, owner = made()
    whole = evaluate_image_text(images, texts, owner)
    found = evaluate_image_text_folds(images, texts, owner, folds=3, seed=1)
    assert [len(fold.directions.there.queries) for fold in found.folds] == [10, 10, 10]
    assert sum(len(fold.directions.back.queries) for fold in found.folds) == len(owner)
    assert found.r_sum > whole.r_sum
    told = found.as_json()
    assert told["r_sum"] == pytest.approx(np.mean([fold["r_sum"] for fold in told["folds"]]))
    assert told["means"]["HitRate@1"]["image_to_text"] == pytest.approx(found.mean("HitRate@1")[0])


@pytest.mark.parametrize(
    ("owner", "words"),
    [
        ([0, 0], "1 image has no text, first 1"),
        ([0, 2], "no such image among 2 in texts 1"),
        ([0], "each of the 2 texts"),
    ],
)
def test_refusals(owner: list[int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        evaluate_image_text(np.eye(2), np.eye(2), owner)


def test_codes_in_every_form_give_the_same() -> None:
    images, texts, owner = made(bits=True)
    wanted = evaluate_image_text(images, texts, owner, codes=True).r_sum
    folded = evaluate_image_text_folds(images, texts, owner, codes=True, folds=3).r_sum
    ready = BinaryCodes.of(images), BinaryCodes.of(texts)
    octets = ready[0].packed(), ready[1].packed()
    assert evaluate_image_text(*ready, owner, codes=True).r_sum == wanted
    assert evaluate_image_text(*octets, owner, codes=True, packed=True).r_sum == wanted
    assert evaluate_image_text_folds(*ready, owner, codes=True, folds=3).r_sum == folded
    assert evaluate_image_text_folds(*octets, owner, codes=True, packed=True, folds=3).r_sum == folded
    with pytest.raises(InputError, match="say codes=True"):
        evaluate_image_text(*ready, owner)
    with pytest.raises(InputError, match="texts: 0 and 1, where the other side"):
        evaluate_image_text(images, np.maximum(texts, 0), owner, codes=True)


def test_depths_may_come_one_by_one_and_each_once() -> None:
    images, texts, owner = made()
    wanted = evaluate_image_text(images, texts, owner, k_values=[1, 5]).r_sum
    assert evaluate_image_text(images, texts, owner, k_values=(k for k in (1, 5))).r_sum == wanted
    folds = evaluate_image_text_folds(images, texts, owner, folds=2, k_values=(k for k in (1, 5)))
    assert [fold.k_values for fold in folds.folds] == [(1, 5)] * 2
    with pytest.raises(InputError, match="1 given more than once"):
        evaluate_image_text(images, texts, owner, k_values=[1, 1])
