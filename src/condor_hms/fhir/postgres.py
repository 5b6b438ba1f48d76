"""The embedded FHIR store in a PostgreSQL database, which any number of processes share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from condor_hms.fhir.postgres_tables import PostgresTables, record_address
from condor_hms.fhir.table_store import TableStore, new_id, no_faults, utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from condor_hms.fhir.tables import Tables

__all__ = ["PostgresFhirStore"]


class PostgresFhirStore(TableStore):
    """A `FhirStore` in a schema of its own; opens (or creates) it at once."""

    def __init__(
        self,
        url: str,
        *,
        create: bool = True,
        faults: Callable[[str], None] = no_faults,
        now: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = new_id,
    ) -> None:
        """Connect; see `TableStore` for the rest.

        Args:
            url: `postgresql://…`. The record's schema is the one of `search_path` (default `condor`) with
                `_fhir` behind it.
            create: make the tables where there are none.

        Raises:
            condor.core.errors.HomeUnusable: in one line why the database cannot be used, without a password.
            Unavailable: there is no record, and none was to be made.
            RequestRefused: the record is of another version.
        """
        address = record_address(url)
        super().__init__(
            lambda writer: PostgresTables(address, writer=writer, create=create),
            faults=faults,
            now=now,
            new_id=new_id,
        )
        #: Where it is, for people: no password.
        self.name = address.name

    async def log_message(self, key: str, body: Mapping[str, str]) -> int:
        """Keep a message that a demonstration's carrier was given, once for its key; its number.

        Raises:
            Unavailable: it may have been kept or not; asked again, it is kept once.
        """
        text = orjson.dumps(body).decode()
        return await self._writing(lambda tables: _logged(tables, key, text))


def _logged(tables: Tables, key: str, body: str) -> int:
    assert isinstance(tables, PostgresTables), "INVARIANT: the tables are those that were opened"
    tables.begin()
    number = tables.log_message(key, body)
    tables.commit()
    return number
