"""The hospital as a pack: a record with its tools, its planner and its staff.

Law: importing this module is cheap, because every command of Condor looks at every pack. The record, FHIR
validation and the tools are loaded when the pack is opened.
"""

from __future__ import annotations

import datetime
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from condor import OpenedPack, PackSetup, Principal
    from condor_hms.opening import OpenedRecord

__all__ = ["PACK", "HospitalPack"]

#: Who a demonstration acts as when nobody is named.
_DEFAULT_PRINCIPAL = "dr-okafor"
#: What shows the pack at work: a prescription, whose card has the record's own warnings.
_DEMO_REQUEST = "Start Melissa Smith on nitrofurantoin 100 mg twice a day for 5 days for her UTI."


class HospitalPack:
    """Tools over a FHIR R4 record: a file in the home, a PostgreSQL database, or a FHIR server."""

    #: Its name and its folder in the home.
    name = "hms"
    #: Twelve synthetic patients, made for this project.
    has_demo = True

    def open(self, setup: PackSetup) -> AbstractAsyncContextManager[OpenedPack]:
        """Open the record for the life of a process; see ``condor_hms.opening``.

        Demonstration data is loaded at first use when ``setup.demo``; a record that holds anything else is
        left as it is. With ``read_only`` nothing is made: a home without a record has tools that say so.
        """
        return _opened(setup)


PACK = HospitalPack()


@asynccontextmanager
async def _opened(setup: PackSetup) -> AsyncIterator[OpenedPack]:
    from condor_hms.opening import open_record

    async with open_record(setup) as record:
        yield _pack_of(record, setup.home, is_served=record.is_own and not setup.read_only)


def _pack_of(record: OpenedRecord, home: Path, *, is_served: bool) -> OpenedPack:
    """What the pack brings.

    Args:
        is_served: other software reads the record at ``/fhir``. A FHIR server is asked by itself: through
            this one everybody would read with the token of Condor.
    """
    from condor import OpenedPack
    from condor.ports.packs import DemoScene, FaultScene
    from condor_hms.alerts import demo_rules
    from condor_hms.breakglass import break_glass_tools
    from condor_hms.catalogue import Hospital, hospital_tools
    from condor_hms.demo.scenes import FAULTS, REQUESTS
    from condor_hms.facade import RecordFacade
    from condor_hms.opening import demo_day
    from condor_hms.playbook import PlaybookPlanner
    from condor_hms.run_export import FhirRunView

    today = demo_day() if record.demo else None
    day = today or datetime.datetime.now(datetime.UTC).astimezone().date()
    people = _principals()
    hospital = Hospital(
        fhir=record.fhir,
        rules=demo_rules(),
        today=day,
        day_stands=today is not None,
        channels=record.channels,
        reports=home / "hms" / "reports",
    )
    return OpenedPack(
        tools=(*hospital_tools(hospital), *break_glass_tools(hospital)),
        planner=PlaybookPlanner(_clinicians()),
        principals=people,
        default_principal=next(who for who in people if who.id == _DEFAULT_PRINCIPAL),
        today=today,
        demo_request=_DEMO_REQUEST,
        demo_scenes=[
            DemoScene(request=scene.request, who=scene.who, about=scene.about, autonomy=scene.autonomy)
            for scene in REQUESTS
        ],
        fault_scenes=[
            FaultScene(request=scene.request, faults=(scene.fault,), about=scene.about) for scene in FAULTS
        ],
        mounts=[RecordFacade(record.fhir)] if is_served else [],
        views=[FhirRunView(record.fhir)],
        notes=record.notes,
    )


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
