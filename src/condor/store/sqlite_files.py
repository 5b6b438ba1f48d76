"""Opening the database file: who may, how, and what to say when it cannot be.

Law 1: nothing is written before it is known whose file it is and which version it has.
Law 2: one process owns a database at a time, by a lock that ends with the process; readers need none.
Law 3: a reading connection cannot write, and so never checkpoints.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import sys
from pathlib import Path
from typing import IO, Final
from urllib.parse import quote

from condor.core.errors import HomeUnusable
from condor.ports.writable import what_is_shut
from condor.store.migrations import SCHEMA_VERSION, migrate, stored_version
from condor.store.versions import check_version

#: Seconds to wait for a lock of another process (a backup, a shell) before giving up.
_BUSY_WAIT_S: Final = 1.0
#: Pages in the write-ahead log before the writer copies them back: 16 MB. The default of 1,000 makes the
#: writer pause four times as often.
_CHECKPOINT_PAGES: Final = 4_000
#: Size of the write-ahead log after a checkpoint: 64 MB, four checkpoints' worth.
_LOG_BYTES_MAX: Final = 64 * 2**20
#: Statements kept prepared for each connection; more than all that there are.
_STATEMENTS_MAX: Final = 128
#: Characters read of what a lock file says of its owner: a number and two words.
_OWNER_CHARS_MAX: Final = 120


def open_writer(path: Path) -> sqlite3.Connection:
    """The one writing connection: made, checked and migrated.

    Raises:
        HomeUnusable: not a database, not ours, of a newer version, or not writable; nothing was changed.
    """
    _check_writable(path)
    try:
        with contextlib.suppress(FileExistsError):
            # It holds record data; its log and index take its mode.
            path.touch(0o600, exist_ok=False)
        connection = _connect(path, "rw")
    except (OSError, sqlite3.Error) as error:
        raise HomeUnusable(f"cannot open {path} for writing: {_next_step(path, error)}") from error
    try:
        version = stored_version(connection, str(path))
        check_version(version, str(path), newest=SCHEMA_VERSION)
        if version == 0:
            connection.execute("PRAGMA page_size = 4096")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        # A log that grew while somebody read for long is cut back.
        connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES_MAX}")
        connection.execute("PRAGMA foreign_keys = OFF")
        # What was erased is overwritten, not only unlinked.
        connection.execute("PRAGMA secure_delete = ON")
        migrate(connection, version)
    except sqlite3.Error as error:
        connection.close()
        raise HomeUnusable(f"cannot use {path}: {_next_step(path, error)}") from error
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that cannot write.

    Raises:
        HomeUnusable: no such file, not a database, not ours, or another version than this Condor's.
    """
    if not path.exists():
        raise HomeUnusable(f"there is no database {path} yet; start something first")
    try:
        return _shared_reader(path)
    except sqlite3.Error as error:
        raise HomeUnusable(f"cannot read {path}: {_next_step(path, error)}") from error


def _shared_reader(path: Path) -> sqlite3.Connection:
    try:
        return _checked_reader(path, "ro")
    except sqlite3.OperationalError:
        # In a directory where nothing may be created SQLite cannot share a write-ahead log. Without
        # one the file is complete and, as nobody can create one here, stays so.
        if os.access(path.parent, os.W_OK) or Path(f"{path}-wal").exists():
            raise
        return _checked_reader(path, "ro&immutable=1")


def _checked_reader(path: Path, mode: str) -> sqlite3.Connection:
    connection = _connect(path, mode)
    try:
        connection.execute("PRAGMA query_only = ON")
        version = stored_version(connection, str(path))
        check_version(version, str(path), newest=SCHEMA_VERSION, oldest=SCHEMA_VERSION)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        timeout=_BUSY_WAIT_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_STATEMENTS_MAX,
    )


def lock_owner(path: Path) -> IO[str]:
    """Become the owner of a database until the returned file is closed or the process ends.

    A file of its own: closing any other handle on the database would drop SQLite's locks on it. What
    it says of its owner is for people; the lock alone decides, so an owner that died holds nothing.

    Raises:
        HomeUnusable: another process owns it (code ``locked``), or its directory cannot be written.
    """
    lock = Path(f"{path}-lock")
    try:
        file = lock.open("a+", encoding="utf-8", errors="replace")
    except OSError as error:
        raise HomeUnusable(f"cannot write beside {path}: {what_is_shut(lock, error=error)}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = _owner_said_in(file)
        file.close()
        raise HomeUnusable(
            f"{path} is in use by {owner}; wait for it or stop it (what only reads works meanwhile)",
            code="locked",
        ) from error
    with contextlib.suppress(OSError):  # a full disk says so at the first write that matters
        file.truncate(0)
        file.write(f"{os.getpid()} {_own_command()}\n")
        file.flush()
    return file


def _check_writable(path: Path) -> None:
    """SQLite opens what it cannot write, and says so only when it should write."""
    beside = [Path(f"{path}{end}") for end in ("", "-wal", "-shm")]
    for needed in (path.parent, *(one for one in beside if one.exists())):
        if not os.access(needed, os.W_OK):
            raise HomeUnusable(what_is_shut(needed))


def _next_step(path: Path, error: Exception) -> str:
    """What the machine or SQLite said of a database, and what to do."""
    if isinstance(error, OSError):
        return what_is_shut(path, error=error)
    match getattr(error, "sqlite_errorcode", None):
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            what = "it is no database, or a damaged one: restore it from a backup"
        case sqlite3.SQLITE_FULL:
            what = "free some space on its disk"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            what = "wait for the program that uses it"
        case _:
            what = "look at its file and its directory, or restore it from a backup"
    return f"{error}; {what}, or name another home (--home, CONDOR_HOME)"


def _owner_said_in(file: IO[str]) -> str:
    """``process 4711 (condor run)``, as far as the lock file tells."""
    try:
        file.seek(0)
        pid, _, command = file.readline(_OWNER_CHARS_MAX).strip().partition(" ")
    except OSError:
        pid, command = "", ""
    if not pid.isdigit():
        return "another process"
    return f"process {pid} ({command})" if command.isprintable() and command else f"process {pid}"


def _own_command() -> str:
    """The program; for ours its command too. Never an argument that may hold data."""
    program = Path(sys.argv[0] if sys.argv and sys.argv[0] else "python")
    name = program.parent.name if program.name == "__main__.py" else program.name
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    return f"{name} {first}" if name == "condor" and first.isascii() and first.isalpha() else name
