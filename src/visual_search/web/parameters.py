"""Query parameters as forms send them: a field that was left empty says nothing."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

__all__ = ["OptionalShare", "OptionalText"]


def _nothing_if_empty(value: Any) -> Any:
    return None if value == "" else value


#: A text, or None where the field is empty or absent.
OptionalText = Annotated[str | None, BeforeValidator(_nothing_if_empty)]
#: A number above 0 and below 1, or None where the field is empty or absent.
OptionalShare = Annotated[Annotated[float, Field(gt=0, lt=1)] | None, BeforeValidator(_nothing_if_empty)]
