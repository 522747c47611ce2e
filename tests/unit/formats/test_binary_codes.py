"""Codes in any form are the same bits; what is no bit is refused or decided by name."""

from typing import Any

import numpy as np
import pytest

from visual_search.errors import DimensionError, InputError
from visual_search.formats.binary_codes import BinaryCodes
from visual_search.formats.bit_rows import pack_rows


@pytest.mark.parametrize("bits", [1, 7, 8, 12, 48, 64, 65, 130])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float16, np.float32, np.float64])
def test_every_form_gives_the_same_words(bits: int, dtype: Any) -> None:
    bit = np.random.default_rng(bits).integers(0, 2, (50, bits))
    plain = BinaryCodes.of(bit)
    forms: list[Any] = [bit.astype(bool), bit.astype(dtype), (2 * bit - 1).astype(dtype), np.asfortranarray(bit)]
    for form in forms:
        assert np.array_equal(BinaryCodes.of(form).words, plain.words)
    packed = BinaryCodes.of(np.packbits(bit, axis=1), packed=True, bits=bits)
    assert np.array_equal(packed.words, plain.words)
    assert np.array_equal(plain.unpacked(), bit)
    assert np.array_equal(plain.signs(), 2 * bit - 1)
    assert np.array_equal(plain.packed(), np.packbits(bit, axis=1))
    assert plain.nbytes == 50 * -(-bits // 8)


def test_more_rows_than_one_block() -> None:
    bit = np.random.default_rng(0).integers(0, 2, (5000, 64))
    signs = 2 * bit - 1
    assert np.array_equal(BinaryCodes.of(signs).unpacked(), bit)
    signs[4321, 5] = 0
    with pytest.raises(InputError, match="1 code holds other values than -1 and 1, first 4321"):
        BinaryCodes.of(signs)


@pytest.mark.parametrize(("zeros", "bit"), [("one", True), ("zero", False)])
def test_a_zero_among_signs_is_decided_by_name(zeros: Any, bit: bool) -> None:
    codes = np.array([[-1.0, 0, 1], [1, 1, -1]])
    assert BinaryCodes.of(codes, zeros=zeros).unpacked().tolist() == [[False, bit, True], [True, True, False]]
    # Among 0 and 1 a zero is a bit, whatever is said.
    assert BinaryCodes.of([[0, 1]], zeros=zeros).unpacked().tolist() == [[False, True]]
    with pytest.raises(InputError, match="other values"):
        BinaryCodes.of([[-1, 0, 2]], zeros=zeros)


@pytest.mark.parametrize(
    ("codes", "options", "error", "words"),
    [
        ([[1, -1, 1]], {"bits": 4}, DimensionError, "codes of 3 bits; 4 are needed"),
        (np.zeros((1, 2), np.uint8), {"packed": True, "bits": 8}, DimensionError, "2 bytes a code hold 16 bits; 8"),
        (np.array([[255, 255]], np.uint8), {"packed": True, "bits": 12}, InputError, "1 code has bits set beyond"),
        ([[1, -1]], {"zeros": "half"}, InputError, "one of refuse, one, zero"),
        ([[1, 0, -1]], {}, InputError, "sign of 0 is 0"),
    ],
)
def test_refusals(codes: Any, options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        BinaryCodes.of(codes, **options)


def test_strange_elements_are_found_by_row() -> None:
    rows = pack_rows(np.array([[1, 0], [np.nan, 1], [3, 0]]))
    assert (rows.signed, rows.strange.tolist(), rows.zeros.tolist()) == (False, [1, 2], [])
