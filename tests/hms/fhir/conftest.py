"""Stores to test against: every implementation of the port passes the same suite."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from condor_hms.demo import demo_resources
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.fhir.port import FhirStore


@pytest.fixture(scope="session")
def demo_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the demonstration record, made once and copied by each test."""
    path = tmp_path_factory.mktemp("demo") / "record.db"

    async def fill() -> None:
        async with EmbeddedFhirStore(path) as store:
            await store.load(demo_resources())

    asyncio.run(fill())
    return path


@asynccontextmanager
async def embedded(demo_file: Path, folder: Path) -> AsyncIterator[FhirStore]:
    path = folder / "record.db"
    shutil.copy(demo_file, path)
    async with EmbeddedFhirStore(path) as store:
        yield store


#: A further implementation joins the suite by one line here.
FACTORIES = {"embedded": embedded}


@pytest.fixture(params=sorted(FACTORIES))
async def store(request: pytest.FixtureRequest, demo_file: Path, tmp_path: Path) -> AsyncIterator[FhirStore]:
    """A store that holds the demonstration record."""
    async with FACTORIES[request.param](demo_file, tmp_path) as opened:
        yield opened


@pytest.fixture(scope="module")
def demo_store(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FhirStore]:
    """One embedded store for the tests of a module that leave nothing behind that matters."""
    path = tmp_path_factory.mktemp("shared") / "record.db"
    shutil.copy(demo_file, path)
    store = EmbeddedFhirStore(path)
    yield store
    store.close()
