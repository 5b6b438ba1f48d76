"""The doctor's checks, each one line. Reading only: a sick home is not touched."""

from __future__ import annotations

import contextlib
import os
import platform
import sqlite3
import stat
import sys
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote, urlsplit

from condor.cli.coroutines import run_to_end
from condor.cli.home import Place, installed_packs, place_to_read
from condor.cli.owner import GOES_ON, database_of, owner_of
from condor.cli.session import reading
from condor.cli.values import count
from condor.core.errors import CondorError, show
from condor.core.recovery.limits import LIMITS, amount_words, clamp_limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor.config import Settings
    from condor.core.audit import ChainVerdict

Level = Literal["ok", "note", "warning", "problem"]

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


def checkup(home: Path, *, asks_model: bool = False) -> list[Check]:
    """Everything, in the order in which a person would look.

    Args:
        asks_model: ask the configured model for one word; it is not reached otherwise.
    """
    return [*_installation(), *_settings(), *_model(asks=asks_model), *_packs(), *_home(home)]


def _ok(name: str, message: str) -> Check:
    return Check(name=name, level="ok", message=message)


def _note(name: str, message: str) -> Check:
    return Check(name=name, level="note", message=message)


def _warning(name: str, message: str) -> Check:
    return Check(name=name, level="warning", message=message)


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


def _settings() -> Iterator[Check]:
    """What the environment sets: each value that cannot be used, and what to write instead."""
    from condor.config import read_settings

    try:
        settings = read_settings()
    except CondorError as error:
        yield _problem("settings", str(error))
        return
    bad = list(_ceilings_that_do_not_count(settings))
    url = settings.database_url
    if url and not url.partition("sqlite:///")[2]:
        bad.append(f"CONDOR_DATABASE_URL is {show(url)}; write sqlite:///path/to/file.db")
    yield from (_problem("settings", message) for message in bad)
    if not bad:
        yield _ok("settings", "each can be used")


def _model(*, asks: bool) -> Iterator[Check]:
    """Whether a model is asked, and what for; a run without one lacks nothing but requests in free words."""
    from condor.bootstrap import look_at_model
    from condor.config import read_settings

    try:
        settings = read_settings()
        if not settings.model_name and not asks:
            yield _note(
                "model",
                "none, and none is needed: plans, a pack's own kinds of request and closings work without; "
                "CONDOR_MODEL_NAME and CONDOR_MODEL_BASE_URL name one",
            )
            return
        yield _ok("model", run_to_end(look_at_model(settings, asks=asks)))
    except CondorError as error:
        if error.code != "settings":  # they are told of above
            yield _problem("model", str(error))
        return
    read = urlsplit(settings.model_base_url)
    if settings.model_key.get_secret_value() and read.scheme == "http" and not _is_here(read.hostname):
        yield _warning("model key", f"it travels unencrypted to {read.hostname}; take an https address")


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
    database = database_of(home)
    yield _writable(home, database)
    if not database.exists():
        yield _note("database", f"none at {database} yet")
        return
    yield from _schema(database)
    owner = owner_of(home)
    yield _note("owner", f"in use by process {owner}") if owner else _ok("owner", "nobody")
    yield from _stored(place, is_owned=owner is not None)


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


def _writable(home: Path, database: Path) -> Check:
    """Whether a command could change something here."""
    beside = [Path(f"{database}{end}") for end in ("", "-wal", "-shm", "-lock")]
    wanted = {home, database.parent, *(path for path in beside if path.exists())}
    shut = [str(path) for path in sorted(wanted) if not os.access(path, os.W_OK)]
    if not shut:
        return _ok("writable", "the home and its database")
    return _problem(
        "writable",
        f"{', '.join(shut)} cannot be written, so this home can be read only; run: chmod -R u+rwX {home} "
        "(or name another home: --home)",
    )


def _schema(path: Path) -> Iterator[Check]:
    """The schema version as stored; whether this Condor reads it is said by opening it."""
    # In a directory where nothing may be made SQLite reads only what it is told nobody changes.
    mode = "ro" if os.access(path.parent, os.W_OK) or Path(f"{path}-wal").exists() else "ro&immutable=1"
    uri = f"file:{quote(str(path.absolute()))}?mode={mode}"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
            (found,) = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    except (sqlite3.Error, TypeError) as error:
        yield _problem("schema", f"cannot be read: {error}")
        return
    yield _ok("schema", f"version {found}")


def _stored(place: Place, *, is_owned: bool) -> Iterator[Check]:
    """What the database says when it is opened: its cards, interrupted runs, and its audit chains."""
    try:
        cards, at_work, verdicts = run_to_end(_looked_into(place))
    except CondorError as error:
        yield _problem("database", str(error))
        return
    yield _ok("cards", f"{cards} open{' or more' if cards == _CARDS_MAX else ''}")
    if not is_owned:
        yield from (_warning("run", f"{run_id} was interrupted; {GOES_ON}") for run_id in at_work)
    bad = [verdict for verdict in verdicts if not verdict.kept]
    for verdict in bad:
        yield _problem("audit", verdict.message)
    if not bad:
        yield _ok(
            "audit",
            f"{count(len(verdicts), 'chain')}, {count(sum(v.rows for v in verdicts), 'row')}, unbroken",
        )


#: Open cards counted before the doctor says "or more".
_CARDS_MAX = 1_000


async def _looked_into(place: Place) -> tuple[int, list[str], list[ChainVerdict]]:
    """How many cards are open, which runs are at work by their status, and the verdict on each chain."""
    async with reading(place) as condor:
        cards = await condor.pending(limit=_CARDS_MAX)
        at_work = list(await condor.store.unfinished())
        return len(cards), [*map(str, at_work)], [verdict async for verdict in condor.verify()]


__all__ = ["Check", "checkup"]
