"""Hashes decide each vector by itself and by one rule; what cannot carry bits is refused or told."""

from typing import Any

import numpy as np
import pytest

from visual_search.errors import InputError
from visual_search.indexing.hashing import HASHES, fit_hasher

Array = np.ndarray[Any, Any]


def vectors(n: int = 301, dimension: int = 24) -> Array:
    return np.random.default_rng(0).standard_normal((n, dimension)).astype(np.float32)


def test_the_code_of_a_zero_does_not_hang_on_the_rest_of_the_batch() -> None:
    half = np.array([[0.0, 1], [2, 0]], dtype=np.float32)  # no number below the threshold: it looks like 0 and 1
    mixed = np.vstack([half, [[-1, -1]]]).astype(np.float32)
    hasher = fit_hasher("sign", mixed, zeros="one")
    assert (
        hasher.codes(half).unpacked().tolist() == hasher.codes(mixed).unpacked()[:2].tolist() == [[True, True]] * 2
    )
    with pytest.raises(InputError, match="exactly at its threshold, first 0, 1"):
        fit_hasher("sign", mixed, zeros="refuse").codes(half)


@pytest.mark.parametrize("name", HASHES)
@pytest.mark.parametrize(("dimension", "bits"), [(24, None), (24, 13), (24, 1), (100, 64)])
def test_each_vector_alone_has_the_code_it_has_among_others(name: Any, dimension: int, bits: int | None) -> None:
    given = vectors(dimension=dimension)
    hasher = fit_hasher(name, given, bits=bits, zeros="one")
    whole = hasher.codes(given).words
    for row in (0, 5, 255, 256, 300):
        assert np.array_equal(hasher.codes(given[row : row + 1]).words[0], whole[row])
    assert np.array_equal(hasher.codes(given[::-1]).words[::-1], whole)


def test_medians_of_an_odd_number_of_rows_and_of_many_zeros_are_decided() -> None:
    given = np.maximum(vectors(), 0)
    codes = fit_hasher("median", given).codes(given).unpacked()
    assert np.array_equal(codes, given > np.median(given, axis=0))
    ones = fit_hasher("median", vectors(), zeros="one").codes(vectors()).unpacked()
    assert np.array_equal(ones, vectors() >= np.median(vectors(), axis=0))


@pytest.mark.parametrize("name", HASHES)
def test_bits_without_information_are_told(name: Any) -> None:
    repeated = np.repeat(vectors(4), 20, axis=0)
    with pytest.warns(
        UserWarning, match=r"80 vectors learnt from differ in 3 directions; 5 of 8 bits tell nothing"
    ):
        hasher = fit_hasher(name, repeated, bits=8)
    assert len(hasher.remarks) == 1
    assert fit_hasher(name, vectors(), bits=8).remarks == ()
    with pytest.warns(UserWarning, match=r"0 directions; 8 of 8 bits"):
        fit_hasher(name, np.full((50, 20), 0.1, dtype=np.float32), bits=8)


@pytest.mark.parametrize("name", ["sign", "median"])
def test_a_number_that_never_changes_is_told(name: Any) -> None:
    given = vectors()
    given[:, 3] = 0.1
    with pytest.warns(UserWarning, match=r"1 bit is the same for all 301 vectors learnt from and tells nothing: 3"):
        fit_hasher(name, given)


def test_bits_are_a_whole_number() -> None:
    eight: Any = np.int64(8)
    assert fit_hasher("itq", vectors(), bits=eight).bits == 8
    for wrong in (8.0, True, np.True_, "8"):
        given: Any = wrong
        with pytest.raises(InputError, match="a whole number is needed"):
            fit_hasher("sign", vectors(), bits=given)


@pytest.mark.parametrize("name", HASHES)
@pytest.mark.parametrize(
    ("factor", "words"),
    [(1e30, "squares go beyond float32"), (1e-30, "nothing in float32"), (1e300, r"beyond float32 \(3.4e38\)")],
)
def test_numbers_that_float32_cannot_learn_from_are_told_as_such(name: Any, factor: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        fit_hasher(name, vectors().astype(float) * factor, bits=8)


def test_projections_beyond_float32_are_told() -> None:
    hasher = fit_hasher("sign", vectors(), bits=8)
    with pytest.raises(InputError, match="beyond float32, first row 0"):
        hasher.codes(np.full((2, 24), 3e38) * np.sign(vectors(2)))


def test_zeros_are_checked_when_the_hash_is_learnt() -> None:
    wrong: Any = "bad"
    with pytest.raises(InputError, match="zeros='bad': one of refuse, one, zero"):
        fit_hasher("sign", vectors(), zeros=wrong)
