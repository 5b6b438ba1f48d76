"""What kind of database an address names; its password is nobody's business.

Law: an address is never shown whole: only its scheme, or what a store says of it.
"""

from __future__ import annotations

from typing import Final

#: The schema where an address names none: of Condor's own, beside whatever else the database holds.
DEFAULT_SCHEMA: Final = "condor"
#: Both are in use; they mean the same.
_POSTGRES: Final = ("postgresql", "postgres")


def scheme_of(url: str) -> str:
    """What stands before ``://``, in lower case; the whole of what has no such thing is no scheme."""
    scheme, found, _ = url.partition("://")
    return scheme.lower() if found else ""


def is_postgres(url: str) -> bool:
    """Whether an address names a PostgreSQL database, which any number of processes may share."""
    return scheme_of(url) in _POSTGRES


__all__ = ["DEFAULT_SCHEMA", "is_postgres", "scheme_of"]
