"""Codes of embeddings: by sign, by median, by ITQ; what is learnt, what is refused."""

from typing import Any

import numpy as np
import pytest

from visual_search import SharedLabels, evaluate_codes
from visual_search.errors import DimensionError, InputError, NonFiniteError, NotTrainedError
from visual_search.evaluation.code_report import report_codes
from visual_search.indexing.hashing import HASHES, fit_hasher

Array = np.ndarray[Any, Any]


def clusters(seed: int = 0) -> tuple[Array, Array]:
    """Four clusters in sixteen numbers that spread most along a few directions."""
    rng = np.random.default_rng(seed)
    classes = np.arange(400) % 4
    centres = rng.standard_normal((4, 16)) * 2
    return (centres[classes] + rng.standard_normal((400, 16))).astype(np.float32), classes


def test_sign_of_all_numbers_is_the_sign() -> None:
    vectors, _ = clusters()
    codes = fit_hasher("sign", vectors).codes(vectors)
    assert np.array_equal(codes.unpacked(), vectors > 0)


def test_median_balances_every_bit_where_sign_does_not() -> None:
    vectors, _ = clusters()
    shifted = np.abs(vectors)
    with pytest.warns(UserWarning, match="16 bits are the same for all 400 vectors"):
        always = fit_hasher("sign", shifted)
    assert report_codes(always.codes(shifted)).collapsed
    report = report_codes(fit_hasher("median", shifted).codes(shifted))
    assert report.balance == pytest.approx(np.full(16, 0.5), abs=0.01)
    assert report.constant_bits == ()


@pytest.mark.parametrize("name", HASHES)
def test_fewer_bits_than_numbers_still_find_clusters(name: Any) -> None:
    vectors, classes = clusters()
    codes = fit_hasher(name, vectors, bits=8).codes(vectors)
    assert (codes.bits, len(codes)) == (8, 400)
    result = evaluate_codes(codes, codes, SharedLabels.of(classes), ["AP"])
    assert result["AP"].mean > 0.5  # chance is a quarter
    assert np.array_equal(fit_hasher(name, vectors, bits=8).codes(vectors).words, codes.words)


def test_what_is_learnt_is_not_learnt_from_what_is_coded() -> None:
    vectors, _ = clusters()
    hasher = fit_hasher("itq", vectors[:300], bits=8)
    assert np.array_equal(hasher.codes(vectors[300:]).words, hasher.codes(vectors).words[300:])


def test_32_times_smaller() -> None:
    vectors, _ = clusters()
    codes = fit_hasher("sign", vectors).codes(vectors)
    assert vectors.nbytes == 32 * codes.nbytes == 32 * codes.packed().nbytes
    assert report_codes(codes).float_bytes == vectors.nbytes


def test_zeros_are_decided_by_rule() -> None:
    vectors = np.array([[0.0, 1, -1], [2, 0, 3]], dtype=np.float32)
    zero = fit_hasher("sign", vectors, zeros="zero").codes(vectors)
    one = fit_hasher("sign", vectors, zeros="one").codes(vectors)
    assert zero.unpacked().tolist() == [[False, True, False], [True, False, True]]
    assert one.unpacked().tolist() == [[True, True, False], [True, True, True]]
    with pytest.raises(InputError, match="2 vectors have a number exactly at its threshold, first 0, 1"):
        fit_hasher("sign", vectors, zeros="refuse").codes(vectors)


@pytest.mark.parametrize(
    ("name", "vectors", "options", "error", "words"),
    [
        ("lsh", np.zeros((9, 4)), {}, InputError, "one of sign, median, itq"),
        ("sign", np.zeros((9, 4)), {"bits": 5}, InputError, "1 to 4"),
        ("sign", np.full((9, 4), np.nan), {}, NonFiniteError, "NaN or infinity in 9 rows, first 0"),
        ("itq", np.zeros((3, 4)), {"bits": 4}, NotTrainedError, "3 vectors to learn 4 bits from"),
        ("sign", [["a"]], {}, InputError, "numbers are needed"),
    ],
)
def test_refusals(name: Any, vectors: Any, options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        fit_hasher(name, vectors, **options)


def test_vectors_of_another_length_are_refused() -> None:
    hasher = fit_hasher("sign", [[1, -1, 1, -1], [-1, 1, -1, 1]])
    with pytest.raises(DimensionError, match="5 numbers each; the hash was learnt on 4"):
        hasher.codes(np.ones((1, 5)))
