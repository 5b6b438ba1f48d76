"""The hospital as a pack: an embedded record with its tools, its planner and its staff.

Law: importing this module is cheap, because every command of Condor looks at every pack. The record, FHIR
validation and the tools are loaded when the pack is opened.
"""

from __future__ import annotations

import datetime
import os
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from condor import OpenedPack, PackSetup, Principal
    from condor_hms.fhir.embedded import EmbeddedFhirStore
    from condor_hms.fhir.port import FhirStore
    from condor_hms.outbox import Channel

__all__ = ["PACK", "HospitalPack"]

#: Who a demonstration acts as when nobody is named.
_DEFAULT_PRINCIPAL = "dr-okafor"
#: What shows the pack at work: a prescription, whose card has the record's own warnings.
_DEMO_REQUEST = "Start Melissa Smith on nitrofurantoin 100 mg twice a day for 5 days for her UTI."
#: What shows it when a tool goes wrong: request, fault, what there is to see.
_FAULT_SCENES = (
    (
        "What were Leonard Mason's latest A1c and creatinine?",
        "labs.search=fail:2",
        "The lab results do not answer: they are asked once more, then the lab reports stand in, and say so.",
    ),
    (
        "Order an urgent potassium on John Hernandez.",
        "order.lab.create=fail",
        "The lab interface is down: nothing was ordered, so a task is left, and nobody is told “ordered”.",
    ),
)
#: The one resource that tells whether the demonstration record was loaded.
_DEMO_MARKER = "Organization/hms-demo-hospital"


class HospitalPack:
    """Tools over a FHIR R4 record that is a file in the home."""

    #: Its name and its folder in the home.
    name = "hms"
    #: Twelve synthetic patients, made for this project.
    has_demo = True

    def open(self, setup: PackSetup) -> AbstractAsyncContextManager[OpenedPack]:
        """Open the record in ``setup.home`` for the life of a process.

        Demonstration data is loaded at first use when ``setup.demo``; a record that holds anything else is
        left as it is. With ``read_only`` nothing is made: a home without a record has tools that say so.
        """
        return _opened(setup)


PACK = HospitalPack()


@asynccontextmanager
async def _opened(setup: PackSetup) -> AsyncIterator[OpenedPack]:
    from condor_hms.fhir.embedded import EmbeddedFhirStore

    def open_store(path: Path) -> EmbeddedFhirStore:
        return EmbeddedFhirStore(path, faults=setup.faults)

    base_url = os.environ.get("CONDOR_FHIR_BASE_URL", "").strip()
    if base_url:
        async with _server(base_url, read_only=setup.read_only) as server:
            if not setup.read_only:
                (setup.home / "hms").mkdir(mode=0o700, parents=True, exist_ok=True)
            said = f"the record is the FHIR server {base_url}"
            yield _pack_of(server, setup.home, demo=setup.demo, notes=(said,))
        return
    path = setup.home / "hms" / "fhir.db"
    if setup.read_only:
        from condor_hms.catalogue.read_only import ReadOnlyRecord

        looked_at = ReadOnlyRecord(path, open_store)
        try:
            yield _pack_of(looked_at, setup.home, demo=setup.demo, notes=())
        finally:
            looked_at.close()
        return
    lost = _was_taken_away(setup.home, path)
    store = _open(path, open_store)
    try:
        demo, notes = await _made(store, path, wanted=setup.demo)
        waiting = await _sent(store, path.parent)
        yield _pack_of(store, setup.home, demo=demo, notes=(*notes, *lost, *waiting))
    finally:
        store.close()


@asynccontextmanager
async def _server(base_url: str, *, read_only: bool) -> AsyncIterator[FhirStore]:
    """A FHIR server in place of the file; what waits in its outbox is another process's."""
    from condor import CondorError
    from condor_hms.fhir.errors import FhirError
    from condor_hms.fhir.http import HttpFhirStore

    token = os.environ.get("CONDOR_FHIR_TOKEN", "").strip() or None
    try:
        store = HttpFhirStore(base_url, token=token, read_only=read_only)
    except FhirError as error:
        raise CondorError(f"CONDOR_FHIR_BASE_URL: {error}", code="environment") from error
    async with store:
        yield store


