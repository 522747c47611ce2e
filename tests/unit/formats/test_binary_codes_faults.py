"""What may be read in two ways is refused or told; each wrong element has its own words."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from visual_search import SharedLabels, evaluate_codes
from visual_search.errors import InputError, NonFiniteError
from visual_search.evaluation.code_report import report_codes
from visual_search.evaluation.code_study import study_codes
from visual_search.formats.binary_codes import BinaryCodes

LABELS = SharedLabels.of([0], [0, 1])
SIGNS, BITS = [[1, -1, 1]], [[1, 0, 1], [0, 1, 1]]


def test_signs_on_one_side_and_bits_on_the_other_are_refused_with_the_mend() -> None:
    for call in (evaluate_codes, study_codes):
        with pytest.raises(InputError, match=r"gallery_codes: 0 and 1, where the other side.*kind='bits'.*--zeros"):
            call(SIGNS, BITS, LABELS, ["AP"])
    with pytest.raises(InputError, match="query_codes: 0 and 1"):
        evaluate_codes(BITS[:1], [[1, -1, 1], [1, 1, 1]], LABELS, ["AP"])
    wanted = evaluate_codes(BinaryCodes.of(SIGNS), BinaryCodes.of(BITS), LABELS, ["AP"])["AP"].mean
    for gallery in (np.array(BITS, dtype=bool), BinaryCodes.of(BITS, kind="bits")):
        assert evaluate_codes(SIGNS, gallery, LABELS, ["AP"])["AP"].mean == wanted
    evaluate_codes(np.ones((1, 3)), [[1, -1, 1], [1, 1, 1]], LABELS, ["AP"])  # 1 is 1 in both


def test_zeros_by_name_are_those_of_both_sides() -> None:
    queries, gallery = BinaryCodes.both(SIGNS, BITS, zeros="one")
    assert queries.unpacked().tolist() == [[True, False, True]]
    assert gallery.unpacked().all()
    queries, gallery = BinaryCodes.both(BITS, SIGNS, zeros="zero")
    assert queries.unpacked().tolist() == np.array(BITS, dtype=bool).tolist()


def test_kind_says_what_elements_are() -> None:
    assert BinaryCodes.of([[0, 1]], kind="signs", zeros="one").unpacked().tolist() == [[True, True]]
    with pytest.raises(InputError, match="sign of 0 is 0"):
        BinaryCodes.of([[0, 1]], kind="signs")
    with pytest.raises(InputError, match="kind='bits' is for 0 and 1"):
        BinaryCodes.of([[-1, 1]], kind="bits")
    with pytest.raises(InputError, match="kind='signs' is for -1 and 1"):
        BinaryCodes.of([[True]], kind="signs")
    wrong: Any = "bit"
    with pytest.raises(InputError, match="one of bits, signs, or None"):
        BinaryCodes.of([[1]], kind=wrong)


@pytest.mark.parametrize(
    ("codes", "error", "words"),
    [
        ([[1, np.nan]], NonFiniteError, "holds NaN or infinity, first 0"),
        ([[1, -1], [1, -np.inf]], NonFiniteError, "holds NaN or infinity, first 1"),
        ([[0.3, -0.2]], InputError, r"first 0 \(-0.2, 0.3\); these look like embeddings.*--hash"),
        (np.array([[255, 7]], dtype=np.uint8), InputError, r"\(7, 255\); if they are eight bits a byte.*--packed"),
        ([[0, 255]], InputError, r"0 and 1, first 0 \(255\); one element a bit"),
        (sparse.csr_matrix(np.eye(2)), InputError, r"a sparse matrix of shape \(2, 2\).*toarray"),
        (None, InputError, "codes: None; an array is needed"),
        (np.ma.masked_array([[1, 0]], mask=[[True, False]]), InputError, "masked"),
    ],
)
def test_each_wrong_element_has_its_words(codes: Any, error: type[InputError], words: str) -> None:
    with pytest.raises(error, match=words) as raised:
        BinaryCodes.of(codes)
    assert "sign of 0" not in str(raised.value)
    with pytest.raises(InputError):
        evaluate_codes(codes, BITS, LABELS, ["AP"])


def test_packed_bytes_are_copied() -> None:
    octets = np.full((3, 8), 200, dtype=np.uint8)
    codes = BinaryCodes.of(octets, packed=True)
    octets[:] = 0
    assert (codes.packed() == 200).all()


def test_packed_bytes_of_0_and_1_alone_are_told() -> None:
    with pytest.warns(UserWarning, match="every byte is 0 or 1"):
        BinaryCodes.of(np.array([[0, 1, 1], [1, 0, 0]], dtype=np.uint8), packed=True)


def test_a_report_takes_arrays() -> None:
    assert report_codes(BITS).constant_bits == (2,)


def test_rows_are_taken_in_order() -> None:
    assert BinaryCodes.of(BITS).take([1, 0]).unpacked().tolist() == np.array(BITS, dtype=bool)[::-1].tolist()


@pytest.mark.parametrize("bits", [8.0, True])
def test_bits_of_packed_codes_are_a_whole_number(bits: Any) -> None:
    with pytest.raises(InputError, match="a whole number is needed"):
        BinaryCodes.of(np.full((1, 1), 200, dtype=np.uint8), packed=True, bits=bits)
