"""A hospital of its own for each test: the demonstration record, copied."""

import asyncio
import datetime
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from condor_hms.alerts import demo_rules
from condor_hms.catalogue import Hospital
from condor_hms.catalogue.contacts import CHANNELS
from condor_hms.demo import demo_resources
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.outbox import LogChannel
from tests.hms.catalogue.desk import Desk


@pytest.fixture(scope="session")
def demo_record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the demonstration record, made once."""
    path = tmp_path_factory.mktemp("demo-record") / "fhir.db"

    async def fill() -> None:
        async with EmbeddedFhirStore(path) as store:
            await store.load(demo_resources())

    asyncio.run(fill())
    return path


@pytest.fixture
async def desk(demo_record: Path, tmp_path: Path) -> AsyncIterator[Desk]:
    """Tools over a copy of the demonstration record, called as the runtime calls them."""
    path = tmp_path / "fhir.db"
    shutil.copy(demo_record, path)
    async with EmbeddedFhirStore(path) as store:
        store.stand_at(datetime.date(2026, 11, 30))
        channels = dict.fromkeys(CHANNELS, LogChannel(tmp_path / "outbox.log"))
        yield Desk(
            Hospital(
                fhir=store,
                rules=demo_rules(),
                today=datetime.date(2026, 11, 30),
                channels=channels,
                reports=tmp_path / "reports",
            )
        )
