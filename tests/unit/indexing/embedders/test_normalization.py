import numpy as np

from visual_search.indexing.embedders.normalization import unit_rows


def test_rows_have_length_one_and_keep_their_direction() -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 30)).astype(np.float32)
    unit = unit_rows(vectors)
    assert unit.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(unit.astype(np.float64), axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(unit * np.linalg.norm(vectors, axis=1)[:, None], vectors, rtol=1e-5)


def test_a_zero_row_takes_the_direction_of_uniform_rows() -> None:
    unit = unit_rows(np.array([[0, 0, 0], [7, 7, 7], [1e-30, 1e-30, 1e-30]], dtype=np.float32))
    assert np.array_equal(unit[0], unit[1])
    assert np.array_equal(unit[0], unit[2])


def test_very_large_and_very_small_rows_do_not_overflow_or_vanish() -> None:
    huge = unit_rows(np.array([[3e38, 0, 0], [1e-40, 0, 0]], dtype=np.float32))
    np.testing.assert_allclose(huge, [[1, 0, 0], [1, 0, 0]], rtol=1e-6)


def test_the_input_is_not_changed() -> None:
    vectors = np.array([[0, 0], [3, 4]], dtype=np.float32)
    unit_rows(vectors)
    assert vectors.tolist() == [[0, 0], [3, 4]]
