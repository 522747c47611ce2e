"""A small measurement to report on, and a strict reader of the pages made of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from visual_search.formats.results import StoredResult, read_result, write_result
from visual_search.testing.sample_results import sample_results

_VOID = {"meta", "br", "img", "input", "link", "hr", "wbr"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    children: list["Element | str"] = field(default_factory=list)

    @property
    def raw(self) -> str:
        return "".join(child if isinstance(child, str) else child.raw for child in self.children)

    @property
    def text(self) -> str:
        return " ".join(self.raw.split())

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    def all(self, tag: str = "", class_: str = "", **attributes: str) -> list["Element"]:
        found = []
        for child in self.children:
            if isinstance(child, Element):
                named = tag in ("", child.tag) and (not class_ or class_ in child.classes)
                if named and all(child.attributes.get(key) == value for key, value in attributes.items()):
                    found.append(child)
                found += child.all(tag, class_, **attributes)
        return found

    def one(self, tag: str = "", class_: str = "", **attributes: str) -> "Element":
        found = self.all(tag, class_, **attributes)
        assert len(found) == 1, f"{len(found)} elements {tag}.{class_} {attributes}"
        return found[0]


class _Reader(HTMLParser):
    """Builds a tree; an element closed twice, late or never is an error."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.stack = [Element("document", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"<{tag}> repeats an attribute: {names}"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.stack[-1].children.append(element)
        if tag not in _VOID:
            self.stack.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.stack[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack[-1].tag == tag, f"</{tag}> closes <{self.stack[-1].tag}>"
        self.stack.pop()

    def handle_data(self, data: str) -> None:
        self.stack[-1].children.append(data)


@pytest.fixture(scope="session")
def parse() -> Callable[[Path], Element]:
    def parsed(path: Path) -> Element:
        reader = _Reader()
        reader.feed(path.read_text("utf-8"))
        reader.close()
        assert [open_.tag for open_ in reader.stack] == ["document"], "an element is never closed"
        return reader.stack[0]

    return parsed


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> list[StoredResult]:
    """Two systems under two protocols over 60 drawn images; read only."""
    return sample_results(tmp_path_factory.mktemp("sample"))


@pytest.fixture
def results(tmp_path: Path) -> list[StoredResult]:
    """The same, a smaller one to damage."""
    return sample_results(tmp_path / "results", objects=4, views=3)


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., StoredResult]:
    """Write a result anew with other values in its record, its ranking or its places."""

    def rewritten(
        result: StoredResult,
        *,
        ranking: Callable[[dict[str, Any]], dict[str, Any]] = lambda columns: columns,
        items: dict[str, Any] | None = None,
        name: str = "changed.json",
        **values: Any,
    ) -> StoredResult:
        columns = ranking(result.ranking().to_pydict())
        record = {key: value for key, value in (result.record | values).items() if not key.startswith("file")}
        queries = result.queries().to_pydict()
        return read_result(
            write_result(tmp_path / name, record, ranking=columns, queries=queries, items=items).path
        )

    return rewritten
