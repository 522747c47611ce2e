"""What is a pair, what is not, and how pairs are counted, grouped and told."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps

from visual_search.errors import DimensionError, InputError, NonFiniteError, ZeroVectorError
from visual_search.formats.results import ImageLocation
from visual_search.ids import Ids
from visual_search.leaks import finding
from visual_search.leaks.finding import find_leaks
from visual_search.leaks.roles import Role
from visual_search.leaks.signatures import signature_of, signatures_of
from visual_search.leaks.thresholds import LeakThresholds
from visual_search.testing.textures import texture

Make = Any


def kinds(report: Any) -> set[tuple[str, Any, Any]]:
    return {(pair.kind, pair.first.id, pair.second.id) for pair in report.pairs}


class TestPlainPictures:
    def test_black_10_by_20_and_20_by_10_are_no_duplicates(self, role: Make) -> None:
        report = find_leaks(
            [role("query", [Image.new("RGB", (10, 20))]), role("gallery", [Image.new("RGB", (20, 10))])],
            mirrored=True,
        )
        assert report.clean
        assert [counts.plain for counts in report.roles] == [1, 1]
        assert "2 pictures without detail (uniform or smooth) compared by pixels only" in report.words()

    def test_uniform_pictures_of_any_colour_are_apart_and_equal_ones_are_exact(self, role: Make) -> None:
        colours = ["black", "white", "red", "gray"]
        query = role("query", {c: Image.new("RGB", (32, 32), c) for c in colours})
        gallery = role("gallery", {f"{c} again": Image.new("RGB", (32, 32), c) for c in colours})
        assert kinds(find_leaks([query, gallery])) == {("same_pixels", c, f"{c} again") for c in colours}

    def test_smooth_gradients_are_plain(self, role: Make) -> None:
        ramp = Image.linear_gradient("L").convert("RGB")
        slightly = ramp.point(lambda value: min(255, value + 3))
        report = find_leaks([role("query", [ramp]), role("gallery", [slightly])])
        assert report.clean
        assert report.roles[0].plain == 1


class TestRules:
    def test_the_same_thing_in_another_colour_is_another_picture(self, role: Make) -> None:
        grey = texture(1).convert("L")
        red, blue = (ImageOps.colorize(grey, "black", colour) for colour in ("#ff6040", "#60a0ff"))
        assert find_leaks([role("query", [red]), role("gallery", [blue])]).clean
        loose = LeakThresholds(color=255)
        assert len(find_leaks([role("query", [red]), role("gallery", [blue])], thresholds=loose).pairs) == 1

    def test_each_threshold_alone_can_keep_two_pictures_apart(self, role: Make) -> None:
        picture = texture(2, (200, 160))
        copy = picture.crop((2, 1, 199, 159)).resize((100, 80))
        roles = [role("query", [picture]), role("gallery", [copy])]
        (pair,) = find_leaks(roles, thresholds=LeakThresholds(12, 64, 0.5, 60)).pairs
        assert pair.bits64 is not None
        assert pair.bits256 is not None
        assert pair.detail is not None
        at_it = LeakThresholds(pair.bits64, pair.bits256, pair.detail - 1e-4, 60)
        assert find_leaks(roles, thresholds=at_it).pairs == (pair,)
        assert pair.bits256 > 0
        assert find_leaks(roles, thresholds=LeakThresholds(12, pair.bits256 - 1, 0.5, 60)).clean
        assert find_leaks(roles, thresholds=LeakThresholds(12, 64, pair.detail + 1e-3, 60)).clean
        if pair.bits64:
            assert find_leaks(roles, thresholds=LeakThresholds(pair.bits64 - 1, 64, 0.5, 60)).clean

    def test_thresholds_are_checked_all_at_once(self) -> None:
        with pytest.raises(InputError, match=r"5 problems(.|\n)*radius64=65(.|\n)*cosine=1.5"):
            LeakThresholds(65, True, 0, 256, 1.5)  # noqa: FBT003 - what is refused

    def test_a_picture_that_is_its_own_mirror_image_is_one_pair(self, role: Make) -> None:
        half = texture(3, (40, 60))
        whole = Image.new("RGB", (80, 60))
        whole.paste(half, (0, 0))
        whole.paste(ImageOps.mirror(half), (40, 0))
        report = find_leaks([role("query", [whole]), role("gallery", [whole.resize((160, 120))])], mirrored=True)
        assert [pair.kind for pair in report.pairs] == ["near"]
        assert report.pairs_by_kind["mirrored"] == 0


class TestRoles:
    def test_pairs_are_of_two_roles_in_their_order(self, role: Make) -> None:
        a, b = texture(4), texture(5)
        train = role("train", {"t": a.resize((48, 40)), "t again": a})
        report = find_leaks([train, role("gallery", {"g": a, "other": b}), role("query", {"q": texture(6)})])
        assert [counts.name for counts in report.roles] == ["query", "gallery", "train"]
        assert kinds(report) == {("near", "g", "t"), ("same_pixels", "g", "t again")}
        assert report.flagged == {"query": (), "gallery": ("g",), "train": ("t", "t again")}
        assert report.matches("gallery", "train") == {"g": ("t again", "t")}

    def test_within_a_role_only_where_asked(self, role: Make) -> None:
        a = texture(7)
        roles = [role("gallery", {"g": a, "h": a, "small": a.resize((48, 40))}), role("query", {"q": texture(8)})]
        assert find_leaks(roles).clean
        report = find_leaks(roles, within=True)
        assert kinds(report) == {("same_pixels", "g", "h"), ("near", "g", "small"), ("near", "h", "small")}
        assert report.flagged["gallery"] == ("g", "h", "small")

    def test_one_file_in_both_roles_is_a_self_match_and_a_copy_is_not(self, role: Make, tmp_path: Path) -> None:
        a = texture(9)
        (tmp_path / "a.png").write_bytes(b"")
        (tmp_path / "link.png").symlink_to(tmp_path / "a.png")
        query = role("query", {"q": a}, places={"q": ImageLocation(tmp_path / "link.png")})
        places = {"g": ImageLocation(tmp_path / "a.png"), "copy": ImageLocation(tmp_path / "copy.png")}
        gallery = role("gallery", {"g": a, "copy": a}, places=places)
        report = find_leaks([query, gallery])
        assert kinds(report) == {("same_item", "q", "g"), ("same_pixels", "q", "copy")}
        assert report.pairs_by_kind["same_item"] == report.pairs_by_kind["same_pixels"] == 1

    def test_members_of_one_archive_are_different_files(self, role: Make) -> None:
        a = texture(10)
        query = role("query", {"q": a}, places={"q": ImageLocation(Path("p.zip"), "1.png")})
        gallery = role("gallery", {"g": a}, places={"g": ImageLocation(Path("p.zip"), "2.png")})
        assert [pair.kind for pair in find_leaks([query, gallery]).pairs] == ["same_pixels"]

    def test_what_cannot_be_compared_is_refused(self, role: Make) -> None:
        one = role("query", [texture(1)])
        with pytest.raises(InputError, match="give a second role"):
            find_leaks([one])
        with pytest.raises(InputError, match="may be given once"):
            find_leaks([one, one])
        with pytest.raises(InputError, match="no pictures"):
            find_leaks([role("query", []), role("gallery", [])])
        with pytest.raises(InputError, match="max_pairs=0"):
            find_leaks([one, role("gallery", [texture(2)])], max_pairs=0)
        with pytest.raises(InputError, match=r"2 problems(.|\n)*query, gallery or train(.|\n)*signatures, vectors"):
            Role("test", Ids(["a"]))  # type: ignore[arg-type]
        with pytest.raises(InputError, match="need one each"):
            Role("query", Ids(["a"]), signatures_of([]))
        with pytest.raises(InputError, match="need a row each"):
            Role("query", Ids(["a"]), vectors=np.ones((2, 3), dtype=np.float32))
        with pytest.raises(NonFiniteError, match="'a'"):
            Role("query", Ids(["a"]), vectors=np.array([[np.nan]], dtype=np.float32))


class TestCounting:
    def test_every_pair_is_counted_and_only_some_are_listed(self, role: Make) -> None:
        a, b = texture(11), texture(12)
        query = role("query", [a, a, a.resize((48, 40)), b])
        gallery = role("gallery", [a, a, a.resize((48, 40)), a.resize((192, 160))])
        whole = find_leaks([query, gallery])
        assert len(whole.pairs) == 12 == sum(whole.pairs_by_kind.values())
        assert Counter(pair.kind for pair in whole.pairs) == {"same_pixels": 5, "near": 7}
        assert len({(pair.first.id, pair.second.id) for pair in whole.pairs}) == 12
        few = find_leaks([query, gallery], max_pairs=5)
        assert few.pairs_by_kind == whole.pairs_by_kind
        assert few.flagged == whole.flagged
        assert (len(few.pairs), few.pairs_left_out) == (5, 7)
        assert "only the first 5 pairs are listed; all are counted" in few.words()
        with pytest.raises(InputError, match="7 pairs are not listed"):
            few.matches("query", "gallery")

    def test_thousands_of_copies_are_counted_without_being_spelt_out(self) -> None:
        signatures = np.repeat(signature_of(texture(13))[None], 30_000)
        roles = [
            Role("query", Ids(range(30_000)), signatures),
            Role("gallery", Ids(range(30_000)), signatures),
        ]
        report = find_leaks(roles, max_pairs=10)
        assert report.pairs_by_kind["same_pixels"] == 900_000_000
        assert len(report.pairs) == 10
        assert len(report.flagged["query"]) == 30_000

    def test_a_film_is_refused_before_memory_is_full(self, role: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(finding, "MOST_PICTURE_PAIRS", 3)
        a = texture(14)
        sizes = [(80 + n, 70) for n in range(2)]
        roles = [role(name, [a.resize(size) for size in sizes]) for name in ("query", "gallery")]
        with pytest.raises(InputError, match="more than 3 pairs of distinct pictures"):
            find_leaks([roles[0], role("gallery", [a.resize((90 + n, 80)) for n in range(2)])])

    def test_a_chain_is_one_group_and_says_that_it_is_one(self, role: Make) -> None:
        a = texture(15, (600, 480))
        steps = [a.crop((shift, 0, 400 + shift, 480)) for shift in range(0, 12, 2)]
        report = find_leaks([role("gallery", steps)], within=True)
        (group,) = report.groups
        assert group.pictures == 6
        assert not group.complete
        assert not group.long
        assert (
            "1 group chained: not every two pictures in it are alike; the longest, group 1, has 6" in report.words()
        )

    def test_progress_ends_where_it_said(self, role: Make) -> None:
        class Bar:
            total = done = 0

            def start(self, total: int | None) -> None:
                assert total is not None
                self.total += total

            def advance(self, count: int) -> None:
                self.done += count

        bar = Bar()
        vectors = np.eye(3, dtype=np.float32)
        query = role("query", [texture(n) for n in range(3)], vectors=vectors)
        gallery = role("gallery", [texture(n) for n in range(3, 6)], vectors=vectors[::-1].copy())
        find_leaks([query, gallery], mirrored=True, thresholds=LeakThresholds(cosine=0.9), progress=bar)
        assert bar.total == bar.done == 9


class TestEmbeddings:
    def test_pairs_at_the_threshold_are_found_whatever_the_block(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from visual_search.leaks import embedding_duplicates

        rng = np.random.default_rng(3)
        query = rng.normal(size=(40, 8)).astype(np.float32)
        gallery = rng.normal(size=(70, 8)).astype(np.float32)
        gallery[5] = 3 * query[7]
        roles = [
            Role("query", Ids([f"q{n}" for n in range(40)]), vectors=query),
            Role("gallery", Ids([f"g{n}" for n in range(70)]), vectors=gallery),
        ]
        unit_q = query.astype(np.float64) / np.linalg.norm(query.astype(np.float64), axis=1, keepdims=True)
        unit_g = gallery.astype(np.float64) / np.linalg.norm(gallery.astype(np.float64), axis=1, keepdims=True)
        cosines = unit_q @ unit_g.T
        wanted = {(f"q{a}", f"g{b}") for a, b in zip(*np.nonzero(cosines >= 0.8), strict=True)}
        assert ("q7", "g5") in wanted
        assert len(wanted) > 5
        for block in (2048, 16):
            monkeypatch.setattr(embedding_duplicates, "_BLOCK", block)
            report = find_leaks(roles, thresholds=LeakThresholds(cosine=0.8))
            assert {(pair.first.id, pair.second.id) for pair in report.pairs} == wanted
            assert {pair.kind for pair in report.pairs} == {"embedding"}
        assert find_leaks(roles, thresholds=LeakThresholds(cosine=1.0)).matches("query", "gallery") == {
            "q7": ("g5",)
        }

    def test_one_id_in_both_roles_is_a_self_match_where_there_are_only_vectors(self) -> None:
        vectors = np.eye(2, dtype=np.float32)
        roles = [Role(name, Ids(["a", "b"]), vectors=vectors) for name in ("query", "gallery")]
        report = find_leaks(roles, thresholds=LeakThresholds(cosine=0.9))
        assert kinds(report) == {("same_item", "a", "a"), ("same_item", "b", "b")}

    def test_vectors_that_cannot_be_compared_are_refused(self, role: Make) -> None:
        two, three = np.eye(2, dtype=np.float32), np.eye(2, 3, dtype=np.float32)
        query = Role("query", Ids(["a", "b"]), vectors=two)
        cosine = LeakThresholds(cosine=0.9)
        with pytest.raises(InputError, match="give thresholds with a cosine"):
            find_leaks([query, Role("gallery", Ids(["c", "d"]), vectors=two)])
        with pytest.raises(DimensionError, match="different dimensions"):
            find_leaks([query, Role("gallery", Ids(["c", "d"]), vectors=three)], thresholds=cosine)
        with pytest.raises(InputError, match="no vectors for 'gallery'"):
            find_leaks([query, role("gallery", [texture(1)])], thresholds=cosine)
        with pytest.raises(ZeroVectorError):
            find_leaks([query, Role("gallery", Ids(["c", "d"]), vectors=0 * two)], thresholds=cosine)


class TestMetadata:
    def test_groups_of_train_and_views_in_both_roles(self, role: Make) -> None:
        query = role("query", {"q1": texture(1), "q2": texture(2)})
        gallery = role("gallery", {"g1": texture(3), "g2": texture(4)})
        train = role("train", {"t1": texture(5)})
        for one, groups, views in (
            (query, {"q1": "ann", "q2": "bob"}, {"q1": "left", "q2": "left"}),
            (gallery, {"g1": "ann", "g2": "bob"}, {"g1": "left", "g2": "right"}),
            (train, {"t1": "bob"}, {}),
        ):
            object.__setattr__(one, "groups", groups)
            object.__setattr__(one, "views", views)
        report = find_leaks([query, gallery, train])
        assert not report.pairs
        assert not report.clean
        assert [(unit.kind, unit.group, unit.view, unit.counts) for unit in report.shared] == [
            ("group", "bob", None, {"query": 1, "train": 1}),
            ("group", "bob", None, {"gallery": 1, "train": 1}),
            ("view", "ann", "left", {"query": 1, "gallery": 1}),
        ]
        assert "group 'ann', view 'left' in both roles: 1 of query and 1 of gallery" in report.words()


def test_the_report_is_json_with_paths_and_strange_names(role: Make, tmp_path: Path) -> None:
    a = texture(16)
    strange = "a\udce9.png"
    gallery = role("gallery", {"g": a.resize((48, 40))}, places={"g": ImageLocation(Path("z.zip"), strange)})
    report = find_leaks([role("query", {"q": a}, places={"q": ImageLocation(Path("x/q.png"))}), gallery])
    report.write(tmp_path / "leaks.json")
    told = json.loads((tmp_path / "leaks.json").read_text("ascii"))
    assert told["pairs"][0]["first"] == {"role": "query", "id": "q", "path": str(Path("x/q.png"))}
    assert told["pairs"][0]["second"]["member"] == strange
    assert told["flagged"] == {"query": ["q"], "gallery": ["g"]}
    assert told["clean"] is False
    assert told["thresholds"]["radius64"] == 6
