"""A record opened for looking only, and not before somebody looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_hms.fhir.errors import RequestRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from condor_hms.fhir.port import Resource, SearchParams, TransactionResult
    from condor_hms.fhir.table_store import TableStore

__all__ = ["ReadOnlyRecord"]


class ReadOnlyRecord:
    """A ``FhirStore`` that writes nothing, not even the file: without a record every read says so."""

    def __init__(self, opener: Callable[[], TableStore]) -> None:
        """Not opened yet; ``opener`` makes nothing, and says so where there is nothing."""
        self._opener = opener
        self._opened: TableStore | None = None

    def _store(self) -> TableStore:
        if self._opened is None:
            self._opened = self._opener()
        return self._opened

    def close(self) -> None:
        """Close what was opened."""
        if self._opened is not None:
            self._opened.close()

    async def read(self, reference: str) -> Resource:
        """See ``FhirStore.read``."""
        return await self._store().read(reference)

    async def vread(self, reference: str, version: str) -> Resource:
        """See ``FhirStore.vread``."""
        return await self._store().vread(reference, version)

    async def search(self, resource_type: str, params: SearchParams) -> list[Resource]:
        """See ``FhirStore.search``."""
        return await self._store().search(resource_type, params)

    async def history(self, reference: str) -> list[Resource]:
        """See ``FhirStore.history``."""
        return await self._store().history(reference)

    async def versions(self, references: Iterable[str]) -> dict[str, str | None]:
        """See ``FhirStore.versions``."""
        return await self._store().versions(references)

    async def transact(self, bundle: Resource) -> TransactionResult:
        """Refuse: this home is open for reading."""
        raise RequestRefused("transact", "this home is open for reading only")