def _was_taken_away(home: Path, path: Path) -> tuple[str, ...]:
    """What to tell where a record stood beside the run log, and is gone.

    The folder of the record is made with it, so a folder without it once held it.
    """
    if path.exists() or not path.parent.exists() or not (home / "condor.db").exists():
        return ()
    return (
        f"the record {path} was not there and was made anew: what earlier runs wrote is gone from the "
        "record, and their history in condor.db speaks of entries that it no longer holds",
    )


def _open(path: Path, open_store: Callable[[Path], EmbeddedFhirStore]) -> EmbeddedFhirStore:
    """Open or make the file; what is in the way is said as a matter of the environment."""
    from condor import CondorError
    from condor_hms.fhir.errors import FhirError

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open_store(path)
    except (OSError, FhirError) as error:
        raise CondorError(
            f"the record {path} cannot be opened: {error}; restore it from a backup, or name another home",
            code="environment",
        ) from error


async def _made(store: EmbeddedFhirStore, path: Path, *, wanted: bool) -> tuple[bool, tuple[str, ...]]:
    """Load demonstration data where it is wanted and may be; whether it is there, and what to tell."""
    from condor_hms.demo import load_demo

    if (await store.versions([_DEMO_MARKER]))[_DEMO_MARKER] is not None:
        return True, ()
    if not wanted:
        return False, ()
    if await store.search("Patient", {"_count": "1"}):
        return False, (f"the record {path} holds other data: no demonstration data was added",)
    count = await load_demo(store)
    return True, (f"made the demonstration hospital ({count:,} synthetic resources) in {path}",)


def _channels(folder: Path) -> dict[str, Channel]:
    """Who carries messages: here a log, for nobody is written to from a demonstration."""
    from condor_hms.catalogue.contacts import CHANNELS
    from condor_hms.outbox import LogChannel

    return dict.fromkeys(CHANNELS, LogChannel(folder / "outbox.log"))


async def _sent(store: EmbeddedFhirStore, folder: Path) -> tuple[str, ...]:
    """Deliver what an earlier process left in the outbox."""
    from condor_hms.outbox import Outbox

    count = await Outbox(store, _channels(folder)).deliver_waiting()
    return (f"sent {count} messages that an earlier run left in the outbox",) if count else ()


def _pack_of(fhir: FhirStore, home: Path, *, demo: bool, notes: tuple[str, ...]) -> OpenedPack:
    from condor import OpenedPack
    from condor.ports.packs import FaultScene
    from condor_hms.alerts import demo_rules
    from condor_hms.catalogue import Hospital, hospital_tools
    from condor_hms.playbook import PlaybookPlanner

    today = _demo_day() if demo else None
    day = today or datetime.datetime.now(datetime.UTC).astimezone().date()
    people = _principals()
    return OpenedPack(
        tools=hospital_tools(
            Hospital(
                fhir=fhir,
                rules=demo_rules(),
                today=day,
                channels=_channels(home / "hms"),
                reports=home / "hms" / "reports",
            )
        ),
        planner=PlaybookPlanner(_clinicians()),
        principals=people,
        default_principal=next(who for who in people if who.id == _DEFAULT_PRINCIPAL),
        today=today,
        demo_request=_DEMO_REQUEST,
        fault_scenes=[
            FaultScene(request=request, faults=(fault,), about=about)
            for request, fault, about in _FAULT_SCENES
        ],
        notes=notes,
    )


def _demo_day() -> datetime.date:
    from condor import RefusedInput
    from condor_hms.demo import demo_today

    try:
        return demo_today()
    except ValueError as error:
        raise RefusedInput(str(error), code="settings") from None


def _clinicians() -> dict[str, str]:
    """How the doctors are called, folded → their reference."""
    from condor_hms.demo import DEMO_STAFF

    doctors = [member for member in DEMO_STAFF.values() if member.role == "doctor" and member.reference]
    names = {member.display.removeprefix("Dr ").casefold(): str(member.reference) for member in doctors}
    return names | {name.split()[-1]: reference for name, reference in names.items()}


def _principals() -> tuple[Principal, ...]:
    from condor import Principal
    from condor_hms.demo import DEMO_STAFF

    return tuple(
        Principal(id=member.id, roles=frozenset({member.role}), display=member.short)
        for member in DEMO_STAFF.values()
    )
