"""The demonstration record: read from package data, loaded once, at a fixed day.

Rule: loading is one transaction and adds only what is missing: to do it again, even after a crash, is safe.
"""

from __future__ import annotations

import gzip
import os
from datetime import date
from importlib.resources import files
from typing import TYPE_CHECKING, Protocol

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from condor_hms.fhir.port import Resource

__all__ = ["demo_resources", "demo_today", "load_demo"]

#: The day the record was generated up to; results and appointments are told relative to it.
_TODAY = date(2026, 11, 30)
_TODAY_VARIABLE = "CONDOR_DEMO_TODAY"


class BulkLoader(Protocol):
    """A store that takes trusted resources in bulk, as the embedded one does."""

    async def versions(self, references: Iterable[str]) -> dict[str, str | None]:
        """See `FhirStore.versions`."""
        ...

    async def load(self, resources: Iterable[Resource]) -> int:
        """Add those that are missing, in one transaction; returns how many."""
        ...


async def load_demo(store: BulkLoader) -> int:
    """Make sure the demonstration record is in the store; returns how many resources were added (0 or 1,971).

    Knows by one resource whether it is: the load is one transaction, so a part of it is never there alone.
    """
    marker = "Organization/hms-demo-hospital"
    if (await store.versions([marker]))[marker] is not None:
        return 0
    return await store.load(demo_resources())


def demo_resources() -> list[Resource]:
    """The 1,971 resources of the demonstration record, newly parsed."""
    packed = files("condor_hms.demo").joinpath("data/hms-demo.ndjson.gz").read_bytes()
    return [orjson.loads(line) for line in gzip.decompress(packed).splitlines()]


def demo_today() -> date:
    """The day it is in the demonstration: 2026-11-30, or `CONDOR_DEMO_TODAY` (YYYY-MM-DD).

    Raises `ValueError` if the variable is no date.
    """
    text = os.environ.get(_TODAY_VARIABLE, "").strip()
    if not text:
        return _TODAY
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ValueError(
            f"{_TODAY_VARIABLE}={text[:40]!r} is not a date: give YYYY-MM-DD or unset it"
        ) from error
