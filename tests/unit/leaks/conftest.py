"""Roles made of pictures in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from PIL import Image

from visual_search.ids import Ids
from visual_search.leaks.roles import Role, RoleName
from visual_search.leaks.signatures import signatures_of

MakeRole = Callable[..., Role]


@pytest.fixture
def role() -> MakeRole:
    def made(name: RoleName, pictures: dict[Any, Image.Image] | Iterable[Image.Image], **more: Any) -> Role:
        named = pictures if isinstance(pictures, dict) else {f"{name}{n}": p for n, p in enumerate(pictures)}
        return Role(name, Ids(list(named)), signatures_of(list(named.values())), **more)

    return made
