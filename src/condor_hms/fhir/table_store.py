"""A FHIR record on tables of one's own: one writer thread, one reader thread, whatever the database.

To the runtime it is an outside system with transactions of its own. When `transact` returns, the write is on
disk; after kill -9 at any point a Bundle is there whole or not at all.
"""

from __future__ import annotations

import asyncio
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import orjson

from condor_hms.fhir.bundle import parse_bundle
from condor_hms.fhir.errors import Issue, NotFound, RequestRefused, Unavailable, ValidationRefused
from condor_hms.fhir.references import parse_reference
from condor_hms.fhir.search import parse_search
from condor_hms.fhir.transaction import apply_entries, stamped
from condor_hms.fhir.validation import check_content, day_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date
    from types import TracebackType
    from typing import Self

    from condor_hms.fhir.bundle import EntryRequest
    from condor_hms.fhir.port import Resource, SearchParams, TransactionResult
    from condor_hms.fhir.tables import Tables

__all__ = ["TableStore", "new_id", "no_faults", "utc_now"]

T = TypeVar("T")


def no_faults(point: str) -> None:
    """The default of `faults`: nothing happens at any point."""


def utc_now() -> datetime:
    """The default of `now`."""
    return datetime.now(UTC)


def new_id() -> str:
    """The default of `new_id`."""
    return str(uuid.uuid4())


class TableStore:
    """A `FhirStore` on `Tables`, opened at once. Close it, or use it in `async with`.

    A cancelled call does not stop what its thread has begun: a cancelled `transact` may still be applied.
    """

    def __init__(
        self,
        open_tables: Callable[[bool], Tables],
        *,
        faults: Callable[[str], None] = no_faults,
        now: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = new_id,
    ) -> None:
        """Open the tables in their threads.

        Args:
            open_tables: makes a connection in the thread that calls it; True: to write by, False: to read.
            faults: called in the writer thread, at `fhir.before-commit` and `fhir.after-commit`.
            now: the time of `meta.lastUpdated`, aware; what is written is held to its day.
            new_id: ids of created resources, 1-64 of `A-Z a-z 0-9 - .`, never the same twice.
        """
        self._faults = faults
        self._now = now
        self._stands: date | None = None
        self._new_id = new_id
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="fhir-writer")
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="fhir-reader")
        try:
            self._write_tables = self._writer.submit(open_tables, True).result()  # noqa: FBT003 - a thread takes no names
            self._read_tables = self._reader.submit(open_tables, False).result()  # noqa: FBT003
        except BaseException:
            self.close()
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def stand_at(self, day: date) -> None:
        """Take this day as today while the clock is behind it: a demonstration record stands at its day."""
        self._stands = day

    def close(self) -> None:
        """Finish what was begun and disconnect. Calls after it raise `Unavailable`."""
        for executor, name in ((self._reader, "_read_tables"), (self._writer, "_write_tables")):
            tables: Tables | None = getattr(self, name, None)
            if tables is not None:
                executor.submit(tables.close).result()
                delattr(self, name)
        self._shut_down()

    def _shut_down(self) -> None:
        self._reader.shutdown()
        self._writer.shutdown()

    async def read(self, reference: str) -> Resource:
        """See `FhirStore.read`."""
        parse_reference(reference)
        return await self._reading(lambda tables: _read(tables, reference))

    async def vread(self, reference: str, version: str) -> Resource:
        """See `FhirStore.vread`."""
        parse_reference(reference)
        return await self._reading(lambda tables: _vread(tables, reference, version))

    async def search(self, resource_type: str, params: SearchParams) -> list[Resource]:
        """See `FhirStore.search`."""
        query = parse_search(resource_type, params)
        return await self._reading(lambda tables: [row.resource() for row in tables.search(query)])

    async def history(self, reference: str) -> list[Resource]:
        """See `FhirStore.history`."""
        parse_reference(reference)
        return await self._reading(lambda tables: _history(tables, reference))

    async def versions(self, references: Iterable[str]) -> dict[str, str | None]:
        """See `FhirStore.versions`."""
        wanted = list(references)
        for reference in wanted:
            parse_reference(reference)
        found = await self._reading(lambda tables: tables.versions(wanted))
        return {reference: str(found[reference]) if reference in found else None for reference in wanted}

    async def transact(self, bundle: Resource) -> TransactionResult:
        """See `FhirStore.transact`. Content is checked before the write lock, references under it."""
        entries = parse_bundle(bundle)
        return await self._writing(lambda tables: self._transact(tables, entries))

    async def load(self, resources: Iterable[Resource]) -> int:
        """Trusted bulk load in one transaction: no validation, given ids and `meta.lastUpdated` kept.

        Resources that are already there are left as they are. Returns how many were added.
        """
        return await self._writing(lambda tables: self._load(tables, resources))

    def _transact(self, tables: Tables, entries: tuple[EntryRequest, ...]) -> TransactionResult:
        issues: list[Issue] = []
        moment = self._now()
        now = _instant(moment)
        today = day_of(moment, self._stands)
        for entry in entries:
            issues.extend(check_content(entry.resource, today=today, entry=entry.index))
        if issues:
            raise ValidationRefused(tuple(issues))
        tables.begin()
        result = apply_entries(tables, entries, now=now, new_id=self._new_id)
        self._faults("fhir.before-commit")
        tables.commit()
        self._faults("fhir.after-commit")
        return result

    def _load(self, tables: Tables, resources: Iterable[Resource]) -> int:
        now = _instant(self._now())
        given = {f"{resource['resourceType']}/{resource['id']}": resource for resource in resources}
        tables.begin()
        present = tables.versions(given)
        added = {reference: resource for reference, resource in given.items() if reference not in present}
        for reference, resource in added.items():
            last_updated = resource.get("meta", {}).get("lastUpdated", now)
            tables.insert(stamped(resource, reference, 1, last_updated))
        tables.commit()
        return len(added)

    async def _reading(self, work: Callable[[Tables], T]) -> T:
        return await self._run(self._reader, "_read_tables", work)

    async def _writing(self, work: Callable[[Tables], T]) -> T:
        return await self._run(self._writer, "_write_tables", work)

    async def _run(self, executor: ThreadPoolExecutor, name: str, work: Callable[[Tables], T]) -> T:
        tables: Tables | None = getattr(self, name, None)
        if tables is None:
            raise Unavailable("the store is closed")
        return await asyncio.get_running_loop().run_in_executor(executor, _guarded, tables, work)


