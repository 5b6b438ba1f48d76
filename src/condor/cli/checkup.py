"""The doctor's checks, each one line.

Law: a sick home is not touched: what is there is only read. Whether it takes a write is tried with a small
file of the doctor's own, which it removes.
"""

from __future__ import annotations

import contextlib
import os
import platform
import sqlite3
import stat
import sys
import tempfile
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from condor.cli.check import Check, note, ok, problem, warning
from condor.cli.coroutines import run_to_end
from condor.cli.home import PACKS_VARIABLE, installed_packs, packs_configured, place_to_read
from condor.cli.home_checks import look_into
from condor.cli.owner import database_of, is_shared, owner_of
from condor.core.errors import CondorError, show
from condor.core.recovery.limits import LIMITS, amount_words, clamp_limit
from condor.ports.database_url import is_postgres
from condor.ports.writable import what_is_shut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor.config import Settings

#: Releases of SQLite in which two connections that checkpoint or write at once can corrupt a database
#: (the WAL-reset fault). One connection of ours writes and checkpoints, so it cannot happen here.
_WAL_RESET = ((3, 7, 0), (3, 51, 2))
#: How a database of SQLite begins.
_MAGIC = b"SQLite format 3\0"
#: Bytes of the file with which it is tried whether the home takes a write: a page of the log and more.
_TRIED_BYTES = 64 * 1024
#: Bits of a mode that let others in.
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def checkup(home: Path, *, asks_model: bool = False) -> list[Check]:
    """Everything, in the order in which a person would look.

    Args:
        asks_model: ask the configured model for one word; it is not reached otherwise.
    """
    return [*_installation(), *_settings(), *_model(asks=asks_model), *_packs(), *_home(home)]


def _installation() -> Iterator[Check]:
    try:
        yield ok("condor", version("condor-runtime"))
    except PackageNotFoundError:
        yield note("condor", "not installed as a package; packs are found only when it is")
    yield ok("python", f"{platform.python_version()} ({sys.executable})")
    linked = sqlite3.sqlite_version_info
    if _WAL_RESET[0] <= linked <= _WAL_RESET[1]:
        yield note(
            "sqlite",
            f"{sqlite3.sqlite_version} has the WAL-reset fault (3.7.0 to 3.51.2); condor writes through one "
            "connection, so it is not met here, but let no other program write to the database",
        )
    else:
        yield ok("sqlite", sqlite3.sqlite_version)


def _settings() -> Iterator[Check]:
    """What the environment sets: each value that cannot be used, and what to write instead."""
    from condor.config import read_settings

    try:
        settings = read_settings()
    except CondorError as error:
        yield problem("settings", str(error))
        return
    bad = list(_ceilings_that_do_not_count(settings))
    url = settings.database_url
    if url and not is_postgres(url) and not url.partition("sqlite:///")[2]:
        # Not shown: it may hold a password.
        bad.append(
            "CONDOR_DATABASE_URL cannot be used; write sqlite:///path/to/file.db "
            "or postgresql://user:password@host/database"
        )
    bad += _processors_that_cannot_be_made(settings)
    yield from (problem("settings", message) for message in bad)
    if not bad:
        yield ok("settings", "each can be used")


def _processors_that_cannot_be_made(settings: Settings) -> Iterator[str]:
    """What a run would refuse of its message processors; they are made, as it would make them."""
    from condor.processors import build_input_processors, build_output_processors

    for build in (build_input_processors, build_output_processors):
        try:
            build(settings.processors)
        except CondorError as error:
            yield str(error)
            return


def _model(*, asks: bool) -> Iterator[Check]:
    """Whether a model is asked, and what for; a run without one lacks nothing but requests in free words."""
    from condor.bootstrap import look_at_model
    from condor.config import read_settings

    try:
        settings = read_settings()
        if not settings.model_name and not asks:
            yield note(
                "model",
                "none, and none is needed: plans, a pack's own kinds of request and closings work without; "
                "CONDOR_MODEL_NAME and CONDOR_MODEL_BASE_URL name one",
            )
            return
        yield ok("model", run_to_end(look_at_model(settings, asks=asks)))
    except CondorError as error:
        if error.code != "settings":  # they are told of above
            yield problem("model", str(error))
        return
    read = urlsplit(settings.model_base_url)
    if settings.model_key.get_secret_value() and read.scheme == "http" and not _is_here(read.hostname):
        yield warning("model key", f"it travels unencrypted to {read.hostname}; take an https address")


def _is_here(host: str | None) -> bool:
    return host in ("localhost", "127.0.0.1", "::1")


