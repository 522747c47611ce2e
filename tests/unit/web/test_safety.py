"""Who is served, and what every answer carries."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any
from urllib.parse import urlsplit

import pytest
from fastapi import Body
from starlette.testclient import TestClient

from visual_search.errors import InputError
from visual_search.web.app import create_app
from visual_search.web.settings import ExplorerSettings

Explore = Callable[..., TestClient]
TOKEN = "a-token-of-some-length"
HTML = {"accept": "text/html"}
FOREIGN = [
    "evil.example",
    "127.0.0.1.evil.example",
    "",
    "localhost.",
    "10.0.0.7",
    "[::1",
    "::1",
    "[::1]evil.example",
    "localhost:port",
    "evil.example@localhost",
    "localhost@evil.example",
    "localhost/evil.example",
    "localhost, evil.example",
    "2130706433",
]


def error_of(answer: object) -> dict[str, object]:
    found: dict[str, object] = answer.json()["error"]  # type: ignore[attr-defined]
    assert {"kind", "message", "status", "details"} == set(found)
    return found


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host_name_is_refused_on_loopback(explore: Explore, host: str) -> None:
    answer = explore().get("/index.json", headers={"host": host})
    assert (answer.status_code, error_of(answer)["kind"]) == (421, "WrongHost")
    assert explore().get("/index", headers={"host": host, **HTML}).status_code == 421


@pytest.mark.parametrize("host", ["localhost", "localhost:9", "127.0.0.1:8000", "[::1]:80", "LOCALHOST"])
def test_names_of_this_machine_are_taken(explore: Explore, host: str) -> None:
    assert explore().get("/index.json", headers={"host": host}).status_code == 200


def test_beyond_loopback_a_token_is_needed_to_start() -> None:
    with pytest.raises(InputError, match="a token is needed"):
        ExplorerSettings(host="0.0.0.0")
    with pytest.raises(InputError, match="at least 16"):
        ExplorerSettings(host="0.0.0.0", token="short")


def test_beyond_loopback_figures_are_taken_and_names_only_if_given(explore: Explore) -> None:
    client = explore(host="0.0.0.0", token=TOKEN, names=("photos.lan",))
    client.headers["authorization"] = f"Bearer {TOKEN}"
    assert client.get("/index.json", headers={"host": "192.168.1.5:8000"}).status_code == 200
    assert client.get("/index.json", headers={"host": "photos.lan"}).status_code == 200
    assert client.get("/index.json", headers={"host": "evil.example"}).status_code == 421


def test_without_the_token_nothing_is_told(explore: Explore) -> None:
    client = explore(token=TOKEN)
    for wrong in ("", "?token=", "?token=" + TOKEN[:-1], "?token=%ff%00"):
        answer = client.get("/index.json" + wrong)
        assert (answer.status_code, error_of(answer)["kind"]) == (401, "TokenNeeded")
    assert client.get("/index.json", headers={b"authorization": "Bearer é".encode("latin-1")}).status_code == 401
    assert client.get("/nowhere").status_code == 401, "not even which pages there are"
    assert client.post("/index").status_code == 401
    assert 'action="/token"' in client.get("/index", headers=HTML).text


def test_the_token_becomes_a_cookie_and_leaves_the_address(explore: Explore) -> None:
    client = explore(token=TOKEN)
    answer = client.get(f"/index?token={TOKEN}&index=a%26b", headers=HTML)
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert TOKEN not in cookie
    assert TOKEN not in answer.text
    assert 'content="0; url=/index?index=a%26b"' in answer.text
    assert client.get("/index.json").status_code == 200
    assert explore(token=TOKEN + "2").get("/index.json", headers={"cookie": cookie}).status_code == 401


def test_the_token_can_be_typed_in(explore: Explore) -> None:
    client = explore(token=TOKEN)
    assert client.post("/token", data={"token": "no"}).status_code == 401
    assert client.post("/token", data={"token": TOKEN}).status_code == 200
    assert client.get("/index.json").status_code == 200


def test_the_way_on_after_the_token_stays_on_this_site(explore: Explore) -> None:
    answer = explore(token=TOKEN).get(f"//evil.example/x?token={TOKEN}")
    onward = answer.text.partition("url=")[2].partition('"')[0]
    assert urlsplit(onward).netloc == ""
    assert onward.startswith("/")
    assert not onward.startswith("//")


@pytest.fixture
def posting(explore: Explore) -> TestClient:
    """An explorer with an address that can be posted to, and limits that are quickly reached."""
    client = explore(max_body_bytes=1000)

    def took(body: Annotated[bytes, Body()]) -> dict[str, int]:
        return {"took": len(body)}

    def fails() -> None:
        raise RuntimeError("secret words of the inside")

    client.app.add_api_route("/took", took, methods=["POST"])  # type: ignore[attr-defined]
    client.app.add_api_route("/fails", fails)  # type: ignore[attr-defined]
    return client


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "file://"},
        {"origin": "http://[broken"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8000"},
    ],
)
def test_a_post_from_another_site_is_refused(posting: TestClient, headers: dict[str, str]) -> None:
    answer = posting.post("/took", content=b"x", headers=headers)
    assert (answer.status_code, error_of(answer)["kind"]) == (403, "CrossSite")


@pytest.mark.parametrize(
    "headers",
    [{}, {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}],
)
def test_a_post_from_our_own_pages_is_taken(posting: TestClient, headers: dict[str, str]) -> None:
    assert posting.post("/took", content=b"x", headers=headers).json() == {"took": 1}


def test_a_long_body_is_refused_declared_or_not(posting: TestClient) -> None:
    assert posting.post("/took", content=b"x" * 1000).status_code == 200

    def pieces() -> Iterator[bytes]:
        yield from [b"x" * 300] * 4

    for content in (b"x" * 1001, pieces()):
        answer = posting.post("/took", content=content)
        assert (answer.status_code, error_of(answer)["kind"]) == (413, "TooLarge")


@pytest.mark.parametrize("announced", [b"10", b"5000"], ids=["short", "too long"])
@pytest.mark.parametrize("first", [b"", b"xyz"], ids=["nothing", "a part"])
def test_a_body_that_stops_coming_is_not_waited_for(explore: Explore, announced: bytes, first: bytes) -> None:
    app = explore(max_body_bytes=1000, body_seconds=0.05).app

    def took(body: Annotated[bytes, Body()]) -> dict[str, int]:
        return {"took": len(body)}

    app.add_api_route("/took", took, methods=["POST"])  # type: ignore[attr-defined]
    sent: list[dict[str, Any]] = []
    parts = [{"type": "http.request", "body": first, "more_body": True}] if first else []

    async def receive() -> dict[str, Any]:
        if parts:
            return parts.pop(0)
        await asyncio.sleep(60)
        raise AssertionError("waited for a body that never comes")

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/took",
        "raw_path": b"/took",
        "query_string": b"",
        "headers": [
            (b"host", b"127.0.0.1:8000"),
            (b"content-length", announced),
            (b"content-type", b"application/json"),
        ],
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 8000),
    }
    asyncio.run(asyncio.wait_for(app(scope, receive, send), 30))
    error = json.loads(b"".join(one.get("body", b"") for one in sent))["error"]
    if announced == b"10":
        assert (sent[0]["status"], error["kind"]) == (408, "RequestTimeout")
        assert "no byte of it for 0.05 s" in error["message"]
    else:
        assert (sent[0]["status"], error["kind"]) == (413, "TooLarge")
    assert (b"connection", b"close") in [(name.lower(), value) for name, value in sent[0]["headers"]]


def test_an_answer_may_take_longer_than_a_body(explore: Explore) -> None:
    client = explore(body_seconds=0.05)

    def slow(body: Annotated[bytes, Body()]) -> dict[str, int]:
        time.sleep(0.3)
        return {"took": len(body)}

    client.app.add_api_route("/slow", slow, methods=["POST"])  # type: ignore[attr-defined]
    assert client.post("/slow", content=b"x").json() == {"took": 1}


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/nowhere", 404, "NotFound"),
        ("GET", "/index.json/", 404, "NotFound"),
        ("POST", "/index", 405, "MethodNotAllowed"),
        ("GET", "/static/../app.py", 404, "NotFound"),
        ("GET", "/static/%2e%2e%2fapp.py", 404, "NotFound"),
        ("GET", "/fails", 500, "InternalError"),
    ],
)
def test_every_error_has_one_shape_and_every_answer_the_headers(
    posting: TestClient, method: str, path: str, status: int, kind: str
) -> None:
    answer = posting.request(method, path)
    assert (answer.status_code, error_of(answer)["kind"]) == (status, kind)
    assert "secret" not in answer.text
    page = posting.request(method, path, headers=HTML)
    assert page.status_code == status
    assert page.headers["content-type"].startswith("text/html")
    assert "Traceback" not in page.text
    assert "secret" not in page.text
    for one in (answer, page):
        policy = one.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert one.headers["x-content-type-options"] == "nosniff"
        assert one.headers["referrer-policy"] == "same-origin"


def test_a_head_request_has_the_headers_of_a_get_and_no_body(explore: Explore) -> None:
    client = explore()
    answer = client.head("/index")
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) == len(client.get("/index").content)


def test_no_page_holds_scripts_or_styles_of_its_own(explore: Explore) -> None:
    app = explore().app
    for word, path in app.state.navigation:  # type: ignore[attr-defined]
        text = explore().get(path, headers=HTML).text
        assert "<style" not in text, word
        assert "style=" not in text, word
        assert "<script>" not in text, word
        assert "onclick" not in text, word


def test_static_files_are_kept_under_their_hash(explore: Explore) -> None:
    client = explore()
    text = client.get("/index", headers=HTML).text
    address = text.partition('rel="stylesheet" href="')[2].partition('"')[0]
    answer = client.get(address)
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert "max-age=31536000" in answer.headers["cache-control"]
    assert "--accent" in answer.text
    assert client.get(address, headers={"if-none-match": answer.headers["etag"]}).status_code == 304


def test_an_index_that_is_not_there_is_told_at_start(tmp_path: object) -> None:
    with pytest.raises(InputError, match=r"nowhere\.index"):
        create_app(ExplorerSettings(indexes=(tmp_path / "nowhere.index",)))  # type: ignore[operator]
