"""Where this server is: the names it answers to, the origins that are its own, the name of its cookie.

Law: a name that nobody gave it is not its own, whatever a request says (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from condor.core.errors import RefusedInput, show

#: Names of this machine for itself.
_LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The address of a server."""

    #: As browsers reach it, without a slash at its end: ``https://condor.example``.
    url: str
    #: ``host:port`` and ``host`` as a Host header may say it.
    hosts: frozenset[str]
    #: What an Origin header of our own pages says.
    origins: frozenset[str]
    #: Name of the session cookie; two servers of one machine do not share it.
    cookie: str
    #: Whether browsers reach it through TLS.
    is_secure: bool

    def answers_to(self, host: str) -> bool:
        """Whether a Host header names this server."""
        return host.lower() in self.hosts


def site_of(*, host: str, port: int, public_url: str = "") -> Site:
    """The site of a server that listens at ``host`` and ``port``.

    Args:
        public_url: as browsers reach it, where that differs; needed where others than this machine do.

    Raises:
        RefusedInput: the public address is missing where it is needed, or is no origin.
    """
    if not public_url and not is_loopback(host):
        raise RefusedInput(
            f"listening on {host}, this server must know its own name: set CONDOR_PUBLIC_URL, "
            "for example https://condor.example"
        )
    own = frozenset(f"{name}:{port}" for name in _LOOPBACK_NAMES)
    if not public_url:
        named = f"[{host}]" if ":" in host else host
        return Site(
            url=f"http://{named}:{port}",
            hosts=own | {f"{named}:{port}"},
            origins=frozenset(f"http://{name}" for name in own | {f"{named}:{port}"}),
            cookie=f"condor_session_{port}",
            is_secure=False,
        )
    parts = urlsplit(public_url)
    if (
        parts.scheme not in ("http", "https")
        or not parts.netloc
        or parts.path.strip("/")
        or "@" in parts.netloc
    ):
        raise RefusedInput(f"{show(public_url)} is no public address; write it as https://condor.example")
    is_secure = parts.scheme == "https"
    if not is_secure and not is_loopback(parts.hostname or ""):
        raise RefusedInput("a public address is https: cookies and records do not travel in the clear")
    url = f"{parts.scheme}://{parts.netloc.lower()}"
    return Site(
        url=url,
        hosts=own | {parts.netloc.lower()},
        origins=frozenset({url, *(f"http://{name}" for name in own)}),
        cookie="__Host-condor_session" if is_secure else f"condor_session_{port}",
        is_secure=is_secure,
    )


__all__ = ["Site", "is_loopback", "site_of"]
