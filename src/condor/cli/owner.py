"""Who owns a home's database just now, without owning it; and which of its runs nobody works on.

Law: the lock alone decides; what its file says of the owner is for people.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from condor.cli.home import DATABASE_VARIABLE
from condor.core.errors import HomeUnusable
from condor.ports.database_url import is_postgres

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Statuses in which a run goes on by itself, as long as somebody works on it.
_AT_WORK: Final = frozenset({"created", "planning", "executing"})
#: Characters read of what a lock file says.
_OWNER_CHARS_MAX: Final = 120
#: What ends the standing still of a run that nobody works on.
GOES_ON: Final = (
    "it goes on when this home is next opened by a command that changes something "
    "(condor run, approve, deny, answer, stop, serve)"
)


def database_of(home: Path) -> Path:
    """The database of a home: its own, or the one that is configured."""
    configured = os.environ.get(DATABASE_VARIABLE, "").partition(":///")[2]
    return Path(configured) if configured else home / "condor.db"


def is_shared() -> bool:
    """Whether the database is one that any number of processes may share, so that nobody owns it."""
    return is_postgres(os.environ.get(DATABASE_VARIABLE, ""))


def check_shared(what: str) -> None:
    """Refuse what takes workers where the database is a file's.

    Raises:
        HomeUnusable: it is.
    """
    if not is_shared():
        raise HomeUnusable(
            f"{what} needs a database that processes share: set {DATABASE_VARIABLE} to "
            "postgresql://user:password@host/database; on a file the server works on runs itself"
        )


def owner_of(home: Path) -> str | None:
    """What the lock says of the process that owns the database; None when nobody does."""
    if is_shared():
        return None
    lock = Path(f"{database_of(home)}-lock")
    try:
        with lock.open("r", encoding="utf-8", errors="replace") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return file.readline(_OWNER_CHARS_MAX).strip() or "unknown"
    except OSError:
        return None
    return None


def stands_alone(home: Path, run: Mapping[str, Any]) -> bool:
    """Whether a run is at work by its status while nobody owns the home: its process was interrupted."""
    # Of a shared database's runs each living process says that it works on them; those of one that is gone
    # are taken up by another.
    return not is_shared() and str(run.get("status")) in _AT_WORK and owner_of(home) is None


__all__ = ["GOES_ON", "check_shared", "database_of", "is_shared", "owner_of", "stands_alone"]
