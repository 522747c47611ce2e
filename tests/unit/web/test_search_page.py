"""The search page: every way to ask, every state in the address, the twin equal to the page."""

import html
import io
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from starlette.testclient import TestClient

from visual_search.errors import MissingDependencyError
from visual_search.indexing.embedders import registry
from visual_search.indexing.embedders.contract import describe
from visual_search.indexing.index_table import VectorIndex
from visual_search.web.addresses import address
from visual_search.workflows.search_index import search_index

Explore = Callable[..., TestClient]
HTML = {"accept": "text/html"}
FORGED = "<img src=x onerror=alert(1)>"
ODD_IDS = [
    "<script>alert(1)</script>.jpg",
    "\"quoted\" 'twice'.jpg",
    "a/b/../c?x=1&y=2#z.jpg",
    "..\\..\\windows.jpg",
    "../../etc/passwd",
    "%2e%2e%2f%00.jpg",
    "совы/сова 1.jpg",
    "写真/猫.jpg",
    "صورة/قطة.jpg",
    "👩🏽‍🚀.png",
    "{{ 7 * 7 }}",
    " spaced ",
    "+plus+",
    "x" * 10_000,
    "猫" * 5_000,  # the client takes no longer addresses; test_serving has one
]


@pytest.fixture
def photos_client(explore: Explore, photo_index: Path) -> TestClient:
    return explore(indexes=(photo_index,))


@pytest.fixture(scope="module")
def odd_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    index = VectorIndex(dimension=4)
    index.add(ODD_IDS, np.random.default_rng(0).normal(size=(len(ODD_IDS), 4)))
    path = tmp_path_factory.mktemp("odd") / "odd <b>.index"
    index.save(path)
    return path


def png(shade: tuple[int, int, int] = (200, 30, 30)) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (50, 40), shade).save(stream, "PNG")
    return stream.getvalue()


def shown_ids(text: str) -> list[str]:
    """Ids of the results on a page, as a reader sees them."""
    listed = text.partition('<ol class="hits"')[2].partition("</ol>")[0]
    return [html.unescape(one.replace("<wbr>", "")) for one in re.findall(r'<bdi class="id">(.*?)</bdi>', listed)]


def test_the_results_are_those_of_the_verb(photos_client: TestClient, photo_index: Path) -> None:
    found = photos_client.get("/search.json", params={"item": "set-0/4.png", "k": 5}).json()
    expected = search_index(photo_index, item="set-0/4.png", k=5).response
    assert [(one["item"], one["score"], one["rank"]) for one in found["results"]] == [
        (one.image_id, one.score, one.rank) for one in expected
    ]
    assert found["index"]["embedder"]["name"] == "histogram"
    assert found["index"]["engine"] == "flat"


def test_page_and_twin_show_the_same(photos_client: TestClient) -> None:
    params = {"item": "set-1/3.png", "k": "7", "hide": "1", "alike": "0.9", "seed": "3"}
    twin = photos_client.get("/search.json", params=params).json()
    page = photos_client.get("/search", params=params, headers=HTML).text
    assert shown_ids(page) == [one["item"] for one in twin["results"]]
    assert twin["state"] == {
        "item": "set-1/3.png", "upload": None, "text": None, "k": 7, "hide": True, "alike": 0.9, "seed": 3
    }  # fmt: skip
    addresses = {html.unescape(one) for one in re.findall(r'(?:href|src)="([^"]+)"', page)}
    for one in (*twin["results"], *twin["some_items"]):
        assert {one["search"], one["picture"]} <= addresses
    assert "/search.json?item=set-1%2F3.png&k=7&hide=1&alike=0.9&seed=3" in addresses


def test_a_result_is_the_next_query_with_the_same_settings(photos_client: TestClient) -> None:
    first = photos_client.get(
        "/search.json", params={"item": "set-0/0.png", "k": 3, "hide": 1, "alike": 0.9}
    ).json()
    following = first["results"][0]
    again = photos_client.get(following["search"].replace("/search", "/search.json")).json()
    assert again["query"]["name"] == following["item"]
    assert again["state"]["k"] == 3
    assert again["state"]["hide"] is True
    assert following["item"] not in [one["item"] for one in again["results"]]


def test_a_picture_given_is_searched_by_and_its_address_can_be_asked_again(photos_client: TestClient) -> None:
    answer = photos_client.post(
        "/search/upload", files={"picture": ("x.png", png())}, data={"k": "4"}, headers=HTML
    )
    assert answer.status_code == 303
    onward = answer.headers["location"]
    assert parse_qs(urlsplit(onward).query)["k"] == ["4"]
    twin = photos_client.get(onward.replace("/search", "/search.json")).json()
    assert len(twin["results"]) == 4
    assert (twin["query"]["width"], twin["query"]["height"]) == (50, 40)
    assert photos_client.get(onward.replace("/search", "/search.json")).json() == twin
    shown = photos_client.get(twin["query"]["picture"])
    assert shown.headers["content-type"] == "image/webp"
    assert Image.open(io.BytesIO(shown.content)).size == (50, 40)


