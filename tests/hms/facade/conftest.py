"""The facade over a copy of the demonstration record, asked without a server."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from condor import Principal
from condor.ports.mounts import MountAnswer, MountRequest
from condor_hms.demo import demo_resources
from condor_hms.facade import RecordFacade
from condor_hms.fhir.embedded import EmbeddedFhirStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from pathlib import Path

    from condor_hms.fhir.port import FhirStore

BASE = "https://condor.example/fhir"
DOCTOR = Principal(id="dr-okafor", roles=frozenset({"doctor"}))


@dataclass(frozen=True)
class Told:
    """An answer, its body read."""

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def issue(self) -> tuple[int, str, str]:
        """Status, issue type and words of a refusal."""
        assert self.body["resourceType"] == "OperationOutcome", self.body
        (issue,) = self.body["issue"]
        return self.status, issue["code"], issue["diagnostics"]

    @property
    def ids(self) -> list[str]:
        """Ids of the matches of a searchset."""
        entries = self.body.get("entry", [])
        return [row["resource"]["id"] for row in entries if row["search"]["mode"] == "match"]

    def link(self, relation: str) -> str | None:
        """The URL of a link."""
        return next((link["url"] for link in self.body["link"] if link["relation"] == relation), None)


class Asker:
    """Software that asks the facade."""

    def __init__(self, store: FhirStore) -> None:
        self.store = store
        self.facade = RecordFacade(store)

    async def get(
        self,
        address: str,
        *,
        who: Principal = DOCTOR,
        method: str = "GET",
        form: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Told:
        """Ask; an address below the mount, or a whole one as links give it."""
        path, _, query = address.removeprefix(f"{BASE}/").partition("?")
        given = dict(headers or {})
        if form and "content-type" not in given:
            given["content-type"] = "application/x-www-form-urlencoded"
        answer = await self.facade.answer(
            MountRequest(
                method=method,
                path=path,
                query=query,
                form=form,
                headers=given,
                principal=who,
                base_url=BASE,
            )
        )
        assert isinstance(answer, MountAnswer)
        if answer.body:
            assert answer.headers["content-type"] == "application/fhir+json"
        return Told(answer.status, dict(answer.headers), json.loads(answer.body) if answer.body else None)


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    """One record for tests that only read."""
    store = EmbeddedFhirStore(tmp_path_factory.mktemp("facade") / "fhir.db")
    asyncio.run(store.load(demo_resources()))
    yield Asker(store)
    store.close()


@pytest.fixture
async def own(tmp_path: Path) -> AsyncIterator[Asker]:
    """A record of the test's own."""
    async with EmbeddedFhirStore(tmp_path / "fhir.db") as store:
        await store.load(demo_resources())
        yield Asker(store)
