"""What an explorer serves, to whom, and within which limits."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from visual_search.errors import InputError, Problems

__all__ = ["ExplorerSettings", "is_loopback"]

_SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class ExplorerSettings:
    """What ``create_app`` is given.

    Attributes
    ----------
    results : tuple of Path
        Result files, and folders in which they lie.
    indexes : tuple of Path
        Folders that ``VectorIndex.save`` wrote.
    sweeps : tuple of Path
        Files that a sweep wrote.
    images : tuple of Path
        Folders whose pictures may be shown where a result names them, beside those in which results lie.
    host : str
        The address that will be bound; beyond loopback a token is needed.
    token : str or None
        Whoever asks must show it; at least 16 characters.
    names : tuple of str
        Host names, beside those of the address bound, under which requests may come.
    max_body_bytes, max_upload_bytes : int
        Longest body of a request; of one that carries an image.
    body_seconds : float
        How long a request's body may stop coming before it is given up.
    max_upload_pixels : int
        Width times height of an uploaded picture.
    kept_upload_bytes : int
        Uploaded pictures that are kept, together; the oldest go first.
    upload_seconds : float
        How long an uploaded picture is kept at most.
    thumbnail_bytes : int
        Small pictures that are kept, together; those not asked for the longest go first.

    Raises
    ------
    InputError
        Beyond loopback without a token, a short token, a limit below 1; all at once.

    Examples
    --------
    >>> ExplorerSettings(host="0.0.0.0")
    Traceback (most recent call last):
    ...
    visual_search.errors.InputError: explorer: 1 problem
      - host='0.0.0.0': reached from other machines, so a token is needed: --token auto makes one
    """

    results: tuple[Path, ...] = ()
    indexes: tuple[Path, ...] = ()
    sweeps: tuple[Path, ...] = ()
    images: tuple[Path, ...] = ()
    host: str = "127.0.0.1"
    token: str | None = None
    names: tuple[str, ...] = ()
    max_body_bytes: int = 1 << 20
    max_upload_bytes: int = 32 << 20
    body_seconds: float = 30.0
    max_upload_pixels: int = 50_000_000
    kept_upload_bytes: int = 256 << 20
    upload_seconds: float = 3600.0
    thumbnail_bytes: int = 128 << 20

    def __post_init__(self) -> None:
        problems = Problems("explorer")
        if self.token is None and not is_loopback(self.host):
            problems.add(
                f"host={self.host!r}: reached from other machines, so a token is needed: --token auto makes one"
            )
        if self.token is not None and (len(self.token) < _SHORTEST_TOKEN or not self.token.isascii()):
            problems.add(
                f"token: {len(self.token)} characters; at least {_SHORTEST_TOKEN} of ASCII are needed, so that it "
                "cannot be guessed: --token auto makes one"
            )
        for name in ("max_body_bytes", "max_upload_bytes", "max_upload_pixels", "kept_upload_bytes"):
            if getattr(self, name) < 1:
                problems.add(f"{name}={getattr(self, name)!r}: give a positive integer")
        if not self.body_seconds > 0:
            problems.add(f"body_seconds={self.body_seconds!r}: give a positive number of seconds")
        problems.raise_if_any(InputError)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
