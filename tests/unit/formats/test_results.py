"""Result files: what is written is read back, what is wrong is refused and named."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import FileFormatError, InputError
from visual_search.formats.results import ImageLocation, StoredResult, read_result, write_result

# The evaluation guide's own example, as it stands there: a hundred queries, one of which is listed.
GUIDE_EXAMPLE = """{
  "num_queries": 100, "k_values": [1, 5, 10, 20],
  "recall_at_1": 0.45, "recall_at_5": 0.72, "recall_at_10": 0.85, "recall_at_20": 0.93,
  "precision_at_1": 0.45, "precision_at_5": 0.28, "precision_at_10": 0.18, "precision_at_20": 0.12,
  "map": 0.52, "mrr": 0.61,
  "per_query_results": [{"query_id": "q001",
    "recall_at_k": {"1": 1.0, "5": 1.0, "10": 1.0}, "precision_at_k": {"1": 1.0, "5": 0.6, "10": 0.3},
    "average_precision": 0.85, "reciprocal_rank": 1.0}],
  "timestamp": "2024-01-15T10:30:00Z", "model_name": "clip-ViT-B-32"
}"""

Write = Callable[..., StoredResult]


def a_record(**changes: Any) -> dict[str, Any]:
    values = {"recall_at_k": {"1": 0.5}, "precision_at_k": {"1": 1.0}, "average_precision": 0.5}
    record = {
        "num_queries": 2,
        "k_values": [1],
        "recall_at_1": 0.5,
        "precision_at_1": 1.0,
        "map": 0.5,
        "mrr": None,
        "per_query_results": [
            {"query_id": "q1", **values, "reciprocal_rank": 1.0},
            {"query_id": "q2", **values, "reciprocal_rank": None},
        ],
        "timestamp": "2024-01-15T10:30:00Z",
        "model_name": "m",
        "format": "visual-search result",
        "format_version": 1,
    }
    return record | changes


def a_ranking(**changes: Any) -> dict[str, Any]:
    columns = {
        "query": ["q1", "q1", "q2", "q2"],
        "position": [1, 2, 1, 2],
        "rank": [1, 2, 1, None],
        "item": ["a", "b", "b", "a"],
        "score": [0.9, 0.1, 0.8, 0.7],
        "state": ["relevant", "not_relevant", "unjudged", "ignored"],
    }
    return columns | changes


def some_queries(**changes: Any) -> dict[str, Any]:
    return {"query": ["q1", "q2"], "num_relevant": [1, 0], "AP(denominator=all)@1": [0.5, float("nan")]} | changes


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(
        record: dict[str, Any] | None = None,
        ranking: dict[str, Any] | None = None,
        queries: dict[str, Any] | None = None,
        items: dict[str, Any] | None = None,
    ) -> StoredResult:
        return write_result(
            tmp_path / "out" / "results.json",
            record or a_record(),
            ranking=ranking or a_ranking(),
            queries=queries or some_queries(),
            items=items,
        )

    return written


def altered(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def companion(stored: StoredResult, name: str) -> Path:
    return stored.path.parent / str(stored.record["files"][name])


class TestRoundTrip:
    def test_the_record_comes_back_with_the_guides_keys_first(self, write: Write) -> None:
        stored = write()
        again = read_result(stored.path)
        assert again.record == stored.record
        assert list(json.loads(stored.path.read_text("utf-8")))[:9] == list(a_record())[:9]

    def test_companions_take_the_stem_and_lie_beside(self, write: Write) -> None:
        stored = write(items={"items": {"root": ".", "paths": {}}})
        names, checksums = stored.record["files"], stored.record["file_checksums"]
        assert names == {
            name: f"results.{name}.{checksums[name].removeprefix('sha256:')[:12]}.{ending}"
            for name, ending in (("ranking", "parquet"), ("queries", "parquet"), ("items", "json"))
        }
        assert {file.name for file in stored.path.parent.iterdir()} == {
            "results.json",
            *stored.record["files"].values(),
        }

    def test_the_ranking_comes_back(self, write: Write) -> None:
        table = read_result(write(ranking=a_ranking(grade=[1.0, 0.0, None, float("nan")])).path).ranking()
        assert table.to_pydict() == a_ranking(distance=[None] * 4, grade=[1.0, 0.0, None, None])
        kinds = [str(kind) for kind in table.schema.types]
        assert dict(zip(table.schema.names, kinds, strict=True)) == {
            "query": "string",
            "position": "int32",
            "rank": "int32",
            "item": "string",
            "score": "double",
            "distance": "double",
            "state": "string",
            "grade": "double",
        }

    def test_undefined_values_come_back_as_null(self, write: Write) -> None:
        table = read_result(write(queries=some_queries(group=["g", None])).path).queries()
        assert table["AP(denominator=all)@1"].to_pylist() == [0.5, None]
        assert table["group"].to_pylist() == ["g", None]
        assert table["category"].to_pylist() == [None, None]

    def test_only_the_queries_asked_for_are_read(self, write: Write) -> None:
        stored = write()
        assert stored.ranking(queries=["q2"])["item"].to_pylist() == ["b", "a"]
        assert stored.ranking(queries=["q1", "nobody"]).num_rows == 2
        assert stored.ranking(queries=[]).num_rows == 0

    def test_integer_ids_stay_integers(self, write: Write) -> None:
        ids = np.array([7, 7, 8, 8])
        stored = write(
            ranking=a_ranking(query=ids, item=np.array([1, 2, 2, 1])),
            queries=some_queries(query=[7, 8]),
            items={"items": {"root": ".", "paths": {1: "one.png"}}},
        )
        assert stored.ranking(queries=[8]).to_pydict()["item"] == [2, 1]
        assert stored.item_location(1) == ImageLocation(stored.path.parent / "one.png")

    def test_numpy_values_become_json(self, write: Write) -> None:
        record = a_record(
            recall_at_1=np.float32(0.5), num_queries=np.int64(2), extra={"values": np.arange(3), 5: (1, 2)}
        )
        stored = read_result(write(record).path)
        assert stored.record["recall_at_1"] == 0.5
        assert stored.record["extra"] == {"values": [0, 1, 2], "5": [1, 2]}

    def test_ids_of_any_script_and_length_come_back(self, write: Write) -> None:
        ids = ["日本語/猫.jpg", 'a"b</script>', "x" * 10_000, "שלום\u202e"]
        stored = write(ranking=a_ranking(item=ids))
        assert read_result(stored.path).ranking()["item"].to_pylist() == ids

    def test_numpy_strings_are_strings(self, write: Write) -> None:
        stored = write(
            ranking=a_ranking(state=np.array(a_ranking()["state"]), query=np.array(["q1", "q1", "q2", "q2"]))
        )
        assert stored.ranking()["query"].to_pylist() == ["q1", "q1", "q2", "q2"]


class TestGuideOnly:
    def test_the_guides_example_is_a_result_without_a_ranking(self, tmp_path: Path) -> None:
        stored = read_result(altered(tmp_path / "guide.json", GUIDE_EXAMPLE))
        assert stored.record["map"] == 0.52
        assert not stored.has_ranking
        assert stored.query_location("q001") is None
        with pytest.raises(FileFormatError, match="names no ranking file; evaluate again"):
            stored.ranking()


class TestRefusedToWrite:
    def test_keys_in_another_order(self, write: Write) -> None:
        record = {"model_name": "m", **a_record()}
        with pytest.raises(InputError, match="key 0 is 'model_name', 'num_queries' is due"):
            write(record)

    def test_all_missing_keys_are_named(self, write: Write) -> None:
        record = a_record()
        del record["map"], record["precision_at_1"]
        with pytest.raises(InputError, match="'precision_at_1', 'map'"):
            write(record)

    def test_nan_is_named_with_its_place(self, write: Write) -> None:
        record = a_record(measures={"AP": {"mean": np.float64("nan")}}, seeds={"x": [float("inf")]})
        with pytest.raises(InputError) as caught:
            write(record)
        assert "record.measures.AP.mean is nan" in str(caught.value)
        assert "record.seeds.x[0] is inf" in str(caught.value)

    def test_what_json_has_no_form_for(self, write: Write) -> None:
        with pytest.raises(InputError, match=r"record\.extra: \w*Path has no JSON form"):
            write(a_record(extra=Path("x")))

    def test_text_that_is_not_unicode(self, write: Write) -> None:
        with pytest.raises(InputError, match="cannot be written as UTF-8"):
            write(a_record(model_name="caf\udce9"))
        with pytest.raises(InputError, match=r"'item'.*surrogates not allowed"):
            write(ranking=a_ranking(item=["caf\udce9", "b", "b", "a"]))

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"state": ["right", "not_relevant", "unjudged", "ignored"]}, "'right'; allowed are relevant"),
            ({"rank": [0, 1, 1, None]}, "'rank': starts at 1; got 0"),
            ({"position": [1, 2, 0, 2]}, "'position': starts at 1; got 0"),
            ({"rank": [1, 2, 1, 2]}, "'rank': an ignored item has none, and every other has one"),
            ({"rank": [1, None, 1, None]}, "'rank': an ignored item has none, and every other has one"),
            ({"score": [np.inf, 0.1, 0.8, 0.7]}, "'score': 1 values are infinite"),
            ({"score": [np.nan, 0.1, 0.8, 0.7]}, "'score': 1 value is missing or NaN"),
            ({"item": ["a", "b"]}, "columns must have one length"),
            ({"item": [1.5, 2.5, 3.5, 4.5]}, "'item': text or whole numbers are needed; got double"),
            ({"item": ["a", 2, "b", "c"]}, "'item': "),
            ({"rank": ["first", "b", "c", "d"]}, "'rank': "),
            ({"colour": ["r"] * 4}, "'colour': unknown column"),
        ],
    )
    def test_a_ranking_that_is_wrong(self, write: Write, change: dict[str, Any], said: str) -> None:
        with pytest.raises(InputError) as caught:
            write(ranking=a_ranking(**change))
        assert said in str(caught.value)

    def test_a_ranking_without_a_column(self, write: Write) -> None:
        ranking = a_ranking()
        del ranking["state"], ranking["rank"]
        with pytest.raises(InputError, match="2 problems") as caught:
            write(ranking=ranking)
        assert "'rank': column missing" in str(caught.value)
        assert "'state': column missing" in str(caught.value)

    def test_a_repeated_query(self, write: Write) -> None:
        with pytest.raises(InputError, match="1 repeated ids"):
            write(queries=some_queries(query=["q1", "q1"]))

    @pytest.mark.parametrize(
        "place",
        ["../secret.png", "/etc/passwd", "a/../../b.png", "", "a\0b", {"archive": "/x.zip", "member": "a"}, 3],
    )
    def test_a_place_that_leaves_its_root(self, write: Write, place: Any) -> None:
        with pytest.raises(InputError, match="items: 'a': "):
            write(items={"items": {"root": ".", "paths": {"a": place}}})

    @pytest.mark.parametrize("name", ["run 10:30.json", ".hidden.json", "a\\b.json"])
    def test_a_name_that_could_not_be_read_back(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(InputError, match="no dot and has no colon or backslash"):
            write_result(tmp_path / name, a_record(), ranking=a_ranking(), queries=some_queries(), items=None)
        assert not list(tmp_path.iterdir())

    def test_nothing_is_written_when_something_is_refused(self, write: Write, tmp_path: Path) -> None:
        with pytest.raises(InputError):
            write(queries=some_queries(query=["q1", "q1"]))
        with pytest.raises(InputError):
            write(a_record(mrr="high"))
        assert not (tmp_path / "out").exists()


class TestRefusedToRead:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (GUIDE_EXAMPLE[:200], "not JSON, or cut off"),
            ("", "not JSON, or cut off"),
            (b"\xff\xfe\x00", "byte 0 is not UTF-8"),
            ("[1, 2]", "a result is a JSON object; got list"),
            ('{"a": 1}', "it has none of the keys"),
            (GUIDE_EXAMPLE.replace("0.52", "NaN"), "r.json: holds NaN"),
            (GUIDE_EXAMPLE.replace("0.52", '"high"'), "map: a number or null is needed; got 'high'"),
            (GUIDE_EXAMPLE.replace("[1, 5, 10, 20]", "[1, 5, 5]"), "k_values: a list of distinct"),
            (GUIDE_EXAMPLE.replace('"reciprocal_rank": 1.0', '"x": 1'), "keys missing: 'reciprocal_rank'"),
            (GUIDE_EXAMPLE.replace('"q001"', "1.5"), "query_id: text or a whole number"),
            ("[" * 100_000, "nested too deeply"),
            (GUIDE_EXAMPLE.replace("0.52", "9" * 5_000), "holds a number that is too long"),
        ],
    )
    def test_a_file_that_is_no_result(self, tmp_path: Path, text: str | bytes, said: str) -> None:
        with pytest.raises(FileFormatError) as caught:
            read_result(altered(tmp_path / "r.json", text))
        assert said in str(caught.value)
        assert "r.json" in str(caught.value)

    def test_a_newer_version(self, write: Write) -> None:
        stored = write()
        altered(stored.path, stored.path.read_text().replace('"format_version": 1', '"format_version": 2'))
        with pytest.raises(FileFormatError, match=r"format_version 2 is newer than 1.*upgrade"):
            read_result(stored.path)

    def test_another_format(self, write: Write) -> None:
        stored = write()
        altered(stored.path, stored.path.read_text().replace("visual-search result", "other tool"))
        with pytest.raises(FileFormatError, match="its format is 'other tool'"):
            read_result(stored.path)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"measures": {"AP": None}}, "measures.AP: it may be absent, not null"),
            ({"measures": {"AP": {"mean": "x"}}}, "measures.AP.mean: a number or null is needed; got 'x'"),
            ({"measures": {"AP": {"words": 5}}}, "measures.AP.words: text or null is needed; got 5"),
            ({"measures": {"AP": {"interval": {"low": []}}}}, "measures.AP.interval.low: a number or null"),
            ({"audit": {"truth_sizes": {"min": 1, "max": 2}}}, "audit.truth_sizes.median: needed where"),
            ({"measures": {"AP": {"interval": {"low": 0.1}}}}, "measures.AP.interval.high: needed where"),
            ({"audit": {"warnings": None}}, "audit.warnings: it may be absent, not null"),
            ({"ledger": {"used": None}}, "ledger.used: it may be absent, not null"),
            ({"audit": {"warnings": 5}}, "audit.warnings: a list or null is needed; got 5"),
            ({"ties": ["x"]}, "ties: text or null is needed"),
            ({"truth": {"kind": {}}}, "truth.kind: text or null is needed"),
            ({"fingerprints": {"queries": {}}}, "fingerprints.queries: text or null is needed"),
            ({"index": {"settings": 5}}, "index.settings: an object or null is needed; got int"),
            ({"ledger": {"used": "many"}}, "ledger.used: a whole number of at least 0"),
            ({"random_baseline": {"AP": "x"}}, "random_baseline.AP: a number or null"),
            ({"per_query_results": None}, "per_query_results: a list is needed; got NoneType"),
            ({"map": 10**400}, "map: a number or null is needed"),
        ],
    )
    def test_values_of_another_type_at_any_depth(self, write: Write, change: dict[str, Any], said: str) -> None:
        stored = write()
        altered(stored.path, json.dumps(stored.record | change))
        with pytest.raises(FileFormatError) as caught:
            read_result(stored.path)
        assert said in str(caught.value)

    def test_every_problem_at_once(self, tmp_path: Path) -> None:
        text = GUIDE_EXAMPLE.replace("0.52", '"high"').replace("0.61", "[]").replace('"clip-ViT-B-32"', "3")
        with pytest.raises(FileFormatError, match="3 problems") as caught:
            read_result(altered(tmp_path / "r.json", text))
        assert all(key in str(caught.value) for key in ("map", "mrr", "model_name"))

    @pytest.mark.parametrize("name", ["../other.parquet", "/etc/passwd", "a\\\\b", ".hidden", "c:d", ""])
    def test_a_companion_elsewhere(self, write: Write, name: str) -> None:
        stored = write()
        altered(stored.path, stored.path.read_text().replace(stored.record["files"]["ranking"], name))
        with pytest.raises(FileFormatError, match="plain name of a file beside the record"):
            read_result(stored.path)


class TestCompanions:
    def test_one_that_is_gone(self, write: Write) -> None:
        stored = write()
        companion(stored, "ranking").unlink()
        with pytest.raises(FileFormatError, match=r"results\.ranking\.[0-9a-f]{12}\.parquet cannot be read"):
            stored.ranking()

    def test_one_of_another_run(self, write: Write) -> None:
        old = read_result(write().path)
        write_again = write(ranking=a_ranking(score=[0.8, 0.1, 0.8, 0.7]))
        companion(write_again, "ranking").rename(companion(old, "ranking"))
        altered(old.path, json.dumps(old.record))
        with pytest.raises(FileFormatError, match="is not the ranking file this record was written with"):
            read_result(old.path).ranking()

    @pytest.mark.parametrize("step", range(9))
    def test_a_run_killed_at_any_step_leaves_the_old_or_the_new_result_whole(
        self, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
    ) -> None:
        path = write(items={"items": {"root": ".", "paths": {"a": "old.png"}}}).path
        done = 0

        def killed_at_the_step(real: Any) -> Any:
            def act(*args: Any, **named: Any) -> Any:
                nonlocal done
                if done == step:
                    raise KeyboardInterrupt
                done += 1
                return real(*args, **named)

            return act

        # Four files are renamed into place, then three old companions go; a temporary file's removal is not counted.
        unlink = Path.unlink
        counted = killed_at_the_step(unlink)
        monkeypatch.setattr(Path, "replace", killed_at_the_step(Path.replace))
        monkeypatch.setattr(
            Path, "unlink", lambda file, **named: (unlink if file.suffix == ".tmp" else counted)(file, **named)
        )
        try:
            write(
                a_record(map=0.75),
                ranking=a_ranking(score=[0.7, 0.1, 0.8, 0.7]),
                queries=some_queries(num_relevant=[2, 0]),
                items={"items": {"root": ".", "paths": {"a": "new.png"}}},
            )
        except KeyboardInterrupt:
            assert step < 7
        else:
            assert (step >= 7, done) == (True, 7)
        stored = read_result(path)
        new = step >= 4
        assert stored.record["map"] == (0.75 if new else a_record()["map"])
        assert stored.ranking()["score"].to_pylist()[0] == (0.7 if new else 0.9)
        assert stored.queries()["num_relevant"].to_pylist()[0] == (2 if new else 1)
        assert stored.item_location("a") == ImageLocation(path.parent / ("new.png" if new else "old.png"))

    def test_the_old_ones_go_and_what_is_not_ours_stays(self, write: Write) -> None:
        stored = write()
        kept = altered(stored.path.parent / "precious.txt", "mine")
        record = stored.record | {"files": stored.record["files"] | {"notes": "precious.txt"}}
        altered(stored.path, json.dumps(record))
        again = write(ranking=a_ranking(score=[0.7, 0.1, 0.8, 0.7]))
        assert {file.name for file in again.path.parent.iterdir()} == {
            "results.json",
            "precious.txt",
            *again.record["files"].values(),
        }
        assert kept.read_text() == "mine"
        assert again.queries().num_rows == 2  # the same in both, so it has the same name and stays

    def test_a_damaged_one(self, write: Write) -> None:
        stored = write()
        companion(stored, "ranking").write_bytes(b"PAR1 no")
        stored.record["file_checksums"] = {}
        with pytest.raises(FileFormatError, match="damaged, or not a Parquet file"):
            stored.ranking()


class TestForeignTables:
    @pytest.mark.parametrize(
        ("kind", "column", "values", "said"),
        [
            ("ranking", "score", None, "'score': column missing"),
            ("ranking", "score", ["a", "b", "c", "d"], "'score': type string; allowed: double"),
            ("ranking", "state", ["right"] * 4, "'right'; allowed are relevant"),
            ("queries", "num_relevant", None, "'num_relevant': column missing"),
            ("queries", "AP(denominator=all)@1", ["a", "b"], "type string; allowed: double"),
        ],
    )
    def test_other_columns_types_and_states(
        self, write: Write, kind: str, column: str, values: list[str] | None, said: str
    ) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        stored = write()
        del stored.record["file_checksums"]
        read = stored.ranking if kind == "ranking" else stored.queries
        table = read().drop_columns([column])
        pq.write_table(
            table if values is None else table.append_column(column, pa.array(values)), companion(stored, kind)
        )
        with pytest.raises(FileFormatError) as caught:
            read()
        assert said in str(caught.value)


class TestPipes:
    def test_a_record_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "r.json")
        with pytest.raises(FileFormatError, match=r"r\.json: a folder, pipe or device"):
            read_result(tmp_path / "r.json")

    @pytest.mark.parametrize("kind", ["ranking", "queries", "items"])
    def test_a_companion_is_not_waited_for(self, write: Write, kind: str) -> None:
        stored = write(items={"items": {"root": ".", "paths": {"a": "x.png"}}})
        companion(stored, kind).unlink()
        os.mkfifo(companion(stored, kind))
        read: dict[str, Callable[[], object]] = {
            "ranking": stored.ranking,
            "queries": stored.queries,
            "items": lambda: stored.item_location("a"),
        }
        with pytest.raises(FileFormatError, match="a folder, pipe or device"):
            read[kind]()