def test_a_program_is_told_the_name_of_its_picture(photos_client: TestClient) -> None:
    answer = photos_client.post("/search/upload", files={"picture": png()})
    told = answer.json()
    assert answer.status_code == 201
    assert photos_client.get(told["search"]).json()["query"]["name"] == told["upload"]


def test_a_picture_that_is_no_longer_kept_is_told(explore: Explore, photo_index: Path) -> None:
    client = explore(indexes=(photo_index,), upload_seconds=-1.0)
    told = client.post("/search/upload", files={"picture": png()}).json()
    error = client.get(told["search"]).json()["error"]
    assert (error["kind"], error["status"]) == ("UnknownIdError", 404)
    assert "give it again" in error["message"]


def test_several_queries_at_once_and_wrong_settings_are_refused(photos_client: TestClient) -> None:
    both = photos_client.get("/search.json?item=set-0/0.png&text=red")
    assert both.json()["error"]["message"] == "give one of item, upload and text; got item, text"
    wrong = photos_client.get("/search.json?k=0&alike=7")
    assert wrong.status_code == 422
    assert [one["where"] for one in wrong.json()["error"]["details"]] == ["query.k", "query.alike"]
    words = photos_client.get("/search.json?text=red")
    assert (words.status_code, words.json()["error"]["kind"]) == (400, "InputError")
    unknown = photos_client.get("/search.json?item=4.PNG").json()["error"]
    assert unknown["kind"] == "UnknownIdError"
    assert "set-0/4.png" in unknown["message"]


def test_ids_of_every_kind_come_back_as_they_were(explore: Explore, odd_index: Path) -> None:
    client = explore(indexes=(odd_index,))
    for item in ODD_IDS:
        twin = client.get(address("/search.json", item=item, k=20)).json()
        assert twin["query"]["name"] == item
        assert {one["item"] for one in twin["results"]} == set(ODD_IDS) - {item}
        back = client.get(twin["results"][0]["search"].replace("/search", "/search.json")).json()
        assert back["query"]["name"] == twin["results"][0]["item"]


def test_ids_and_names_are_escaped_on_the_page(explore: Explore, odd_index: Path) -> None:
    text = explore(indexes=(odd_index,)).get("/search", params={"item": ODD_IDS[0], "k": 20}, headers=HTML).text
    assert "<script>alert" not in text
    assert "49" not in re.sub(r"href=\"[^\"]*\"", "", text.partition("<main")[2].partition("Start from")[0])
    assert "odd <b>" not in text
    assert "odd &lt;b&gt;.index" in text
    assert "x" * 200 not in re.sub(r"(?:href|value)=\"[^\"]*\"", "", text), (
        "long ids are shortened where they are shown"
    )


def test_words_of_the_address_are_escaped_in_refusals(photos_client: TestClient) -> None:
    for path in (f"/search?item={FORGED}", f"/search?index={FORGED}", f"/search?k={FORGED}", f"/{FORGED}"):
        text = photos_client.get(path, headers=HTML).text
        assert "<img src=x" not in text


def test_an_index_of_vectors_alone_is_searched_by_item(explore: Explore, odd_index: Path) -> None:
    client = explore(indexes=(odd_index,))
    twin = client.get("/search.json", params={"item": ODD_IDS[0]}).json()
    assert twin["takes"] == {
        "image": False, "text": False, "why_not": "the index does not say what made its vectors"
    }  # fmt: skip
    assert {one["picture"] for one in twin["results"]} == {None}
    page = client.get("/search", params={"item": ODD_IDS[0]}, headers=HTML).text
    assert "no picture" in page
    assert 'type="file"' not in page
    assert "an index that <code>visual-search index</code> makes from images takes pictures too" in page
    refused = client.post("/search/upload", files={"picture": png()})
    assert (refused.status_code, refused.json()["error"]["kind"]) == (400, "InputError")
    message = refused.json()["error"]["message"]
    assert "search by one of its items, or make the index from images with `visual-search index`" in message


@pytest.mark.parametrize("odd", ["two\nlines.jpg", "two\r\nlines.jpg", "nul\0.jpg", "red\x1b[31m.jpg"])
def test_an_id_that_no_form_can_send_is_found_by_what_it_sends(explore: Explore, tmp_path: Path, odd: str) -> None:
    index = VectorIndex(dimension=2)
    index.add(["plain.jpg", odd], [[1, 0], [0, 1]])
    index.save(tmp_path / "odd.index")
    client = explore(indexes=(tmp_path / "odd.index",))
    page = client.get("/search", params={"item": odd}, headers=HTML).text
    for sent in re.findall(r'<input[^>]* name="item" value="([^"]*)"', page):
        told = client.get("/search.json", params={"item": html.unescape(sent)}).json()
        assert told["query"]["name"] == odd


