"""``server.json`` in the home: where its running server is, and what it reads, for the commands of its owner.

Law 1: it holds secrets, so it is its owner's alone (0600) and goes when the server goes.
Law 2: a file that a dead server left is nobody's: who reads it asks whether the process is alive.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

NAME: Final = "server.json"
#: Longest file that is read, in bytes; ours has two hundred.
_BYTES_MAX: Final = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFile:
    """What a running server leaves in its home."""

    #: Its address as this machine reaches it.
    url: str
    #: The home's own secret: it signs in whoever may read it.
    token: str = field(repr=False)
    pid: int
    #: The database that it keeps its runs in, where that is not in the home; a password may be in it.
    database_url: str = field(default="", repr=False)

    def write(self, home: Path) -> None:
        """Leave it, whole or not at all."""
        draft = home / f".{NAME}.{os.getpid()}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            told = {"v": 1, "url": self.url, "token": self.token, "pid": self.pid}
            json.dump(told | ({"databaseUrl": self.database_url} if self.database_url else {}), file)
        draft.replace(home / NAME)

    def remove(self, home: Path) -> None:
        """Take it away, unless another server has left its own."""
        if read_server_file(home) == self:
            (home / NAME).unlink(missing_ok=True)


def read_server_file(home: Path) -> ServerFile | None:
    """What a server left; None where there is nothing that can be read."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        with (home / NAME).open("rb") as file:
            found = json.loads(file.read(_BYTES_MAX))
        return ServerFile(
            url=str(found["url"]),
            token=str(found["token"]),
            pid=int(found["pid"]),
            database_url=str(found.get("databaseUrl", "")),
        )
    return None


def running_server(home: Path) -> ServerFile | None:
    """The server of a home, if its process is alive."""
    found = read_server_file(home)
    if found is None or found.pid <= 0:
        return None
    try:
        os.kill(found.pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return found
    return found


__all__ = ["ServerFile", "read_server_file", "running_server"]
