"""R09 and R10 of the clinic, whole: a tool is down, another one stands in, and the closing says so."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor
from condor.pump import retries
from condor.testing import FaultyPack, ToolFault
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.fhir.errors import Unavailable
from condor_hms.pack import PACK
from tests.acceptance.test_requests import HELEN, JOHN, Ward

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

R09 = "What were Leonard Mason's latest A1c and creatinine?"
R10 = "Order an urgent potassium on John Hernandez."


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "RETRY_PAUSE_S", 0)


@asynccontextmanager
async def shaky(home: Path, **faults: ToolFault) -> AsyncIterator[Ward]:
    """The demo hospital with tools that go wrong; ``_`` in a name stands for ``.``."""
    named = {name.replace("_", "."): fault for name, fault in faults.items()}
    async with Condor(packs=[FaultyPack(PACK, named)], home=home, demo=True) as condor:
        yield Ward(condor, home)
        assert all([verdict.kept async for verdict in condor.verify()])


async def asked(ward: Ward, text: str, autonomy: str = "autonomous", who: str = "dr-okafor") -> Any:
    """Type a request; the snapshot at its rest."""
    run = await ward.condor.start(text, autonomy=autonomy, principal=ward.who(who))
    return await ward.condor.wait(run.id)


async def kinds(ward: Ward, run: Any) -> list[str]:
    """The kinds of the run's events."""
    return [event.kind async for event in ward.condor.watch(run["runId"])]


async def test_r09_answers_from_the_reports_and_says_so(tmp_path: Path) -> None:
    """Two times 503, then the reports: the same numbers, their source, one edit, one charge."""
    async with shaky(tmp_path, labs_search=ToolFault(kind="fail", times=2)) as ward:
        end = await asked(ward, R09)
        assert (end["status"], end["steps"][1]["tool"]) == ("succeeded", "labs.report.search")
        assert "HbA1c 9.0 % on 7 Oct 2026" in end["closing"]
        assert "Creatinine 0.91 mg/dL on 7 Oct 2026" in end["closing"]
        assert "(from lab reports)" in end["closing"]
        assert (
            "The lab reports stood in for the lab results: it did not answer (503, injected)"
            in (end["closing"])
        )
        assert (await kinds(ward, end)).count("plan.revised") == 1
        assert end["budget"]["plan_mutations"] == {"used": 1, "limit": 8, "unit": "edits"}
        assert "plan-revised" in await ward.decisions(end)


async def test_r09_gives_the_same_numbers_without_a_fault(tmp_path: Path) -> None:
    """What the reports say is what the results say."""
    async with shaky(tmp_path) as ward:
        end = await asked(ward, R09)
        assert "HbA1c 9.0 % on 7 Oct 2026" in end["closing"]
        assert "Creatinine 0.91 mg/dL on 7 Oct 2026" in end["closing"]
        assert "plan.revised" not in await kinds(ward, end)


async def test_r10_leaves_a_task_and_does_not_say_ordered(tmp_path: Path) -> None:
    """The order is proven absent, a task is left instead, and nothing claims an order."""
    down = ToolFault(kind="fail", said="the lab interface did not answer")
    async with shaky(tmp_path, order_lab_create=down) as ward:
        before = await ward.search("ServiceRequest", subject=JOHN)
        end = await asked(ward, R10)
        assert end["status"] == "degraded"
        assert "rdered" not in end["closing"]
        (notice,) = [line for line in end["closing"].splitlines() if line.startswith("⚠ Not completed:")]
        assert notice.startswith(
            "⚠ Not completed: the lab order was not done: the lab interface did not answer. "
            "Instead: I left an urgent task for the laboratory"
        )
        assert before == await ward.search("ServiceRequest", subject=JOHN)
        tasks = await ward.search("Task", patient=JOHN, status="requested")
        (task,) = [task for task in tasks if task["id"] != "task-8001"]
        assert task["description"] == "Lab interface is down: order an urgent potassium by phone"
        assert (task["priority"], task["performerType"]) == ("urgent", [{"text": "Laboratory"}])
        assert (await kinds(ward, end)).count("plan.revised") == 1


async def test_r10_when_the_record_itself_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """503 of the transaction: unknown until a search by the key shows nothing; then a task."""
    transact = EmbeddedFhirStore.transact

    async def no_orders(store: EmbeddedFhirStore, bundle: Any) -> Any:
        if any(entry["resource"]["resourceType"] == "ServiceRequest" for entry in bundle["entry"]):
            raise Unavailable("503")
        return await transact(store, bundle)

    monkeypatch.setattr(EmbeddedFhirStore, "transact", no_orders)
    async with shaky(tmp_path) as ward:
        end = await asked(ward, R10)
        assert (end["status"], end["steps"][1]["tool"]) == ("degraded", "task.create")
        assert (
            "the lab order was not done: the record did not answer (503). Instead: I left" in end["closing"]
        )
        assert "rdered" not in end["closing"]


async def test_without_a_fault_the_order_is_made(tmp_path: Path) -> None:
    """One order, signed for, and the closing says so."""
    async with shaky(tmp_path) as ward:
        end = await asked(ward, R10)
        assert end["status"] == "succeeded"
        assert "Ordered Potassium (urgent) for John Hernandez" in end["closing"]
        orders = await ward.search("ServiceRequest", subject=JOHN, status="active")
        assert any(order.get("priority") == "urgent" for order in orders)


async def test_a_supervised_substitute_is_asked_for(tmp_path: Path) -> None:
    """Guarded: the edit of the plan parks first; denied, the results have failed and that is all."""
    async with shaky(tmp_path, labs_search=ToolFault(kind="break")) as ward:
        run = await asked(ward, R09, autonomy="guarded")
        (wait,) = run["why"]["waitsFor"]
        assert (wait["origin"], wait["tool"]) == ("plan_mutation", "labs.report.search")
        end = await ward.answer(run, {"approved": False, "reason": "I look myself"}, "dr-okafor")
        assert end["status"] == "failed"
        assert "plan.revised" not in await kinds(ward, end)


async def test_a_denied_discontinue_does_not_come_back_as_an_update(tmp_path: Path) -> None:
    """The denial holds for the effect: nothing is substituted, and the medicine stays active."""
    async with shaky(tmp_path) as ward:
        run = await asked(ward, "Stop Helen Coleman's celecoxib because of an interaction")
        end = await ward.answer(run, {"approved": False, "reason": "no"}, "dr-okafor")
        assert end["status"] == "aborted"
        assert "plan.revised" not in await kinds(ward, end)
        orders = await ward.search("MedicationRequest", subject=HELEN, status="active")
        assert any("celecoxib" in str(order).lower() for order in orders)


@pytest.mark.parametrize(
    ("tool", "text", "stands_in", "status"),
    [
        ("patient_summary_card", "Overview of Melissa Smith", "patient.everything", "succeeded"),
        ("medication_list_card", "What is Helen Coleman taking?", "medication.statement.list", "degraded"),
    ],
)
async def test_other_tools_stand_in(
    tmp_path: Path, tool: str, text: str, stands_in: str, status: str
) -> None:
    """The alias groups of the catalogue, through the same role check."""
    async with shaky(tmp_path, **{tool: ToolFault(kind="break")}) as ward:
        end = await asked(ward, text)
        assert (end["status"], end["steps"][1]["tool"]) == (status, stands_in)
