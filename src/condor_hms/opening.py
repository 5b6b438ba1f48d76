"""Which record a home has, and opening it: a file in the home, a PostgreSQL database, or a FHIR server.

Law 1: where the run log is shared, the record is: processes that share runs and not the record they are about
would write into different hospitals.
Law 2: a record is never exchanged for another one without a word: what was there and is not used is refused,
or told.
"""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from condor.core.errors import CondorError, HomeUnusable, RefusedInput
from condor.ports.database_url import is_postgres
from condor_hms.fhir.errors import FhirError, Unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from datetime import date
    from pathlib import Path

    from condor import PackSetup
    from condor_hms.fhir.port import FhirStore
    from condor_hms.fhir.postgres import PostgresFhirStore
    from condor_hms.fhir.table_store import TableStore
    from condor_hms.outbox import Channel

__all__ = ["OpenedRecord", "demo_day", "open_record"]

#: The one resource that tells whether the demonstration record was loaded.
_DEMO_MARKER = "Organization/hms-demo-hospital"
#: `CONDOR_FHIR_DATABASE_URL`: the record stays a file in the home, wherever the run log is.
_IN_THE_HOME = "home"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedRecord:
    """A record while it is open."""

    fhir: FhirStore
    #: Who carries its messages.
    channels: Mapping[str, Channel]
    #: Whether it holds the demonstration, and has its day.
    demo: bool
    #: Whether it is of this process's own making: other software may be shown it.
    is_own: bool
    #: Lines to tell the person who opened it.
    notes: tuple[str, ...] = field(default=())


@asynccontextmanager
async def open_record(setup: PackSetup) -> AsyncIterator[OpenedRecord]:
    """Open the record of a home for the life of a process.

    `CONDOR_FHIR_BASE_URL` names a FHIR server. Else the record is in the PostgreSQL database of
    `CONDOR_FHIR_DATABASE_URL`, or of the run log; else a file in the home (`CONDOR_FHIR_DATABASE_URL=home`
    keeps it there).

    Raises:
        CondorError: code ``environment``: in one line what is in the way, and what to do.
    """
    base_url = os.environ.get("CONDOR_FHIR_BASE_URL", "").strip()
    database_url = _database_url(setup)
    if base_url:
        async with _on_server(base_url, setup) as record:
            yield record
    elif setup.read_only:
        async with _looked_at(database_url, setup) as record:
            yield record
    else:
        async with _of_our_own(database_url, setup) as record:
            yield record


def _database_url(setup: PackSetup) -> str:
    """The address of a shared record; empty: it is a file in the home."""
    url = os.environ.get("CONDOR_FHIR_DATABASE_URL", "").strip()
    if url == _IN_THE_HOME:
        return ""
    if url:
        if not is_postgres(url):
            raise CondorError(
                "CONDOR_FHIR_DATABASE_URL: write postgresql://user:password@host:5432/database, "
                f"or {_IN_THE_HOME} for a file in the home",
                code="environment",
            )
        return url
    shared = setup.database_url
    if shared is None:
        shared = os.environ.get("CONDOR_DATABASE_URL", "").strip()
    return shared if is_postgres(shared) else ""


@asynccontextmanager
async def _on_server(base_url: str, setup: PackSetup) -> AsyncIterator[OpenedRecord]:
    """A FHIR server in place of a record of ours; what waits in its outbox is another process's."""
    from condor_hms.fhir.http import HttpFhirStore

    token = os.environ.get("CONDOR_FHIR_TOKEN", "").strip() or None
    try:
        store = HttpFhirStore(base_url, token=token, read_only=setup.read_only)
    except FhirError as error:
        raise CondorError(f"CONDOR_FHIR_BASE_URL: {error}", code="environment") from error
    async with store:
        if not setup.read_only:
            _make_folder(setup.home)
        if setup.demo:
            store.stand_at(demo_day())
        yield OpenedRecord(
            fhir=store,
            channels=_in_file(setup.home),
            demo=setup.demo,
            is_own=False,
            notes=(f"the record is the FHIR server {base_url}",),
        )


@asynccontextmanager
async def _looked_at(database_url: str, setup: PackSetup) -> AsyncIterator[OpenedRecord]:
    """Opened when somebody looks, and only to look."""
    from condor_hms.catalogue.read_only import ReadOnlyRecord

    def open_file() -> TableStore:
        from condor_hms.fhir.embedded import EmbeddedFhirStore

        path = _file_of(setup.home)
        if not path.exists():
            raise Unavailable("there is no record in this home yet")
        return EmbeddedFhirStore(path, faults=setup.faults)

    def open_database() -> TableStore:
        from condor_hms.fhir.postgres import PostgresFhirStore

        try:
            return PostgresFhirStore(database_url, create=False, faults=setup.faults)
        except HomeUnusable as error:
            raise Unavailable(str(error)) from error

    record = ReadOnlyRecord(open_database if database_url else open_file)
    try:
        yield OpenedRecord(fhir=record, channels=_in_file(setup.home), demo=setup.demo, is_own=True)
    finally:
        record.close()


