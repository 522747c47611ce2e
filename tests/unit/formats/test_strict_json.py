from pathlib import Path

import pytest

from visual_search.errors import DatasetError, FileFormatError
from visual_search.formats.plain_json import read_plain_json
from visual_search.formats.strict_json import parse_json, read_unrepeated_json
from visual_search.images.path_lists import read_path_list


def test_plain_json_comes_back_with_no_repeats() -> None:
    assert parse_json(b'\xef\xbb\xbf{"a": [1, {"b": null}]}', subject="x") == ({"a": [1, {"b": None}]}, ())


def test_every_repeated_key_is_named_with_its_place() -> None:
    text = b'{"a": 1, "a": 2, "queries": [{}, {"b": {"c": 1, "c": 1, "d": 0, "d": 0}}]}'
    assert parse_json(text, subject="x")[1] == (
        'the key "a" appears twice or more; keep one',
        'queries[1].b: the key "c" appears twice or more; keep one',
        'queries[1].b: the key "d" appears twice or more; keep one',
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"queries": [\n  {"query_id": "a",}\n]}', r"x.json: not valid JSON at line 2, column"),
        (b"", "the file is empty"),
        (b'{"a": "\xff"}', r"not UTF-8 text \(byte 7\)"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "x.json: holds a number that is too long"),
    ],
)
def test_broken_text_says_where(data: bytes, said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        parse_json(data, subject="x.json", error=DatasetError)
    with pytest.raises(FileFormatError, match=said):
        parse_json(data, subject="x.json")


def test_results_and_lists_with_a_key_twice(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text('{"a": "x.png", "a": "y.png"}')
    for read in (read_plain_json, read_unrepeated_json, read_path_list):
        with pytest.raises(FileFormatError, match="twice"):
            read(path)
