"""Reads the text form of an engine with settings: ``hnsw(m=16,ef_construction=100)``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from visual_search.errors import InputError
from visual_search.indexing.engines.registry import engine_class
from visual_search.indexing.engines.settings import AnySetting, Setting, checked_settings

__all__ = ["EngineText", "parse_engine", "read_setting", "settings_table"]

_FORM = re.compile(r"\s*(?P<name>[A-Za-z_][\w-]*)\s*(?:\((?P<inside>.*)\))?\s*", re.DOTALL)
# A comma parts settings only where a name and an equals sign follow: factory strings have commas of their own.
_BETWEEN = re.compile(r",(?=\s*\w+\s*=)")


@dataclass(frozen=True)
class EngineText:
    """An engine and the settings it was asked for.

    Parameters
    ----------
    name : str
        As registered.
    settings : mapping
        Only those that were given.

    Examples
    --------
    >>> str(parse_engine("hnsw( m = 16 )")), str(parse_engine("faiss(factory=IVF64,PQ8np,refine=4)"))
    ('hnsw(m=16)', 'faiss(factory=IVF64,PQ8np,refine=4)')
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def split(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Settings that shape the structure, and those of a search."""
        table = settings_table(self.name)
        search = {name for name, setting in table.items() if setting.when == "search"}
        return (
            {name: value for name, value in self.settings.items() if name not in search},
            {name: value for name, value in self.settings.items() if name in search},
        )

    def __str__(self) -> str:
        inside = ",".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{self.name}({inside})" if inside else self.name


def parse_engine(text: str | EngineText) -> EngineText:
    """Read an engine from its text form.

    Parameters
    ----------
    text : str
        ``"flat"``, ``"hnsw(m=16)"``, ``"faiss(factory=IVF64,PQ8np)"``. An EngineText is checked and returned.

    Raises
    ------
    UnknownNameError
        No engine of that name.
    InputError
        A text of another form, a setting given twice, or one that is unknown or not allowed; all of them are listed.
    """
    if isinstance(text, EngineText):
        checked = checked_settings(text.name, tuple(settings_table(text.name).values()), text.settings)
        return EngineText(text.name, {name: checked[name] for name in text.settings})  # numpy's numbers as Python's
    if not isinstance(text, str):
        raise InputError(f"engine {text!r}: must be text, as in 'hnsw(m=16)'")
    form = _FORM.fullmatch(text)
    if form is None:
        raise InputError(f"engine {text!r}: the form is name(setting=value,...), as in hnsw(m=16)")
    table = settings_table(form["name"])
    given: dict[str, Any] = {}
    for part in _BETWEEN.split(form["inside"]) if (form["inside"] or "").strip() else ():
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise InputError(f"engine {text!r}: {part.strip()!r} is not of the form setting=value")
        if name in given:
            raise InputError(f"engine {text!r}: {name} is given twice")
        given[name] = read_setting(table.get(name), value)
    checked_settings(form["name"], tuple(table.values()), given)
    return EngineText(form["name"], given)


def settings_table(engine: str) -> dict[str, AnySetting]:
    """Declared settings of a registered engine, by name; empty for a plug-in that declares none."""
    declared: Any = getattr(engine_class(engine), "SETTINGS", ())
    return {setting.name: setting for setting in declared}


def read_setting(setting: AnySetting | None, text: str) -> int | str:
    """A value as its setting takes it: a whole number where that is meant, else the text as it is."""
    if setting is not None and not isinstance(setting, Setting):
        return text
    try:
        return int(text)
    except ValueError:
        return text
