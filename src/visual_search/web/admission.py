"""Who may ask: under which host name, with which token, from which site."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import socket
from urllib.parse import urlsplit

from starlette.requests import Request

from visual_search.web.settings import ExplorerSettings, is_loopback

__all__ = ["Admission"]

_SAFE = ("GET", "HEAD", "OPTIONS")


class Admission:
    """Decides for one explorer.

    Parameters
    ----------
    settings : ExplorerSettings
    """

    def __init__(self, settings: ExplorerSettings) -> None:
        self._token = settings.token
        self._beyond = not is_loopback(settings.host)
        names = {"localhost", settings.host, *settings.names}
        if self._beyond:
            names.add(socket.gethostname())
        self._names = {name.lower() for name in names}

    def host_is_ours(self, request: Request) -> bool:
        """Whether the request names us: a page elsewhere whose name was made to lead here (DNS rebinding) does not.

        An address in figures cannot be such a name, so beyond loopback any is taken.
        """
        host = _host_name(request.headers.get("host", ""))
        if host in self._names:
            return True
        try:
            number = ipaddress.ip_address(host)
        except ValueError:
            return False
        return self._beyond or number.is_loopback

    def same_site(self, request: Request) -> bool:
        """Whether what would change something comes from our own pages, or from no browser at all."""
        if request.method in _SAFE:
            return True
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return False
        origin = request.headers.get("origin")
        if origin is None:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        host = request.headers.get("host", "").lower()
        return parts.scheme in ("http", "https") and parts.netloc.lower() == host

    @property
    def needs_token(self) -> bool:
        """Whether a token must be shown."""
        return self._token is not None

    def is_token(self, shown: str) -> bool:
        """Whether this is the token; takes equally long for every wrong one."""
        return self._token is not None and hmac.compare_digest(
            shown.encode("utf-8", "replace"), self._token.encode()
        )

    def has_token(self, request: Request) -> bool:
        """Whether the request shows the token: in its cookie, or as ``Authorization: Bearer``."""
        if self._token is None:
            return True
        scheme, _, shown = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self.is_token(shown.strip())
        cookie = request.cookies.get(self.cookie_name(request), "")
        return hmac.compare_digest(cookie.encode("utf-8", "replace"), self.cookie_value.encode())

    @property
    def cookie_value(self) -> str:
        """What the cookie holds: not the token itself."""
        assert self._token is not None
        return hmac.new(self._token.encode(), b"visual-search explorer", hashlib.sha256).hexdigest()

    @staticmethod
    def cookie_name(request: Request) -> str:
        """A name for each port, since browsers share cookies between the ports of a host."""
        return f"visual-search-{request.scope['server'][1]}"


_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]@/:\\]+))(?::[0-9]{1,5})?")


def _host_name(header: str) -> str:
    """Name or number of a Host header, without port and brackets; empty where it is none."""
    found = _HOST.fullmatch(header.lower())
    return "" if found is None else found[1] or found[2]
