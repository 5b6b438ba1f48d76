"""The benchmark measures what it says: the same work for all, counted right, in a JSON others can read."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from bench.bare_runs import filled, templates_of
from bench.contenders import BY_NAME
from bench.document import page
from bench.report import table
from bench.units import recorded, renamed, rows_of, size_of, units_of_one_run
from condor.store.sqlite import SqliteStore
from tests.architecture.house import ROOT

if TYPE_CHECKING:
    from pathlib import Path

OURS = ("condor", "bare", "bare-grouped")
#: Of every sample; a reader of the JSON relies on them.
FIELDS = {
    "round",
    "contender",
    "atOnce",
    "runs",
    "seconds",
    "runsPerS",
    "cpuMsPerRun",
    "cpuUserMsPerRun",
    "cpuSystemMsPerRun",
    "coresBusy",
    "slowness",
    "unitsPerRun",
    "commitsPerRun",
    "parkMs",
    "approveToToolMs",
    "approveToDoneMs",
    "settings",
}


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The JSON of a tiny round of everything that is installed here."""
    results = tmp_path_factory.mktemp("results")
    made = tmp_path_factory.mktemp("databases")
    command = [sys.executable, "-m", "bench", "--quick", "--results", str(results), "--directory", str(made)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert list(made.iterdir()) == [], "databases are removed"
    found: dict[str, Any] = json.loads((results / "latest.json").read_text(encoding="utf-8"))
    assert table(found) in ran.stdout
    return found


@pytest.mark.slow
def test_every_sample_has_its_fields(quick: dict[str, Any]) -> None:
    """One sample for each contender and load, whole."""
    samples = [sample for sample in quick["samples"] if sample["contender"] in OURS]
    assert [(at_once, name) for at_once in (1, 4) for name in OURS] == [
        (sample["atOnce"], sample["contender"]) for sample in samples
    ]
    assert [FIELDS] * len(samples) == [set(sample) for sample in samples]
    assert {"min", "median", "max"} <= set(quick["ratios"][0])
    assert {"cores", "cpu", "system", "load", "python", "sqlite", "packages"} == set(quick["machine"])


@pytest.mark.slow
def test_units_and_commits_are_counted(quick: dict[str, Any]) -> None:
    """Condor and the bare writers commit the same units; alone, each is a commit of its own."""
    units = quick["rowsOfOneRun"]["units"]
    for sample in quick["samples"]:
        if sample["contender"] not in OURS:
            continue
        assert sample["unitsPerRun"] == units <= 6
        if sample["atOnce"] == 1 or sample["contender"] == "bare":
            assert sample["commitsPerRun"] == units
        else:
            assert 0 < sample["commitsPerRun"] < units


@pytest.mark.slow
def test_a_peer_that_is_not_installed_is_named(quick: dict[str, Any]) -> None:
    """LangGraph is measured, or the JSON and the table say why not."""
    if importlib.util.find_spec("langgraph") is not None:
        assert "langgraph" not in quick["skipped"]
        return
    assert quick["skipped"]["langgraph"] == BY_NAME["langgraph"].missing()
    assert "langgraph" in quick["skipped"]["langgraph"]
    assert quick["skipped"]["langgraph"] in table(quick)


@pytest.mark.slow
def test_postgres_is_measured_or_it_is_said_why_not(quick: dict[str, Any]) -> None:
    """Condor and the bare writers on PostgreSQL make the same units, durably."""
    for name in ("condor-postgres", "bare-postgres"):
        samples = [sample for sample in quick["samples"] if sample["contender"] == name]
        if name in quick["skipped"]:
            assert quick["skipped"][name] == BY_NAME[name].missing()
            continue
        assert [sample["atOnce"] for sample in samples] == [1, 4]
        for sample in samples:
            assert sample["unitsPerRun"] == quick["rowsOfOneRun"]["units"]
            assert (sample["settings"]["fsync"], sample["settings"]["synchronous_commit"]) == ("on", "on")


async def test_the_bare_rows_are_those_condor_writes(tmp_path: Path) -> None:
    """As many rows as the tables of a real run hold, and every byte of their contents."""
    units = await units_of_one_run()
    size = size_of(units)
    store = SqliteStore.open(tmp_path / "copy.db")
    try:
        for unit in units:
            await store.commit(unit)
        run_id = units[0].run_id
        loaded = await store.load(run_id)
        events = await store.events(run_id)
    finally:
        await store.close()
    assert loaded is not None
    written = [row for unit in units for row in rows_of(unit)]
    assert len(events) == sum(table == "event" for table, _ in written)
    assert {key for table, (_, key, *_) in [w for w in written if w[0] == "payload"]} == set(loaded.payloads)
    bodies = sum(len(body) for body in loaded.payloads.values()) + sum(len(event.facts) for event in events)
    assert bodies < size["bytes"]
    assert len(units) == size["units"] <= 6


async def test_a_template_holds_everything_but_the_ids() -> None:
    """Two runs of the bare writer differ in their ids alone."""
    units = await units_of_one_run()
    templates = templates_of(units)
    one, other = (
        [filled(unit, f"run_{letter * 26}", f"sus_{letter * 26}") for unit in templates]
        for letter in ("a", "b")
    )
    assert one != other
    assert str(one).replace("a" * 26, "") == str(other).replace("b" * 26, "")
    assert sum(len(rows) for unit in one for _, rows in unit) == size_of(units)["rows"]


async def test_recording_leaves_the_store_as_it_was() -> None:
    """The recorder is gone after its block, and the recorded units carry other ids when asked to."""
    before = SqliteStore.commit
    with recorded():
        assert SqliteStore.commit is not before
    assert SqliteStore.commit is before
    (unit, *_) = await units_of_one_run(approve=False)
    old, new = unit.run_id, f"run_{'z' * 26}"
    fresh = renamed(unit, {old: new})
    assert fresh.run_id == new
    assert old not in repr(fresh)
    assert len(repr(fresh)) == len(repr(unit))


@pytest.mark.slow
def test_the_page_names_its_machine_and_no_path(quick: dict[str, Any]) -> None:
    """What is committed as documentation is made of the JSON alone."""
    scale = {
        "count": 1,
        "startUpMs": 1.0,
        "emptyStartUpMs": 1.0,
        "addedMbOverEmpty": 0.1,
        "cards": 1,
        "firstCardsMs": 1.0,
        "filtered": {"of one tool": {"cards": 1, "ms": 1.0}},
        "approved": 1,
        "approveToToolMs": {"p50": 1.0, "p95": 1.0},
        "bytesPerRun": 7_000.0,
    }
    text = page(quick, scale)
    assert quick["machine"]["sqlite"] in text
    assert str(ROOT) not in text
