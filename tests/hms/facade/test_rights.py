"""Nobody reads through the facade what no reading tool gives their role."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from condor_hms.alerts import demo_rules
from condor_hms.catalogue import Hospital
from condor_hms.facade.access import DIRECTORY, READERS, WHOLE_RECORD
from tests.hms.catalogue.desk import Desk
from tests.hms.catalogue.test_every_read import SAID

if TYPE_CHECKING:
    from tests.hms.facade.conftest import Asker

#: Read by a tool to look after its version only, never shown.
NEVER_SHOWN = {("audit.trail", "MedicationRequest")}


class Noting:
    """A store that notes what types are read."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.types: set[str] = set()

    async def read(self, reference: str) -> Any:
        """As the store, noted."""
        self.types.add(reference.partition("/")[0])
        return await self.store.read(reference)

    async def search(self, resource_type: str, params: Any) -> Any:
        """As the store, noted."""
        self.types.add(resource_type)
        return await self.store.search(resource_type, params)

    async def history(self, reference: str) -> Any:
        """As the store, noted."""
        self.types.add(reference.partition("/")[0])
        return await self.store.history(reference)

    async def versions(self, references: Any) -> Any:
        """As the store."""
        return await self.store.versions(references)


async def test_the_table_is_that_of_the_reading_tools(shared: Asker) -> None:
    """Every reading tool runs; who may call one that reads a type reads it here, and nobody else does."""
    noting = Noting(shared.store)
    hospital = Hospital(fhir=noting, rules=demo_rules(), today=datetime.date(2026, 11, 30))  # type: ignore[arg-type]
    desk = Desk(hospital)
    given: dict[str, set[str]] = {"Binary": set(desk.tools["document.read"].roles)}
    for tool, args, _ in SAID:
        noting.types = set()
        await desk.call(tool, args, idempotency_key="")
        for resource_type in noting.types:
            if (tool, resource_type) not in NEVER_SHOWN:
                given.setdefault(resource_type, set()).update(desk.tools[tool].roles)
    own = given.keys() - DIRECTORY
    assert {name: set(READERS[name]) for name in sorted(own)} == {name: given[name] for name in sorted(own)}
    whole = set(desk.tools["patient.everything"].roles)
    assert {name: set(READERS[name]) for name in sorted(WHOLE_RECORD)} == dict.fromkeys(
        sorted(WHOLE_RECORD), whole
    )
    assert READERS.keys() == own | WHOLE_RECORD | DIRECTORY
    patients = given["Patient"]
    assert all(READERS[name] == patients for name in DIRECTORY)
