"""What a metadata table may hide: one picture in two rows, groups typed twice, and values no protocol can use."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from visual_search.cli.main import main
from visual_search.errors import FileFormatError, InputError
from visual_search.evaluation.folds import split_folds
from visual_search.evaluation.protocols import conditions
from visual_search.evaluation.protocols.conditions import SameGroup, SharedLabel
from visual_search.evaluation.protocols.geographic import within_radius
from visual_search.evaluation.protocols.group_parts import parts_by_column, parts_by_group
from visual_search.evaluation.protocols.landmarks import landmark_difficulty
from visual_search.evaluation.protocols.metadata import Metadata
from visual_search.evaluation.protocols.proving import Promises
from visual_search.evaluation.protocols.query_gallery import by_view, given_split, leave_one_out
from visual_search.evaluation.protocols.reidentification import reidentification
from visual_search.evaluation.protocols.split import Split
from visual_search.formats.csv_columns import read_csv_columns

TABLE: dict[str, Any] = {
    "scene": ["a", "a", "b", "b"],
    "view": [0, 1, 0, 1],
    "path": ["1.jpg", "./1.jpg", "2.jpg", "3.jpg"],
}
VIEWS: dict[str, Any] = {"group": "scene", "view": "view", "query": 0, "gallery": 1}


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_one_picture_in_two_rows_is_one_picture(tmp_path: Path, suffix: str) -> None:
    rows = by_view(TABLE, **VIEWS)
    assert "no row is both query and gallery; rows were compared, not pictures" in rows.proof["items"].words
    split = by_view(Metadata(TABLE, image="path"), **VIEWS)
    assert split.proof.failed == ("items",)
    assert "1 query shows a picture that the gallery has too, first '1.jpg'" in split.proof["items"].words
    for one in (rows, split):
        one.save(tmp_path / f"split{suffix}")
        assert Split.load(tmp_path / f"split{suffix}").proof == one.proof
    apart = by_view(Metadata({**TABLE, "path": ["1", "2", "3", "4"]}, image="path"), **VIEWS)
    assert "no picture is both query and gallery, by their paths" in apart.proof["items"].words
    assert leave_one_out(Metadata(TABLE, image="path"), group="scene").proof.failed == ("items",)
    parts = parts_by_column(Metadata(TABLE, image="path"), group="scene", part="view")
    assert set(parts.proof.failed) == {"items", "groups"}


def test_groups_typed_twice_are_told_and_blank_ones_are_empty() -> None:
    parts = parts_by_group({"g": ["Ann", "ann ", "bo", "cy"]}, group="g")
    assert any("'Ann' and 'ann '" in warning for warning in parts.warnings)
    split = leave_one_out({"g": ["Ann", "Ann", "ann", "ann"]}, group="g")
    assert any("'Ann' and 'ann'" in warning for warning in split.warnings)
    with pytest.raises(InputError, match="is empty in 1 rows"):
        parts_by_group({"g": ["a", " ", "b", "c"]}, group="g")


def test_the_order_of_rows_draws_nothing() -> None:
    groups = [f"g{n % 7}" for n in range(40)]
    order = np.random.default_rng(3).permutation(40).tolist()
    ids = [f"i{n}" for n in range(40)]
    there, back = (
        parts_by_group({"g": [groups[n] for n in rows], "i": [ids[n] for n in rows]}, group="g", item="i", seed=5)
        for rows in (range(40), order)
    )
    assert {name: set(there.ids(name)) for name in there.parts} == {
        name: set(back.ids(name)) for name in back.parts
    }
    folds, others = split_folds(groups, 3, 1), split_folds([groups[n] for n in order], 3, 1)
    assert [sorted(one.test.tolist()) for one in folds] == [sorted(order[n] for n in one.test) for one in others]


def test_a_bare_text_is_one_id_or_refused() -> None:
    street = {"p": [1, 1, 1, -1], "c": [1, 1, 2, 2], "r": ["query", "gallery", "gallery", "gallery"]}
    split = reidentification(street, identity="p", camera="c", role="r", junk="-1")
    assert isinstance(split.condition, SameGroup)
    assert split.condition.junk == ("-1",)
    assert int(split.relevance.ignored.sum()) == 2
    with pytest.raises(InputError, match="is one text"):
        given_split({"g": ["a", "a"], "i": ["x", "y"]}, "x", "y", group="g", item="i")
    with pytest.raises(InputError, match="junk='-1'"):
        SameGroup(junk="-1")  # type: ignore[arg-type]


def test_values_out_of_range_are_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="groups='eq': one of equal, within"):
        Promises(groups="eq")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="separator=''"):
        SharedLabel(separator="")
    with pytest.raises(InputError, match="shares are numbers"):
        parts_by_group(TABLE, group="scene", shares={"a": float("nan"), "b": 0.5})
    with pytest.raises(InputError, match="seed is -1"):
        parts_by_group(TABLE, group="scene", shares={"a": 0.5, "b": 0.5}, seed=-1)
    far = {"r": ["query", "gallery"], "x": [1e308, -1e308], "y": [0.0, 0.0]}
    with pytest.raises(InputError, match=r"more than 1e\+09 m from the origin"):
        within_radius(far, places=("x", "y"), role="r", coordinates="metres")
    with pytest.raises(InputError, match="surrogates not allowed"):
        leave_one_out({"g": ["a", "a"], "i": ["x", "\ud800"]}, group="g", item="i")
    pairs = {"query": ["q"], "item": ["x"], "difficulty": ["easy"]}
    for suffix in (".json", ".parquet"):
        with pytest.raises(InputError, match="is not UTF-8"):
            landmark_difficulty(pairs, level="easy", gallery=["x", "\ud800"]).save(tmp_path / f"s{suffix}")
    assert not list(tmp_path.iterdir())
    nulls = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", None]))
    with pytest.raises(InputError, match="is empty in 1 row"):
        Metadata(pa.table({"g": nulls})).column("g")
    monkeypatch.setattr(conditions, "MOST_PAIRS", 15)
    with pytest.raises(InputError, match="makes 16 pairs of 4 queries and 4 items; at most 15"):
        leave_one_out({"label": ["a"] * 4}, label="label", relevant="shared-label")


def test_only_line_ends_end_lines(tmp_path: Path) -> None:
    cells = ["a\u0085b", "c\u2028d", "e\x0bf", "g\x0ch"]
    (tmp_path / "t.csv").write_bytes(
        ("g,i\r\n" + "".join(f"{cell},{n}\r" for n, cell in enumerate(cells))).encode()
    )
    assert read_csv_columns(tmp_path / "t.csv") == {"g": cells, "i": [0, 1, 2, 3]}


@pytest.mark.parametrize("key", ["warnings", "protocol", "words", "left_out", "options"])
def test_what_a_split_says_of_itself_is_covered(tmp_path: Path, key: str) -> None:
    path = tmp_path / "s.json"
    by_view(TABLE, **VIEWS).save(path)
    value = json.loads(path.read_text())
    value[key] = {"warnings": ["fine"], "left_out": [7], "options": {}}.get(key, "another")
    path.write_text(json.dumps(value))
    with pytest.raises(FileFormatError, match="was changed after it was written"):
        Split.load(path)
    assert main(["split", "check", str(path)]) == 1


def test_types_and_findings_of_a_split_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    by_view(TABLE, **VIEWS).save(path)
    for change, said in (("failed", "failed: none"), ("codes", "codes are whole numbers"), ("words", "words: str")):
        value = json.loads(path.read_text())
        if change == "failed":
            value["proof"]["failed"] = ["views"]
        elif change == "codes":
            value["sides"]["queries"]["group"]["codes"][0] = 0.9
        else:
            value["words"] = 3
        (tmp_path / "t.json").write_text(json.dumps(value))
        with pytest.raises(FileFormatError, match=said):
            Split.load(tmp_path / "t.json")


def test_an_output_that_is_an_input_and_a_file_that_is_no_split_exit_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "m.csv"
    table.write_text("scene,view\na,0\na,1\nb,0\nb,1\n")
    before = table.read_bytes()
    options = ["--protocol", "leave-one-out", "--group", "scene"]
    for out in (["-o", str(table)], ["--dataset", str(tmp_path / "." / "m.csv")]):
        assert main(["split", str(table), *options, *out]) == 2
        assert "would be written over what is read" in capsys.readouterr().err
    (tmp_path / "f-1.json").write_bytes(before)
    folds = ["--protocol", "group-folds", "--group", "scene", "--folds", "2", "-o", str(tmp_path / "f.json")]
    assert main(["split", str(tmp_path / "f-1.json"), *folds]) == 2
    assert (table.read_bytes(), (tmp_path / "f-1.json").read_bytes()) == (before, before)
    assert main(["split", "check", str(table)]) == 2
    assert main(["split", str(table), "--protocol", "one-query-per-group", "--group", "scene", "--seed", "-1"]) == 2
    assert "seed is -1" in capsys.readouterr().err
