"""The real photographs: 400 faces, ten of each person much alike, clean and with leaks planted."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from PIL import Image, ImageOps

from visual_search import Ranking, Relevance
from visual_search.datasets.orl_faces import load_orl_faces
from visual_search.ids import Ids
from visual_search.images.decoding import decode
from visual_search.leaks.finding import find_leaks
from visual_search.leaks.impact import leak_impact
from visual_search.leaks.likeness import FloatArray, compare_small, detail_of, is_plain
from visual_search.leaks.roles import Role
from visual_search.leaks.signatures import Signatures, signatures_of
from visual_search.leaks.thresholds import LeakThresholds


@pytest.fixture(scope="module")
def pixels() -> dict[str, Image.Image]:
    return {one.id: decode(one.path.read_bytes()).pixels for one in load_orl_faces().photographs}


@pytest.fixture(scope="module")
def signed(pixels: dict[str, Image.Image]) -> Signatures:
    return signatures_of(list(pixels.values()))


def test_no_two_of_400_photographs_are_flagged(pixels: dict[str, Image.Image], signed: Signatures) -> None:
    report = find_leaks([Role("gallery", Ids(list(pixels)), signed)], within=True, mirrored=True)
    assert report.clean
    assert report.roles[0].plain == 0
    assert report.words().startswith("compared: 400 pictures of gallery\nno picture is there twice")


def test_the_most_alike_two_have_a_margin_whatever_their_hashes(signed: Signatures) -> None:
    # s33/2 and s33/10: one with the mouth closed, one with it open.
    detail = detail_of(signed)
    assert correlations(detail, detail).max() == pytest.approx(0.963, abs=0.003)
    assert correlations(detail, detail[:, :, ::-1]).max() < 0.8
    first, second = np.triu_indices(30, 1)
    likeness = compare_small(signed[:30], first.astype(np.int64), second.astype(np.int64))
    assert likeness.detail == pytest.approx(correlations(detail, detail)[first, second], abs=1e-5)
    assert not is_plain(signed).any()


def correlations(first: FloatArray, second: FloatArray) -> FloatArray:
    flat, other = first.reshape(400, -1), second.reshape(400, -1)
    products = flat @ other.T
    products /= np.linalg.norm(flat, axis=1)[:, None] * np.linalg.norm(other, axis=1)[None]
    np.fill_diagonal(products, -1)
    return products


def jpeg(image: Image.Image, quality: int) -> Image.Image:
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=quality)
    return decode(stream.getvalue()).pixels


def scaled(image: Image.Image, factor: float) -> Image.Image:
    return image.resize((round(image.width * factor), round(image.height * factor)), Image.Resampling.LANCZOS)


COPIES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "double": lambda image: scaled(image, 2),
    "half": lambda image: scaled(image, 0.5),
    "quarter": lambda image: scaled(image, 0.25),
    "square": lambda image: image.resize((64, 64)),
    "quality 90": lambda image: jpeg(image, 90),
    "quality 30": lambda image: jpeg(image, 30),
    "half, quality 50": lambda image: jpeg(scaled(image, 0.5), 50),
    "brighter": lambda image: image.point(lambda value: min(255, round(value * 1.2))),
}


@pytest.mark.parametrize("kind", COPIES)
def test_every_copy_is_found_and_nothing_else(
    pixels: dict[str, Image.Image], signed: Signatures, kind: str
) -> None:
    chosen = list(pixels)[::8]
    copies = Role("query", Ids(chosen), signatures_of([COPIES[kind](pixels[one]) for one in chosen]))
    report = find_leaks([copies, Role("gallery", Ids(list(pixels)), signed)])
    assert {(pair.first.id, pair.second.id) for pair in report.pairs} == {(one, one) for one in chosen}
    assert {pair.kind for pair in report.pairs} == {"near"}


@dataclass(frozen=True)
class Planted:
    """Photographs 6 to 10 of each person as queries, 1 to 5 as the gallery, and 40 pictures of queries in it."""

    query: dict[str, Image.Image]
    gallery: dict[str, Image.Image]
    wanted: dict[tuple[str, str], str]
    roles: list[Role]


@pytest.fixture(scope="module")
def planted(pixels: dict[str, Image.Image]) -> Planted:
    names = list(pixels)
    query = {one: pixels[one] for one in names if int(one.split("/")[1][:-4]) > 5}
    gallery = {one: pixels[one] for one in names if one not in query}
    wanted = {}
    makers: dict[str, Callable[[Image.Image, int], Image.Image]] = {
        "same_pixels": lambda image, _: image.copy(),
        "resized": lambda image, row: scaled(image, (0.5, 0.75, 1.5, 2)[row % 4]),
        "encoded": lambda image, row: jpeg(image, (40, 60, 75, 90)[row % 4]),
        "mirrored": lambda image, row: jpeg(ImageOps.mirror(image), (60, 80)[row % 2]),
    }
    queries = list(query)
    for place, (kind, make) in enumerate(makers.items()):
        for row in range(10):
            source = queries[5 * (4 * row + place) + row % 5]
            gallery[f"{kind} {row}"] = make(query[source], row)
            wanted[source, f"{kind} {row}"] = {"resized": "near", "encoded": "near"}.get(kind, kind)
    roles = [
        Role("query", Ids(queries), signatures_of(list(query.values()))),
        Role("gallery", Ids(list(gallery)), signatures_of(list(gallery.values()))),
    ]
    return Planted(query, gallery, wanted, roles)


def test_planted_leaks_are_all_found_mirrored_ones_where_asked(planted: Planted) -> None:
    plain = find_leaks(planted.roles)
    assert Counter(pair.kind for pair in plain.pairs) == {"same_pixels": 10, "near": 20}
    whole = find_leaks(planted.roles, mirrored=True)
    assert {(pair.first.id, pair.second.id): pair.kind for pair in whole.pairs} == planted.wanted
    assert len(whole.groups) == 40
    assert len(whole.flagged["query"]) == len(whole.flagged["gallery"]) == 40


def test_what_the_planted_leaks_are_worth_equals_a_plain_recount(planted: Planted) -> None:
    def person(name: str) -> str:
        source = next((query for query, copy in planted.wanted if copy == name), name)
        return source.split("/")[0]

    vectors = [
        np.stack([np.asarray(image.convert("L").resize((16, 16)), dtype=float).ravel() for image in side.values()])
        for side in (planted.query, planted.gallery)
    ]
    asked, searched = (side / np.linalg.norm(side, axis=1)[:, None] for side in vectors)
    similarity = asked @ searched.T
    queries, gallery = list(planted.query), list(planted.gallery)
    ranking = Ranking.from_similarity(similarity, query_ids=queries, gallery_ids=gallery)
    relevance = Relevance.from_dict(
        {query: {item: 1 for item in gallery if person(item) == person(query)} for query in queries}
    )
    matches = find_leaks(planted.roles, mirrored=True).matches("query", "gallery")
    found = leak_impact(ranking, relevance, matches, ["P@5"], groups={query: person(query) for query in queries})
    own = dict(planted.wanted)

    def precisions(*, copies: bool) -> dict[str, float]:
        values = {}
        for row, query in enumerate(queries):
            order = [gallery[place] for place in np.argsort(-similarity[row])]
            kept = [item for item in order if copies or (query, item) not in own]
            values[query] = sum(person(item) == person(query) for item in kept[:5]) / 5
        return values

    flagged = {query for query, _ in planted.wanted}
    as_is, without = precisions(copies=True), precisions(copies=False)
    row = found["P@5"]
    assert (found.queries, found.flagged) == (200, 40)
    assert row.all_queries == pytest.approx(np.mean(list(as_is.values())))
    assert row.flagged_only == pytest.approx(np.mean([as_is[query] for query in flagged]))
    assert row.without_flagged == pytest.approx(
        np.mean([as_is[query] for query in queries if query not in flagged])
    )
    assert row.items_ignored is not None
    assert row.items_ignored == pytest.approx(np.mean(list(without.values())))
    assert row.difference is not None
    assert row.difference.interval is not None
    assert (
        0
        < row.difference.interval.low
        < row.difference.difference
        == pytest.approx(row.all_queries - row.items_ignored)
    )


def test_a_wider_rule_shows_what_the_default_keeps_apart(
    pixels: dict[str, Image.Image], signed: Signatures
) -> None:
    wide = LeakThresholds(detail=0.95)
    report = find_leaks([Role("gallery", Ids(list(pixels)), signed)], within=True, thresholds=wide)
    assert {tuple(sorted((str(pair.first.id), str(pair.second.id)))) for pair in report.pairs} == {
        ("s14/2.pgm", "s14/3.pgm"),
        ("s33/10.pgm", "s33/2.pgm"),
        ("s34/2.pgm", "s34/3.pgm"),
    }
