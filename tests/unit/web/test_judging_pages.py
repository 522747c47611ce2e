"""What judging pages answer, asked without a network: nothing twice, nothing that tells, one shape of errors."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from visual_search import Relevance
from visual_search.cli.main import main
from visual_search.errors import InputError
from visual_search.judging.records import Verdict
from visual_search.judging.store import JudgementStore
from visual_search.judging.suggestions import suggest
from visual_search.testing.sample_pool import sample_pool
from visual_search.web.judging.app import create_judging_app
from visual_search.web.judging.room import JudgingRoom
from visual_search.web.settings import ExplorerSettings
from visual_search.workflows.open_judging import add_suggestions, open_judging, read_guideline

ADDRESS = "http://127.0.0.1:8000"
PAGES = ["/judge", "/judge/queries", "/judge/grid", "/judge/disagreements", "/judge/adjudicate", "/judge/agreement"]
Opened = Callable[..., tuple[TestClient, JudgementStore]]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_pool(tmp_path_factory.mktemp("pool"), queries=2, depth=6)


@pytest.fixture
def opened(pool: Path, tmp_path: Path) -> Iterator[Opened]:
    with ExitStack() as stack:

        def judging(guideline: str | None = None, **settings: Any) -> tuple[TestClient, JudgementStore]:
            store = stack.enter_context(open_judging(tmp_path / "judgements.db", pool))
            app = create_judging_app(JudgingRoom(store, guideline=guideline), ExplorerSettings(**settings))
            return stack.enter_context(TestClient(app, base_url=ADDRESS, follow_redirects=False)), store

        yield judging


def mark(client: TestClient, judge: str, pair: int, **more: Any) -> Any:
    body = {"key": f"{judge}-{pair}", "judge": judge, "pair": pair, "grade": 1} | more
    return client.post("/judge/judgements", json=body)


def disagree(store: JudgementStore) -> None:
    for judge, grades in (("ann", (0, 1, 2)), ("bo", (2, 1, 1))):
        for pair, grade in enumerate(grades, start=1):
            store.judge(judge, pair, Verdict(grade, note="a note" if grade == 2 else "", seconds=1.5))


class TestGivingOut:
    def test_a_window_keeps_its_pairs_until_they_are_judged(self, opened: Opened) -> None:
        client, _ = opened()
        wish = {"judge": "ann", "window": "one", "count": 3}
        first = client.post("/judge/next", json=wish).json()["pairs"]
        again = client.post("/judge/next", json=wish).json()["pairs"]
        other = client.post("/judge/next", json=wish | {"window": "two"}).json()["pairs"]
        assert [one["pair"] for one in first] == [one["pair"] for one in again]
        assert not {one["pair"] for one in first} & {one["pair"] for one in other}
        assert client.post("/judge/release", json={"judge": "ann", "window": "one"}).status_code == 200
        taken = client.post("/judge/next", json=wish | {"judge": "bo"}).json()["pairs"]
        assert [one["pair"] for one in taken] == [one["pair"] for one in first]

    def test_what_is_put_off_comes_last(self, opened: Opened) -> None:
        client, _ = opened()
        first = client.post("/judge/next", json={"judge": "ann"}).json()["pairs"][0]["pair"]
        assert client.post("/judge/later", json={"judge": "ann", "pair": first}).json() == {"later": first}
        order = [
            one["pair"] for one in client.post("/judge/next", json={"judge": "ann", "count": 12}).json()["pairs"]
        ]
        assert len(order) == 12
        assert order[-1] == first


class TestWriting:
    def test_the_same_request_counts_once(self, opened: Opened) -> None:
        client, store = opened()
        said = {"seconds": 2.5, "note": "turned", "grade": 2}
        first, again = (mark(client, "ann", 3, **said).json()["judgement"] for _ in range(2))
        assert first == again
        assert [(one.grade, one.verdict.note, one.verdict.seconds) for one in store.log() if one.verdict] == [
            (2, "turned", 2.5)
        ]
        takes = [
            client.post("/judge/undo", json={"key": "u", "judge": "ann", "number": first["number"]}).json()
            for _ in range(2)
        ]
        assert takes[0] == takes[1]
        assert takes[0]["judgement"]["undo"] is True
        assert store.table()["grade"] == []
        assert len(store.log()) == 2

    def test_who_cannot_tell_says_why(self, opened: Opened) -> None:
        client, store = opened()
        assert mark(client, "ann", 1, grade=None).status_code == 400
        answer = mark(client, "ann", 1, grade=None, reason="not my field").json()["judgement"]
        assert (answer["grade"], answer["name"], answer["reason"]) == (None, "can't tell", "not my field")
        assert store.table()["grade"] == []

    def test_a_suggestion_comes_after_the_judges_own_and_is_never_counted(self, opened: Opened) -> None:
        client, store = opened()
        for query in store.queries():
            items = store.pool().items_of(query.query_id)
            suggest(store, Relevance.from_dict({query.query_id: dict.fromkeys(items, 2)}), "exact neighbours")
        hinted = store.pair_number(query.query_id, items[0])
        asked = [f"{path}{twin}?judge=ann" for path in PAGES for twin in ("", ".json")]
        before = [client.get(path, headers={"accept": "text/html"}).text for path in asked]
        before.append(client.post("/judge/next", json={"judge": "ann", "count": 12}).text)
        assert not any("exact neighbours" in text for text in before)
        answer = mark(client, "ann", hinted, grade=0).json()
        assert answer["suggestion"] == {"grade": 2.0, "name": "highly relevant", "maker": "exact neighbours"}
        assert mark(client, "bo", hinted, role="adjudicator", grade=0).json()["suggestion"] is None
        assert store.table(roles=["judge"])["grade"] == [0.0]

    @pytest.mark.parametrize(
        ("path", "body", "status", "kind", "words"),
        [
            ("judgements", {"grade": 7}, 400, "InputError", "grade is 7; the task has 0, 1, 2"),
            ("judgements", {"pair": 999}, 404, "UnknownIdError", "999"),
            ("judgements", {"grade": "much"}, 422, "InvalidParameters", "grade"),
            ("judgements", {"system": "x"}, 422, "InvalidParameters", "system"),
            ("judgements", {"note": "x" * 2001}, 422, "InvalidParameters", "note"),
            ("judgements", {"judge": ""}, 422, "InvalidParameters", "judge"),
            ("judgements", {"role": "king"}, 422, "InvalidParameters", "role"),
            ("undo", {"number": 999}, 404, "UnknownIdError", "record 999"),
            ("next", {"count": 1000}, 422, "InvalidParameters", "count"),
        ],
    )
    def test_what_is_refused_says_why_in_the_one_shape(
        self, opened: Opened, path: str, body: dict[str, Any], status: int, kind: str, words: str
    ) -> None:
        client, store = opened()
        wholes: dict[str, dict[str, Any]] = {
            "judgements": {"key": "k", "judge": "ann", "pair": 1, "grade": 1},
            "undo": {"key": "k", "judge": "ann"},
            "next": {"judge": "ann"},
        }
        answer = client.post(f"/judge/{path}", json=wholes[path] | body)
        error = answer.json()["error"]
        assert (answer.status_code, error["kind"], set(error)) == (
            status,
            kind,
            {"kind", "message", "status", "details"},
        )
        assert words in error["message"]
        assert store.log() == []

    @pytest.mark.parametrize("action", ["next", "judgements", "undo", "later", "release"])
    def test_other_sites_may_not_post(self, opened: Opened, action: str) -> None:
        client, _ = opened()
        for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
            assert client.post(f"/judge/{action}", json={"judge": "ann"}, headers=headers).status_code == 403

    def test_a_body_without_end_is_refused(self, opened: Opened) -> None:
        client, _ = opened(max_body_bytes=1000)
        assert mark(client, "ann", 1, note="x" * 2000).status_code == 413


class TestTelling:
    def test_neither_systems_nor_ranks_nor_names_reach_a_judge(self, opened: Opened) -> None:
        client, store = opened()
        disagree(store)
        texts = [
            client.get(f"{path}{twin}?judge=ann", headers={"accept": "text/html"}).text
            for path in PAGES[:-1]
            for twin in ("", ".json")
        ]
        texts.append(client.post("/judge/next", json={"judge": "cy", "count": 12}).text)
        texts.append(mark(client, "cy", 1).text)
        for text in texts:
            assert not re.search(r"secret|telling-name|query-\d|\brank\b|system", text)

    def test_pictures_are_made_anew_and_a_missing_one_names_no_file(self, opened: Opened, pool: Path) -> None:
        client, store = opened()
        pair = store.pair_number("query-0", "telling-name-3.png")
        answer = client.get(f"/judge/pictures/candidate/{pair}")
        assert answer.headers["content-type"] == "image/webp"
        assert b"telling" not in answer.content
        assert client.get("/judge/pictures/query/1?small=1").status_code == 200
        for lost in ("query/2", "query/3", "candidate/999", "query/0"):
            assert client.get(f"/judge/pictures/{lost}").status_code == 404
        hidden = (pool.parent / "telling-name-3.png").rename(pool.parent / "away.png")
        gone = client.get(f"/judge/pictures/candidate/{pair}?small=1")
        hidden.rename(pool.parent / "telling-name-3.png")
        assert gone.status_code == 404
        assert "telling" not in gone.text

    def test_a_name_of_any_kind_is_only_a_name(self, opened: Opened) -> None:
        client, _ = opened()
        name = "<img src=x onerror=alert(1)>'\"&#39;/../é"
        assert mark(client, name, 1).status_code == 200
        for path in PAGES:
            page = client.get(path, params={"judge": name}, headers={"accept": "text/html"}).text
            assert "<img src=x" not in page
            assert client.get(f"{path}.json", params={"judge": name}).json()["judge"] == name

    def test_a_guideline_is_markdown_without_html(self, opened: Opened) -> None:
        client, _ = opened("# Same *pattern*\n<script>x</script> ![p](http://evil.example/p.png) [a](javascript:x)")
        page = client.get("/judge?judge=ann", headers={"accept": "text/html"}).text
        assert "<h1>Same <em>pattern</em></h1>" in page
        assert "<script>x" not in page
        assert '<img src="http' not in page
        assert 'href="javascript' not in page

    def test_a_grid_filters_by_depth_and_shows_ones_own_only(self, opened: Opened) -> None:
        client, store = opened()
        disagree(store)
        tiles = [
            client.get("/judge/grid.json", params={"query": 1, "judge": "ann", **more}).json()["tiles"]
            for more in ({}, {"depth": 5})
        ]
        assert len(tiles[0]) == 6
        expected = {
            store.pair_number(query, item)
            for (query, item), sources in store.pool().sources.items()
            if query == store.queries()[0].query_id and min(source.rank or 99 for source in sources) <= 5
        }
        assert {tile["pair"] for tile in tiles[1]} == expected
        theirs = {tile["pair"]: tile["judgement"]["grade"] for tile in tiles[0] if tile["judgement"]}
        own = {one.pair: one.grade for one in store.standing() if one.judge == "ann"}
        assert theirs == {pair: grade for pair, grade in own.items() if pair in theirs}
        assert theirs

    def test_what_judges_differ_on_waits_until_it_is_decided(self, opened: Opened) -> None:
        client, store = opened()
        disagree(store)
        found = client.get("/judge/disagreements.json").json()
        assert [(one["pair"], one["matters"]) for one in found["disagreements"]] == [(1, True), (3, False)]
        assert [vote["name"] for vote in found["disagreements"][0]["votes"]] == ["not relevant", "highly relevant"]
        assert found["disagreements"][0]["votes"][1]["note"] == "a note"
        assert "ann" not in str(found["disagreements"])
        assert mark(client, "cy", 1, role="adjudicator", grade=0).status_code == 200
        left = client.get("/judge/disagreements.json").json()
        assert [one["pair"] for one in left["disagreements"]] == [3]
        whole = client.get("/judge/disagreements.json?decided=1").json()
        assert [one["decision"] for one in whole["disagreements"]] == [None, "not relevant"]

    def test_the_rule_is_chosen_and_its_effect_shown(self, opened: Opened) -> None:
        client, store = opened()
        assert client.get("/judge/agreement.json").json()["summary"] is None
        disagree(store)
        found = client.get("/judge/agreement.json?rule=max").json()["summary"]
        assert found["agreement"]["overall"][0]["value"] == pytest.approx(1 / 3)
        precision = next(one for one in found["measures"] if one["measure"].startswith("Precision"))
        assert precision["systems"] == ["secret-model-7", "secret-model-8"]
        by_rule = {row["rule"]: row["effects"][0] for row in precision["rows"]}
        assert next(iter(by_rule)) == "max"
        assert by_rule["max"]["relevant_pairs"] == 3
        assert by_rule["min"]["relevant_pairs"] == 2
        drop = by_rule["min"]["mean"] - by_rule["max"]["mean"]
        assert drop < 0
        assert by_rule["min"]["difference"]["difference"] == pytest.approx(drop)
        store.judge("bo", 4, Verdict(0))
        assert (
            client.get("/judge/agreement.json?rule=max").json()["summary"]["agreement"]["judges"][1]["judged"] == 4
        )
        assert client.get("/judge/agreement.json?rule=vote").status_code == 400


class TestOpening:
    def test_a_store_keeps_the_task_it_began_with(self, pool: Path, tmp_path: Path) -> None:
        place = tmp_path / "judgements.db"
        with open_judging(place, pool, wanted=2, overlap=None) as store:
            assert store.task.wanted == 2
        with open_judging(place) as store:
            assert store.progress().wanted == 24
        with pytest.raises(InputError, match="wanted is 2 in .*, where judging has begun, and 3 was asked for"):
            open_judging(place, wanted=3)

    def test_without_pool_and_pairs_there_is_nothing_to_judge(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="is not there"):
            open_judging(tmp_path / "none.db")
        JudgementStore(tmp_path / "empty.db").close()
        with pytest.raises(InputError, match="has no pairs yet; give the pool"):
            open_judging(tmp_path / "empty.db")

    def test_a_guideline_is_text(self, tmp_path: Path) -> None:
        (tmp_path / "latin.md").write_bytes(b"caf\xe9")
        with pytest.raises(InputError, match=r"latin\.md is not UTF-8"):
            read_guideline(tmp_path / "latin.md")
        with pytest.raises(InputError, match="cannot be read"):
            read_guideline(tmp_path / "none.md")

    def test_right_answers_of_a_file_become_suggestions(self, opened: Opened, tmp_path: Path) -> None:
        client, store = opened()
        (tmp_path / "exact.qrels").write_text("query-0 0 telling-name-3.png 1\n")
        assert add_suggestions(store, tmp_path / "exact.qrels") == 1
        pair = store.pair_number("query-0", "telling-name-3.png")
        assert mark(client, "ann", pair).json()["suggestion"]["maker"] == "the right answers in exact.qrels"

    def test_beyond_loopback_a_token_is_needed(
        self, pool: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        words = ["judge", "serve", str(pool), "--judgements", str(tmp_path / "judgements.db"), "--host", "0.0.0.0"]
        assert main(words) == 2
        assert "a token is needed" in capsys.readouterr().err
        assert not (tmp_path / "judgements.db").exists()

    def test_the_token_lets_in(self, opened: Opened) -> None:
        client, _ = opened(token="a-token-of-some-length")
        assert client.get("/judge.json").status_code == 401
        assert mark(client, "ann", 1).status_code == 401
        client.headers["authorization"] = "Bearer a-token-of-some-length"
        assert mark(client, "ann", 1).status_code == 200