def test_whole_numbers_are_ids(explore: Explore, tmp_path: Path) -> None:
    index = VectorIndex(dimension=2)
    index.add([7, -3, 10**12], [[1, 0], [0.9, 0.1], [0, 1]])
    index.save(tmp_path / "numbers")
    client = explore(indexes=(tmp_path / "numbers",))
    twin = client.get("/search.json?item=-3").json()
    assert [one["item"] for one in twin["results"]] == [7, 10**12]
    for wrong in ("7.0", "seven", "9" * 30, "٧"):
        assert client.get("/search.json", params={"item": wrong}).status_code == 404


def test_two_indexes_are_told_apart_by_name(explore: Explore, photo_index: Path, odd_index: Path) -> None:
    client = explore(indexes=(photo_index, odd_index, photo_index))
    twin = client.get("/search.json").json()
    assert twin["indexes"] == ["photos.index", "odd <b>.index", "photos.index (2)"]
    other = client.get("/search.json", params={"index": "odd <b>.index"}).json()
    assert other["index"]["items"] == len(ODD_IDS)
    assert all("index=odd%20%3Cb%3E.index" in one["search"] for one in other["some_items"])
    assert client.get("/search.json", params={"index": str(photo_index)}).status_code == 404


def test_without_an_index_the_page_says_what_to_do(explore: Explore) -> None:
    answer = explore().get("/search.json")
    assert answer.status_code == 404
    assert "--index INDEX" in answer.json()["error"]["message"]


def test_near_duplicates_are_hidden_and_counted(explore: Explore, tmp_path: Path) -> None:
    index = VectorIndex(dimension=2)
    index.add(["q", "a", "a again", "b"], [[1, 0], [1, 0.2], [1, 0.2001], [0, 1]])
    index.save(tmp_path / "copies")
    client = explore(indexes=(tmp_path / "copies",))
    shown = client.get("/search.json?item=q").json()
    hidden = client.get("/search.json?item=q&hide=1&alike=0.999").json()
    assert [one["item"] for one in shown["results"]] == ["a", "a again", "b"]
    assert [one["item"] for one in hidden["results"]] == ["a", "b"]
    assert hidden["hidden"] == 1


class WordsAndPictures:
    """An embedder that reads words: each of a few names a colour."""

    name, dimension, preprocessing, weights_hash, batch_size, decode_size = (
        "colours",
        3,
        "mean colour",
        None,
        8,
        None,
    )

    def prepare(self, image: Image.Image) -> npt.NDArray[np.float32]:
        return np.asarray(np.asarray(image, dtype=np.float32).mean(axis=(0, 1)), dtype=np.float32)

    def embed(self, batch: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return batch.copy()

    def embed_text(self, texts: list[str]) -> npt.NDArray[np.float32]:
        return np.array([{"red": [1, 0, 0], "green": [0, 1, 0]}[text] for text in texts], dtype=np.float32)


def test_words_are_searched_by_where_the_model_reads_them(
    explore: Explore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = WordsAndPictures()
    index = VectorIndex(embedder=describe(embedder))
    index.add(["rose", "leaf", "sky"], [[1, 0.1, 0], [0.1, 1, 0], [0, 0.1, 1]])
    index.save(tmp_path / "colours")
    monkeypatch.setattr(registry, "load_embedder", lambda _: embedder)
    client = explore(indexes=(tmp_path / "colours",))
    twin = client.get("/search.json?text=green&k=2").json()
    assert twin["takes"] == {"image": True, "text": True, "why_not": None}
    assert [one["item"] for one in twin["results"]] == ["leaf", "rose"]
    page = client.get("/search?text=red", headers=HTML).text
    assert "<blockquote>red</blockquote>" in page
    assert 'value="red"' in page
    given = client.post("/search/upload", files={"picture": png((10, 200, 10))}).json()
    assert client.get(given["search"]).json()["results"][0]["item"] == "leaf"


def test_what_stands_in_the_way_of_the_embedder_is_told(
    explore: Explore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(_: object) -> None:
        raise MissingDependencyError("needs torch: pip install 'visual-search[hub]'")

    index = VectorIndex(embedder=describe(WordsAndPictures()))
    index.add(["rose", "leaf"], [[1, 0.1, 0], [0.1, 1, 0]])
    index.save(tmp_path / "colours")
    monkeypatch.setattr(registry, "load_embedder", lacking)
    client = explore(indexes=(tmp_path / "colours",))
    page = client.get("/search?item=rose", headers=HTML)
    assert page.status_code == 200
    assert "visual-search[hub]" in html.unescape(page.text)
    kept = client.post("/search/upload", files={"picture": png()})
    assert (kept.status_code, kept.json()["error"]["kind"]) == (501, "MissingDependencyError")
    refused = client.get("/search.json?text=red")
    assert (refused.status_code, refused.json()["error"]["kind"]) == (501, "MissingDependencyError")