def _guarded(tables: Tables, work: Callable[[Tables], T]) -> T:
    """Run in the connection's thread; whatever goes wrong, no transaction stays open."""
    try:
        return work(tables)
    except tables.errors as error:
        if not tables.renewed(error):
            raise Unavailable(tables.explained(error)) from error
    finally:
        tables.rollback()
    try:
        return work(tables)
    except tables.errors as error:
        tables.renewed(error)
        raise Unavailable(tables.explained(error)) from error
    finally:
        tables.rollback()


def _read(tables: Tables, reference: str) -> Resource:
    row = tables.get(reference)
    if row is None:
        raise NotFound(reference)
    return row.resource()


def _vread(tables: Tables, reference: str, version: str) -> Resource:
    tables.begin_read()
    row = tables.get(reference)
    if row is None:
        raise NotFound(reference)
    if str(row.version) == version:
        return row.resource()
    # Versions are opaque to callers: what is no number of ours is simply no version of this resource.
    number = int(version) if version.isascii() and version.isdigit() and len(version) < 16 else 0
    body = tables.old_version(row.pk, number)
    if body is None:
        raise NotFound(reference, version)
    resource: Resource = orjson.loads(body)
    return resource


def _history(tables: Tables, reference: str) -> list[Resource]:
    tables.begin_read()
    row = tables.get(reference)
    if row is None:
        raise NotFound(reference)
    return [row.resource(), *(orjson.loads(body) for _, body in tables.old_versions(row.pk))]


def _instant(moment: datetime) -> str:
    if moment.tzinfo is None:
        raise RequestRefused("now", "the clock gave a time without a zone")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
