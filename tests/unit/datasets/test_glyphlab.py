"""The generator: what a scene is, what its views share, what corruption does, and what is written."""

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.datasets import glyphlab
from visual_search.datasets.glyphlab import (
    CLASSES,
    CORRUPTED_TEST_SEVERITY,
    GROUND,
    LINE,
    SEVERITIES,
    GlyphLab,
    corrupt,
    generate_glyphlab,
)
from visual_search.datasets.glyphlab_pixels import NOISE
from visual_search.errors import InputError


@pytest.fixture(scope="module")
def data() -> GlyphLab:
    return generate_glyphlab()


@pytest.fixture
def noiseless(monkeypatch: pytest.MonkeyPatch) -> GlyphLab:
    monkeypatch.setattr(glyphlab, "NOISE", 0)
    return generate_glyphlab()


def test_shapes_and_ids(data: GlyphLab) -> None:
    assert repr(data) == "GlyphLab(seed=2, 360 images of 180 scenes)"
    assert data.images.shape == (360, 1, 24, 24)
    assert data.corrupted_test.shape == (60, 1, 24, 24)
    assert {data.images.dtype.str, data.corrupted_test.dtype.str} == {np.dtype(np.float32).str}
    assert data.images.min() == 0
    assert data.images.max() <= 1
    assert data.scene_ids.tolist() == [f"G0-{row // 2:04}" for row in range(360)]
    assert data.view_ids.tolist() == [0, 1] * 180


@pytest.mark.parametrize("seed", [0, 2, 7, 2**40])
def test_both_views_of_a_scene_are_in_one_split_and_each_class_has_its_share(seed: int) -> None:
    data = generate_glyphlab(seed)
    assert data.splits[0::2].tolist() == data.splits[1::2].tolist()
    assert data.labels[0::2].tolist() == data.labels[1::2].tolist()
    counts = Counter(zip(data.splits[0::2].tolist(), data.labels[0::2].tolist(), strict=True))
    shares = {"train": 40, "val": 10, "test": 10}
    assert counts == {(split, label): share for split, share in shares.items() for label in CLASSES}


def test_without_noise_the_views_are_one_line_and_no_two_scenes_are_alike(noiseless: GlyphLab) -> None:
    scenes = np.rint(noiseless.images[0::2, 0] * 255).astype(int)
    assert np.array_equal(noiseless.images[0::2], noiseless.images[1::2])
    assert len(np.unique(scenes.reshape(180, -1), axis=0)) == 180
    assert set(np.unique(scenes)) == {GROUND, LINE}
    for scene, label in zip(scenes, noiseless.labels[0::2], strict=True):
        row, column = np.nonzero(scene == LINE)
        across = {"vertical": column, "horizontal": row, "diagonal": column - row}[label]
        along = {"vertical": row, "horizontal": column, "diagonal": row}[label]
        places = np.unique(across)
        assert places.tolist() == list(range(places[0], places[0] + len(places)))
        assert 1 <= len(places) <= 3
        if label == "diagonal":
            assert len(row) == sum(24 - abs(place) for place in places)
        else:
            assert len(np.unique(along)) == 24
            assert len(row) == 24 * len(places)


def test_the_views_differ_in_noise_of_the_stated_size(data: GlyphLab, noiseless: GlyphLab) -> None:
    # On the line nothing is cut off: 140 is more than three deviations from 0 and from 255.
    line = noiseless.images == np.float32(LINE) / np.float32(255)
    noise = np.where(line, (data.images - noiseless.images) * 255, np.nan)
    for view in (noise[0::2], noise[1::2]):
        assert np.nanstd(view) == pytest.approx(NOISE, rel=0.02)
        assert np.nanmean(view) == pytest.approx(-0.5, abs=1)  # rounded down; 3 standard errors
    both = line[0::2]
    assert abs(np.corrcoef(noise[0::2][both], noise[1::2][both])[0, 1]) < 0.03


def test_pixels_are_whole_255ths(data: GlyphLab) -> None:
    levels = np.rint(data.images * 255)
    assert np.array_equal(levels.astype(np.float32) / np.float32(255), data.images)


def test_rows_are_by_scene_and_refuse_what_is_not_there(data: GlyphLab) -> None:
    first, second = data.rows("test", 0), data.rows("test", 1)
    assert data.scene_ids[first].tolist() == data.scene_ids[second].tolist() == sorted(data.scene_ids[first])
    assert sorted([*first, *second]) == data.rows("test").tolist()
    with pytest.raises(InputError, match=r"(?s)split='tset': one of 'train', 'val', 'test'.*view=2: 0 or 1"):
        data.rows("tset", 2)


def test_corrupted_test_is_the_test_images_in_the_order_of_the_table(data: GlyphLab) -> None:
    again = corrupt(data.images[data.rows("test")], CORRUPTED_TEST_SEVERITY, data.seed)
    assert np.array_equal(again, data.corrupted_test)
    likeness = np.array([np.corrcoef(a.ravel(), b.ravel())[0, 1] for a, b in zip(
        data.corrupted_test, data.images[data.rows("test")], strict=True)])  # fmt: skip
    assert likeness.min() > 0.1