@asynccontextmanager
async def _of_our_own(database_url: str, setup: PackSetup) -> AsyncIterator[OpenedRecord]:
    home = setup.home
    store: TableStore
    channels: Mapping[str, Channel]
    lost: tuple[str, ...] = ()
    if database_url:
        store = shared = _open_database(database_url, setup)
        where, channels = f"the database {shared.name}", _in_database(shared)
    else:
        where, lost = str(_file_of(home)), _was_taken_away(home)
        store, channels = _open_file(home, setup.faults), _in_file(home)
    try:
        if database_url:
            await _refuse_to_leave_a_file(store, home)
        demo, made = await _made(store, where, wanted=setup.demo)
        if demo:
            store.stand_at(demo_day())
        sent = await _sent(store, channels)
        yield OpenedRecord(fhir=store, channels=channels, demo=demo, is_own=True, notes=(*made, *lost, *sent))
    finally:
        store.close()


def demo_day() -> date:
    """The day on which a demonstration stands.

    Raises:
        RefusedInput: ``CONDOR_DEMO_TODAY`` is no date.
    """
    from condor_hms.demo import demo_today

    try:
        return demo_today()
    except ValueError as error:
        raise RefusedInput(str(error), code="settings") from None


def _file_of(home: Path) -> Path:
    return home / "hms" / "fhir.db"


def _make_folder(home: Path) -> None:
    (home / "hms").mkdir(mode=0o700, parents=True, exist_ok=True)


def _was_taken_away(home: Path) -> tuple[str, ...]:
    """What to tell where a record stood beside the run log, and is gone.

    The folder of the record is made with it, so a folder without it once held it.
    """
    path = _file_of(home)
    if path.exists() or not path.parent.exists() or not (home / "condor.db").exists():
        return ()
    return (
        f"the record {path} was not there and was made anew: what earlier runs wrote is gone from the "
        "record, and their history in condor.db speaks of entries that it no longer holds",
    )


def _open_file(home: Path, faults: Callable[[str], None]) -> TableStore:
    """Open or make the file; what is in the way is said as a matter of the environment."""
    from condor_hms.fhir.embedded import EmbeddedFhirStore

    path = _file_of(home)
    try:
        _make_folder(home)
        return EmbeddedFhirStore(path, faults=faults)
    except (OSError, FhirError) as error:
        raise CondorError(
            f"the record {path} cannot be opened: {error}; restore it from a backup, or name another home",
            code="environment",
        ) from error


def _open_database(url: str, setup: PackSetup) -> PostgresFhirStore:
    try:
        from condor_hms.fhir.postgres import PostgresFhirStore
    except ModuleNotFoundError as error:
        raise CondorError(
            f"a record in PostgreSQL needs {error.name}: install condor-runtime[postgres]", code="environment"
        ) from error
    try:
        _make_folder(setup.home)
        return PostgresFhirStore(url, faults=setup.faults)
    except HomeUnusable as error:
        raise CondorError(f"the record: {error}", code="environment") from error
    except FhirError as error:
        raise CondorError(f"the record cannot be opened: {error}", code="environment") from error


async def _refuse_to_leave_a_file(store: TableStore, home: Path) -> None:
    """A home whose record is a file does not get an empty one because its run log moved."""
    path = _file_of(home)
    if path.exists() and not await store.search("Patient", {"_count": "1"}):
        raise CondorError(
            f"the record of this home is the file {path}, and the database holds none: set "
            f"CONDOR_FHIR_DATABASE_URL={_IN_THE_HOME} to go on with it, or put it elsewhere to begin anew",
            code="environment",
        )


async def _made(store: TableStore, where: str, *, wanted: bool) -> tuple[bool, tuple[str, ...]]:
    """Load demonstration data where it is wanted and may be; whether it is there, and what to tell."""
    from condor_hms.demo import load_demo

    if (await store.versions([_DEMO_MARKER]))[_DEMO_MARKER] is not None:
        return True, ()
    if not wanted:
        return False, ()
    if await store.search("Patient", {"_count": "1"}):
        return False, (f"the record {where} holds other data: no demonstration data was added",)
    count = await load_demo(store)
    made = (f"made the demonstration hospital ({count:,} synthetic resources) in {where}",)
    return True, made if count else ()


def _in_file(home: Path) -> Mapping[str, Channel]:
    """Who carries messages: here a log, for nobody is written to from a demonstration."""
    from condor_hms.catalogue.contacts import CHANNELS
    from condor_hms.outbox import LogChannel

    return dict.fromkeys(CHANNELS, LogChannel(home / "hms" / "outbox.log"))


def _in_database(store: PostgresFhirStore) -> Mapping[str, Channel]:
    """A log beside the record: whichever process delivers, a key is delivered once."""
    from condor_hms.catalogue.contacts import CHANNELS
    from condor_hms.outbox import SharedLogChannel

    return dict.fromkeys(CHANNELS, SharedLogChannel(store))


async def _sent(store: TableStore, channels: Mapping[str, Channel]) -> tuple[str, ...]:
    """Deliver what an earlier process left in the outbox."""
    from condor_hms.outbox import Outbox

    count = await Outbox(store, channels).deliver_waiting()
    return (f"sent {count} messages that an earlier run left in the outbox",) if count else ()
