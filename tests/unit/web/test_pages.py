"""What holds for every page, whoever adds one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from visual_search.web.pages import all_pages

Explore = Callable[..., TestClient]
HTML = {"accept": "text/html"}


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.path)
def test_page_and_twin_answer_alike(explore: Explore, photo_index: Path, page: Any) -> None:
    client = explore(indexes=(photo_index,))
    html, twin = client.get(page.path, headers=HTML), client.get(f"{page.path}.json", headers=HTML)
    assert html.status_code == twin.status_code
    assert html.headers["content-type"].startswith("text/html")
    assert twin.headers["content-type"] == "application/json"
    json.loads(twin.content, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    if html.status_code == 200:
        assert f'href="{page.path}.json"' in html.text
        assert html.text.count("<h1") == 1


def test_every_twin_is_described(explore: Explore) -> None:
    described = explore().get("/openapi.json").json()["paths"]
    assert {f"{page.path}.json" for page in all_pages()} <= described.keys()


def test_the_first_page_with_something_to_show_opens(explore: Explore, photo_index: Path) -> None:
    assert explore(indexes=(photo_index,)).get("/").headers["location"] == "/search"
    empty = explore().get("/").headers["location"]
    assert empty != "/search"
    assert explore().get(empty, headers=HTML).status_code == 200
    assert 'href="/search"' not in explore().get(empty, headers=HTML).text
