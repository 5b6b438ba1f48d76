"""Stores to test against: every implementation of the port passes the same suite."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from condor_hms.demo import demo_resources
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.fhir.http import HttpFhirStore
from condor_hms.fhir.port import FhirStore
from condor_hms.fhir.postgres import PostgresFhirStore
from condor_hms.fhir.table_store import TableStore
from tests.hms.facade.serving import BehindFacade
from tests.hms.fhir.support import TODAY
from tests.hms.fhir_server.process import TOKEN, started_server


@pytest.fixture(scope="session")
def demo_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the demonstration record, made once and copied by each test."""
    path = tmp_path_factory.mktemp("demo") / "record.db"

    async def fill() -> None:
        async with EmbeddedFhirStore(path) as store:
            await store.load(demo_resources())

    asyncio.run(fill())
    return path


def embedded(request: pytest.FixtureRequest) -> AbstractAsyncContextManager[FhirStore]:
    path: Path = request.getfixturevalue("tmp_path") / "record.db"
    shutil.copy(request.getfixturevalue("demo_file"), path)
    return EmbeddedFhirStore(path)


def in_postgres(request: pytest.FixtureRequest) -> AbstractAsyncContextManager[FhirStore]:
    url: str = request.getfixturevalue("demo_database")
    return PostgresFhirStore(url)


def over_http(_: pytest.FixtureRequest) -> AbstractAsyncContextManager[FhirStore]:
    """The demonstration record on a third-party server, as it was when the server started."""
    return HttpFhirStore(started_server().reset(), token=TOKEN)


def behind_facade(request: pytest.FixtureRequest) -> AbstractAsyncContextManager[FhirStore]:
    """The embedded record, read over HTTP through its facade for other software."""
    path: Path = request.getfixturevalue("tmp_path") / "record.db"
    shutil.copy(request.getfixturevalue("demo_file"), path)
    return BehindFacade(path)


#: A further implementation joins the suite by one line here.
FACTORIES = {
    "embedded": embedded,
    "postgres": in_postgres,
    "http": over_http,
    "facade": behind_facade,
}


#: Checked before anything is sent, by the same code for every store: once is enough.
HERE_ALONE = ("test_validation",)
#: The facade only reads; what writes here would go past it.
READS = ("test_conformance_read",)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every implementation passes the suite; the ones outside this process take their time."""
    if "store" in metafunc.fixturenames:
        module = metafunc.module.__name__.rpartition(".")[2]
        others = [] if module in HERE_ALONE else [name for name in FACTORIES if name != "embedded"]
        if module not in READS and "facade" in others:
            others.remove("facade")
        params = ["embedded", *(pytest.param(name, marks=pytest.mark.slow) for name in others)]
        metafunc.parametrize("opening", params, indirect=True)


@pytest.fixture
def opening(request: pytest.FixtureRequest) -> AbstractAsyncContextManager[FhirStore]:
    """A store to open."""
    return FACTORIES[request.param](request)


@pytest.fixture
async def store(opening: AbstractAsyncContextManager[FhirStore]) -> AsyncIterator[FhirStore]:
    """A store that holds the demonstration record, at its day where it writes."""
    async with opening as opened:
        if isinstance(opened, TableStore | HttpFhirStore):
            opened.stand_at(TODAY)
        yield opened


@pytest.fixture(scope="module")
def demo_store(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FhirStore]:
    """One embedded store for the tests of a module that leave nothing behind that matters."""
    path = tmp_path_factory.mktemp("shared") / "record.db"
    shutil.copy(demo_file, path)
    store = EmbeddedFhirStore(path)
    store.stand_at(TODAY)
    yield store
    store.close()
