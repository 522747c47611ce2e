"""Names as ids: valid, each different, always the same."""

from __future__ import annotations

import itertools
import os

import pytest

from visual_search.images.id_texts import id_text, is_valid_text


@pytest.mark.parametrize(
    "name", ["a.png", "ünïcode/日本.png", r"a\b.png", r"a\xe9.png", r"\u00E9", "\U0001f600", ""]
)
def test_valid_names_stay(name: str) -> None:
    assert id_text(name) == name
    assert is_valid_text(name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (os.fsdecode(b"caf\xe9.png"), r"caf\xE9.png"),
        (os.fsdecode(b"\x80\xff"), r"\x80\xFF"),
        ("\ud800", r"\uD800"),
        ("\udc00\udfff", r"\uDC00\uDFFF"),
        (r"\xE9", r"\x5CxE9"),
        (r"\uD800", r"\x5CuD800"),
    ],
)
def test_what_is_written_otherwise(name: str, text: str) -> None:
    assert id_text(name) == text
    assert is_valid_text(text)


def test_no_two_names_give_one_text() -> None:
    signs = ["\\", "x", "E9", "5C", "uD800", "\udce9", "\ud800", "é"]
    names = {"".join(some) for length in range(6) for some in itertools.product(signs, repeat=length)}
    texts = {id_text(name) for name in names}
    assert len(texts) == len(names)
    assert all(map(is_valid_text, texts))
