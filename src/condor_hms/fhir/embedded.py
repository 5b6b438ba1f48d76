"""The embedded FHIR store: one SQLite file."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from condor_hms.fhir.errors import Unavailable
from condor_hms.fhir.sqlite_tables import SqliteTables
from condor_hms.fhir.table_store import TableStore, new_id, no_faults, utc_now

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

__all__ = ["EmbeddedFhirStore"]


class EmbeddedFhirStore(TableStore):
    """A `FhirStore` in one file; opens (or creates) it at once."""

    def __init__(
        self,
        path: Path,
        *,
        faults: Callable[[str], None] = no_faults,
        now: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = new_id,
    ) -> None:
        """Open the file, whose folder must exist; see `TableStore` for the rest.

        Raises:
            Unavailable: it cannot be opened.
            RequestRefused: it is something else than a record of this version.
        """
        try:
            super().__init__(
                lambda writer: SqliteTables(path, writer=writer), faults=faults, now=now, new_id=new_id
            )
        except sqlite3.Error as error:
            raise Unavailable(f"cannot open {str(path)!r}: {error}") from error