def _ceilings_that_do_not_count(settings: Settings) -> Iterator[str]:
    """Ceilings of recovery whose value is out of bounds, and for which the default counts instead."""
    for limit in LIMITS:
        given = getattr(settings, limit.name)
        # Only what is not used itself follows the default.
        if given is None or clamp_limit(limit, given) == clamp_limit(
            replace(limit, default=limit.floor), given
        ):
            continue
        yield (
            f"CONDOR_{limit.name.upper()} is {show(given)} and {amount_words(limit.default)} counts instead; "
            f"write a number from {limit.floor:g} to {limit.most:.12g}"
        )


def _packs() -> Iterator[Check]:
    try:
        packs = installed_packs()
    except CondorError as error:
        yield problem("packs", str(error))
        return
    if not packs:
        yield note(
            "packs", "none is installed; tools come from your own program, or from condor-runtime[hms]"
        )
    try:
        packs_configured()
    except CondorError as error:
        yield problem("packs", f"{error}; look at {PACKS_VARIABLE}")
    for name, pack in packs.items():
        yield ok("pack", f"{name}{' (with a demonstration)' if pack.has_demo else ''}")


def _home(home: Path) -> Iterator[Check]:
    if not home.exists():
        yield note("home", f"there is none at {home}; `condor run` makes one")
        return
    try:
        place = place_to_read(home)
    except CondorError as error:
        yield problem("home", str(error))
        return
    yield ok("home", f"{home} ({place.kind}; packs: {', '.join(place.packs) or 'none'})")
    yield from _modes(home)
    if is_shared():
        yield note("database", "PostgreSQL, which other processes may share")
        yield from look_into(place, is_owned=False)
        return
    database = database_of(home)
    yield _writable(home, database)
    if not database.exists():
        yield note("database", f"none at {database} yet")
        return
    yield from _schema(database)
    owner = owner_of(home)
    yield note("owner", f"in use by process {owner}") if owner else ok("owner", "nobody")
    yield from look_into(place, is_owned=owner is not None)


def _modes(home: Path) -> Iterator[Check]:
    """The home is its owner's alone."""
    open_to_others = [
        path.name or str(path)
        for path in (home, home / "home.json", home / "condor.db")
        if path.exists()
        and path.stat().st_mode & _OTHERS
        # Inside a closed directory a file's own mode lets nobody in.
        and (path == home or home.stat().st_mode & _OTHERS)
    ]
    if open_to_others:
        yield problem(
            "modes",
            f"others may read {', '.join(open_to_others)}; run: chmod 700 {home} && chmod 600 {home}/*.*",
        )
    else:
        yield ok("modes", f"{stat.S_IMODE(home.stat().st_mode):04o}, its owner's alone")


def _writable(home: Path, database: Path) -> Check:
    """Whether a command could change something here."""
    beside = [Path(f"{database}{end}") for end in ("", "-wal", "-shm", "-lock")]
    wanted = {home, database.parent, *(path for path in beside if path.exists())}
    shut = [str(path) for path in sorted(wanted) if not os.access(path, os.W_OK)]
    if shut:
        return problem("writable", "; ".join(what_is_shut(Path(path)) for path in shut))
    for directory in sorted({home, database.parent}):
        try:
            _try_writing(directory)
        except OSError as error:
            return problem("writable", what_is_shut(directory, error=error))
    if not _looks_like_a_database(database):
        return problem(
            "writable",
            f"{database} is no SQLite database, so nothing can be written to it: restore it from a backup, "
            "or move it away",
        )
    return ok("writable", "the home and its database; a small file was written, synced and removed")


def _try_writing(directory: Path) -> None:
    """Write, sync and remove a small file; what the machine says against it is raised."""
    number, name = tempfile.mkstemp(prefix=".condor-doctor-", dir=directory)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(bytes(_TRIED_BYTES))
            file.flush()
            os.fsync(file.fileno())
    finally:
        Path(name).unlink()


def _looks_like_a_database(database: Path) -> bool:
    """Whether SQLite would take the file: it begins as one, is empty, or is not there yet."""
    try:
        with database.open("rb") as file:
            begins = file.read(len(_MAGIC))
    except OSError:
        return True  # not there yet, or said by another check
    return begins in (b"", _MAGIC)


def _schema(path: Path) -> Iterator[Check]:
    """The schema version as stored; whether this Condor reads it is said by opening it."""
    # In a directory where nothing may be made SQLite reads only what it is told nobody changes.
    mode = "ro" if os.access(path.parent, os.W_OK) or Path(f"{path}-wal").exists() else "ro&immutable=1"
    uri = f"file:{quote(str(path.absolute()))}?mode={mode}"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
            (found,) = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    except (sqlite3.Error, TypeError) as error:
        yield problem("schema", f"{path} cannot be read: {error}; restore it from a backup, or move it away")
        return
    yield ok("schema", f"version {found}")


__all__ = ["Check", "checkup"]
