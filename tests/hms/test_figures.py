"""The record's figures: medians on this machine, beside the bare transaction that they stand on."""

from __future__ import annotations

import datetime
import sqlite3
import statistics
import time
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from condor import Principal, ToolContext
from condor_hms.alerts import demo_rules
from condor_hms.catalogue import Hospital, hospital_tools
from condor_hms.catalogue.writing import write
from condor_hms.demo import demo_resources
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.fhir.postgres import PostgresFhirStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from condor_hms.fhir.port import FhirStore

ROUNDS = 25
MEASURED_MAX = 3
SUMMARY_MS_MAX, WRITE_MS_MAX = 10.0, 5.0
MELISSA = "Patient/pt-0612cf63eb84"


async def median_ms(work: Callable[[int], Awaitable[Any]], limit_ms: float = 0.0) -> float:
    """Of ``ROUNDS`` calls, the first one not counted.

    Args:
        limit_ms: measured again, up to three times, while the median is above it: other work on the machine
            slows one measurement, what has become slow itself slows them all.
    """
    numbers = count()
    medians: list[float] = []
    while not medians or (min(medians) > limit_ms > 0 and len(medians) < MEASURED_MAX):
        await work(next(numbers))
        taken = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            await work(next(numbers))
            taken.append((time.perf_counter() - begun) * 1000)
        medians.append(statistics.median(taken))
    return min(medians)


def context(key: str) -> ToolContext:
    who = Principal(id="dr-okafor", roles=frozenset({"doctor"}))
    now = datetime.datetime(2026, 11, 30, 9, 30, tzinfo=datetime.UTC)
    return ToolContext(run_id="r", step_id="s", attempt=1, principal=who, idempotency_key=key, now=now)


async def summary_and_write_ms(store: FhirStore, write_ms_max: float) -> tuple[float, float]:
    """A patient's summary, and a task that is written with its Provenance."""
    hospital = Hospital(fhir=store, rules=demo_rules(), today=datetime.date(2026, 11, 30))
    summary = {tool.name: tool for tool in hospital_tools(hospital)}["patient.summary.card"].function
    assert summary is not None
    summary_ms = await median_ms(lambda _: summary(context(""), patient=MELISSA), SUMMARY_MS_MAX)
    task = {
        "resourceType": "Task",
        "status": "requested",
        "intent": "order",
        "description": "Repeat potassium",
        "for": {"reference": MELISSA},
    }
    write_ms = await median_ms(
        lambda number: write(hospital, context(f"k{number}"), new=[task]), write_ms_max
    )
    return summary_ms, write_ms


async def test_the_figures_of_the_record(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """2,000 resources under 3 s; a summary under 10 ms; a write with Provenance under 5 ms on SQLite FULL."""
    resources = demo_resources()
    async with EmbeddedFhirStore(tmp_path / "record.db") as store:
        begun = time.perf_counter()
        assert await store.load(resources) == len(resources)
        load_s = time.perf_counter() - begun
        summary_ms, write_ms = await summary_and_write_ms(store, WRITE_MS_MAX)
    with closing(sqlite3.connect(tmp_path / "bare.db", isolation_level=None)) as database:
        bare_ms = await median_ms(bare_transactions(database))
    figures = {"load_s": load_s, "summary_ms": summary_ms, "write_ms": write_ms, "bare_ms": bare_ms}
    for name, value in figures.items():
        record_property(name, round(value, 2))
    assert load_s < 3, figures
    assert summary_ms < SUMMARY_MS_MAX, figures
    # A slow disk slows the bare transaction too; the rest is ours.
    assert write_ms < max(WRITE_MS_MAX, 3 * bare_ms), figures


def bare_transactions(database: sqlite3.Connection) -> Callable[[int], Awaitable[None]]:
    """One row in one transaction, on disk when it returns: what no write can be faster than."""
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute("CREATE TABLE row (body TEXT)")

    async def once(_: int) -> None:
        database.execute("BEGIN IMMEDIATE")
        database.execute("INSERT INTO row VALUES (?)", ("x" * 800,))
        database.execute("COMMIT")

    return once


@pytest.mark.slow
async def test_the_figures_of_the_record_in_postgres(
    demo_database: str, record_property: Callable[[str, object], None]
) -> None:
    """Where processes share it each statement is a round trip: a summary under 10 ms, a write under 10 ms.

    Beside it a bare transaction of one row, four round trips, over the same connection.
    """
    async with PostgresFhirStore(demo_database) as store:
        summary_ms, write_ms = await summary_and_write_ms(store, 2 * WRITE_MS_MAX)
        bare_ms = await median_ms(lambda number: store.log_message(f"m{number}", {"text": "x" * 800}))
    figures = {"summary_ms": summary_ms, "write_ms": write_ms, "bare_ms": bare_ms}
    for name, value in figures.items():
        record_property(name, round(value, 2))
    assert summary_ms < SUMMARY_MS_MAX, figures
    assert write_ms < max(2 * WRITE_MS_MAX, 8 * bare_ms), figures
