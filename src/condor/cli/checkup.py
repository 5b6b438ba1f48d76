"""The doctor's checks, each one line. Reading only: a sick home is not touched."""

from __future__ import annotations

import contextlib
import platform
import sqlite3
import stat
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Literal

from condor.cli.coroutines import run_to_end
from condor.cli.home import Place, installed_packs, place_to_read
from condor.cli.session import reading
from condor.core.errors import CondorError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from condor.core.audit import ChainVerdict

Level = Literal["ok", "note", "problem"]

#: Releases of SQLite in which two connections that checkpoint or write at once can corrupt a database
#: (the WAL-reset fault). One connection of ours writes and checkpoints, so it cannot happen here.
_WAL_RESET = ((3, 7, 0), (3, 51, 2))
#: Bits of a mode that let others in.
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    level: Level
    message: str


def checkup(home: Path) -> list[Check]:
    """Everything, in the order in which a person would look."""
    return [*_installation(), *_packs(), *_home(home)]


def _ok(name: str, message: str) -> Check:
    return Check(name=name, level="ok", message=message)


def _note(name: str, message: str) -> Check:
    return Check(name=name, level="note", message=message)


def _problem(name: str, message: str) -> Check:
    return Check(name=name, level="problem", message=message)


def _installation() -> Iterator[Check]:
    try:
        yield _ok("condor", version("condor-runtime"))
    except PackageNotFoundError:
        yield _note("condor", "not installed as a package; packs are found only when it is")
    yield _ok("python", f"{platform.python_version()} ({sys.executable})")
    linked = sqlite3.sqlite_version_info
    if _WAL_RESET[0] <= linked <= _WAL_RESET[1]:
        yield _note(
            "sqlite",
            f"{sqlite3.sqlite_version} has the WAL-reset fault (3.7.0 to 3.51.2); condor writes through one "
            "connection, so it is not met here, but let no other program write to the database",
        )
    else:
        yield _ok("sqlite", sqlite3.sqlite_version)


def _packs() -> Iterator[Check]:
    try:
        packs = installed_packs()
    except CondorError as error:
        yield _problem("packs", str(error))
        return
    if not packs:
        yield _note(
            "packs", "none is installed; tools come from your own program, or from condor-runtime[hms]"
        )
    for name, pack in packs.items():
        yield _ok("pack", f"{name}{' (with a demonstration)' if pack.has_demo else ''}")


def _home(home: Path) -> Iterator[Check]:
    if not home.exists():
        yield _note("home", f"there is none at {home}; `condor run` makes one")
        return
    try:
        place = place_to_read(home)
    except CondorError as error:
        yield _problem("home", str(error))
        return
    yield _ok("home", f"{home} ({place.kind}; packs: {', '.join(place.packs) or 'none'})")
    yield from _modes(home)
    if not (home / "condor.db").exists():
        yield _note("database", "none in the home yet")
        return
    yield from _schema(home / "condor.db")
    yield _owner(home / "condor.db-lock")
    yield from _stored(place)


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
        yield _problem(
            "modes",
            f"others may read {', '.join(open_to_others)}; run: chmod 700 {home} && chmod 600 {home}/*.*",
        )
    else:
        yield _ok("modes", f"{stat.S_IMODE(home.stat().st_mode):04o}, its owner's alone")


def _schema(path: Path) -> Iterator[Check]:
    """The schema version as stored; whether this Condor reads it is said by opening it."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path.absolute()}?mode=ro", uri=True)) as connection:
            (found,) = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    except (sqlite3.Error, TypeError) as error:
        yield _problem("schema", f"cannot be read: {error}")
        return
    yield _ok("schema", f"version {found}")


def _owner(lock: Path) -> Check:
    """Whether another process owns the database just now."""
    import fcntl

    try:
        with lock.open("r", encoding="utf-8", errors="replace") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return _note("owner", f"in use by process {file.readline(120).strip() or 'unknown'}")
    except OSError:
        return _ok("owner", "nobody")
    return _ok("owner", "nobody")


def _stored(place: Place) -> Iterator[Check]:
    """What the database says when it is opened: its cards, and its audit chains."""
    try:
        cards, verdicts = run_to_end(_looked_into(place))
    except CondorError as error:
        yield _problem("database", str(error))
        return
    yield _ok("cards", f"{cards} open{' or more' if cards == _CARDS_MAX else ''}")
    bad = [verdict for verdict in verdicts if not verdict.kept]
    for verdict in bad:
        yield _problem("audit", verdict.message)
    if not bad:
        yield _ok(
            "audit", f"{len(verdicts)} chains, {sum(verdict.rows for verdict in verdicts)} rows, unbroken"
        )


#: Open cards counted before the doctor says "or more".
_CARDS_MAX = 1_000


async def _looked_into(place: Place) -> tuple[int, list[ChainVerdict]]:
    async with reading(place) as condor:
        cards = await condor.pending(limit=_CARDS_MAX)
        return len(cards), [verdict async for verdict in condor.verify()]


__all__ = ["Check", "checkup"]
