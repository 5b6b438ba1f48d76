"""Where a FHIR server is, and whether an address that it names is there too; pure.

Law 1: one origin is asked: scheme, host and port of the configured address, compared after parsing and in
full, never by how a text begins. What the server names itself (a next page) is below the configured path,
and no segment of it is a dot segment, however it is written.
Law 2: what could be read in two ways is no address: user names, backslashes, control characters.
Law 3: a token goes over TLS, or to this machine. No configured address is link-local: clouds keep their
secrets there.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

from condor_hms.fhir.errors import Unavailable

if TYPE_CHECKING:
    from urllib.parse import SplitResult

__all__ = ["FhirAddress"]

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
_PORTS = {"http": 80, "https": 443}
#: Read in one way by one library and in another by the next.
_AMBIGUOUS = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")
_ESCAPED_SLASH = re.compile(r"%2f|%5c|\\\\", re.IGNORECASE)
#: A path that is still escaped after so many is one that nobody means.
_ESCAPINGS_MAX = 5
_GIVE = "give https://host/path"


@dataclass(frozen=True, slots=True)
class FhirAddress:
    """The base of a FHIR server, with a slash at its end."""

    base: str

    @classmethod
    def of(cls, base_url: str, *, has_token: bool) -> FhirAddress:
        """The address that is configured.

        Raises:
            Unavailable: it is none, or nothing may be sent there.
        """
        parts = _parts(base_url)
        if parts is None or parts.query or parts.fragment or _climbs(parts.path):
            raise Unavailable(f"{base_url[:80]!r} is no URL of a FHIR server: {_GIVE}")
        host = parts.hostname or ""
        if _is_reserved(host):
            raise Unavailable(f"{host} is a link-local or reserved address: no FHIR server is there; {_GIVE}")
        if has_token and parts.scheme != "https" and host not in _LOOPBACK_NAMES:
            raise Unavailable("a bearer token goes over https only, or to this machine")
        return cls(base_url.rstrip("/") + "/")

    def below(self, link: str) -> str:
        """A link that the server gave, absolute.

        Raises:
            Unavailable: it leads elsewhere.
        """
        parts, own = _parts(link, self.base), urlsplit(self.base)
        if parts is None or _origin(parts) != _origin(own):
            raise Unavailable("the server's next page is on another server")
        if _climbs(parts.path) or _climbs(link.partition("?")[0].partition("#")[0]):
            raise Unavailable("the server's next page climbs: a dot segment or an escaped slash")
        root = own.path.rstrip("/")
        if parts.path.rstrip("/") != root and not parts.path.startswith(root + "/"):
            raise Unavailable("the server's next page is not below its address")
        return parts.geturl()


def _parts(url: str, base: str = "") -> SplitResult | None:
    """An http address without a user name, relative to a base; None for anything else."""
    if _AMBIGUOUS.search(url):
        return None
    try:
        parts = urlsplit(urljoin(base, url))
        is_good = parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if is_good and not re.search(r"[@\s]", parts.netloc) else None


def _climbs(path: str) -> bool:
    """Whether a path has ``.`` or ``..``, or a slash that is escaped, in any number of escapings.

    What follows a semicolon in a segment is no part of it: some servers read ``..;x`` as ``..``.
    """
    for _ in range(_ESCAPINGS_MAX):
        segments = (segment.partition(";")[0] for segment in path.split("/"))
        if _ESCAPED_SLASH.search(path) or any(segment in (".", "..") for segment in segments):
            return True
        plain = unquote(path)
        if plain == path:
            return False
        path = plain
    return True


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]


def _is_reserved(host: str) -> bool:
    """Link-local, unspecified or multicast, in any way of writing an address."""
    address = _ip_of(host)
    return address is not None and (address.is_link_local or address.is_unspecified or address.is_multicast)


def _ip_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host is written as; IPv4 in IPv6, and as one number too. None for a name."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host))
        except OSError:
            return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
