"""Waiting for a page whose content policy is strict."""

from contextlib import suppress
from typing import Any

from playwright.sync_api import Error, Page


def wait_until(page: Page, expression: str, argument: Any = None, *, seconds: float = 30) -> None:
    """Ask the page again and again; its own polling evaluates text, which the content policy forbids."""
    for _ in range(round(seconds * 10)):
        with suppress(Error):  # the page gives way to the next one
            if page.evaluate(expression, argument):
                return
        page.wait_for_timeout(100)
    raise AssertionError(expression)