def test_severity_nothing_gives_the_images_back(data: GlyphLab) -> None:
    assert np.array_equal(corrupt(data.images, 0, 9), data.images)


def test_each_severity_blackens_a_square_of_its_size_and_adds_its_noise() -> None:
    grey = np.full((200, 1, 24, 24), 128 / 255, dtype=np.float32)
    for severity in SEVERITIES[1:]:
        side = 2 + 2 * severity
        spoilt = corrupt(grey, severity, 3)
        assert spoilt.shape == grey.shape
        windows = np.lib.stride_tricks.sliding_window_view(spoilt[:, 0], (side, side), axis=(1, 2))
        black = (windows == 0).all(axis=(3, 4))
        assert black.any(axis=(1, 2)).all()
        corners = {(int(row), int(column)) for _, row, column in np.argwhere(black)}
        assert len(corners) > 20
        assert {row for row, _ in corners} >= {0, 24 - side}  # the square reaches both borders
        if severity == 1:
            kept = spoilt[spoilt > 0] * 255
            assert kept.std() == pytest.approx(NOISE, rel=0.02)
    # The same noise at every severity, scaled.
    mild, strong = (corrupt(grey, severity, 3) - grey for severity in (1, 2))
    whole = (mild > -0.4) & (strong > -0.4) & (strong < 0.4)
    assert np.abs(2 * mild - strong)[whole].max() <= 2 / 255


def test_an_images_corruption_does_not_hang_on_those_behind_it(data: GlyphLab) -> None:
    assert np.array_equal(corrupt(data.images[:5], 3, 1), corrupt(data.images[:9], 3, 1)[:5])
    assert not np.array_equal(corrupt(data.images[:5], 3, 1), corrupt(data.images[:5], 3, 2))
    assert corrupt(data.images[:0], 3).shape == (0, 1, 24, 24)


def test_the_argument_is_left_as_it_was(data: GlyphLab) -> None:
    before = data.images.copy()
    corrupt(data.images, 5)
    assert np.array_equal(before, data.images)


@pytest.mark.parametrize(
    ("images", "severity", "said"),
    [
        (np.zeros((2, 24, 24)), 1, r"shape \(2, 24, 24\); \(n, 1, 24, 24\) is needed"),
        (np.zeros((2, 1, 24, 24), dtype=np.uint8), 1, "dtype uint8; floats from 0 to 1"),
        (np.stack([np.zeros((1, 24, 24)), np.full((1, 24, 24), 2.0)]), 1, "1 images do not, first rows: 1"),
        (np.full((1, 1, 24, 24), np.nan), 1, "1 images do not, first rows: 0"),
        (np.zeros((1, 1, 24, 24)), 6, "severity=6: one of 0, 1, 2, 3, 4, 5"),
        (np.zeros((1, 1, 24, 24)), True, "severity=True"),
        (np.zeros((1, 1, 24, 24)), 1.0, r"severity=1\.0"),
        (np.zeros((1, 1, 24, 24)), None, "severity=None"),
        (np.full((1, 1, 24, 24), -1.0), 9, r"(?s)2 problems.*severity=9.*first rows: 0"),
    ],
)
def test_what_cannot_be_corrupted_is_told(images: Any, severity: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        corrupt(images, severity)


@pytest.mark.parametrize("seed", [-1, 1.0, True, "2", None])
def test_a_seed_is_a_whole_number_from_0(seed: Any) -> None:
    with pytest.raises(InputError, match="seed=.*: a whole number from 0"):
        generate_glyphlab(seed)
    with pytest.raises(InputError, match="seed=.*: a whole number from 0"):
        corrupt(np.zeros((1, 1, 24, 24)), 1, seed)


def test_what_is_written_reads_back(data: GlyphLab, tmp_path: Path) -> None:
    paths = data.write(tmp_path / "new" / "data")
    assert [path.name for path in paths] == ["images.npy", "corrupted_test.npy", "metadata.csv"]
    assert sorted(path.name for path in paths[0].parent.iterdir()) == sorted(path.name for path in paths)
    for path, array in zip(paths, (data.images, data.corrupted_test), strict=False):
        assert np.array_equal(np.load(path, allow_pickle=False), array)
    with paths[2].open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["index", "scene_id", "view_id", "split", "label"]
    assert [int(row["index"]) for row in rows] == list(range(360))
    for column, values in (("scene_id", data.scene_ids), ("split", data.splits), ("label", data.labels)):
        assert [row[column] for row in rows] == values.tolist()
    assert [int(row["view_id"]) for row in rows] == data.view_ids.tolist()


def test_written_again_it_stays_and_other_files_are_not_written_over(data: GlyphLab, tmp_path: Path) -> None:
    data.write(tmp_path)
    data.write(tmp_path)
    (tmp_path / "images.npy").unlink()
    theirs = (tmp_path / "metadata.csv").read_text().replace("test", "tset")
    for text in ("index,mine\n", theirs):
        (tmp_path / "metadata.csv").write_text(text)
        with pytest.raises(InputError, match=r"'metadata\.csv' of other content is there and is not written over"):
            data.write(tmp_path)
        assert (tmp_path / "metadata.csv").read_text() == text
    assert not (tmp_path / "images.npy").exists()
