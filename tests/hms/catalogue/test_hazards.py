"""The hazard log says of each tool what its row says, and nothing that the tool does not do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from condor import PolicyClass
from condor.tools.explain import class_of
from condor_hms.breakglass import break_glass_tools
from condor_hms.hazards import gates_of, hazards_of, is_hazardous

if TYPE_CHECKING:
    from condor import ToolDescriptor
    from tests.hms.catalogue.desk import Desk

#: Tools that ask why a critical alert is overridden, as an argument or beside them; ``test_overrides`` has
#: each of them ask.
WARNED = {"medication.prescribe", "medication.update", "prescription.renew"}
#: Tools that end what protects the patient, by an op whose name does not say so.
ENDING = {"allergy.update": "resolve", "condition.update": "resolve"}


@pytest.fixture
def tools(desk: Desk) -> dict[str, ToolDescriptor]:
    own = {tool.name: tool for tool in break_glass_tools(desk.hospital)}
    return {name: tool for name, tool in (desk.tools | own).items() if is_hazardous(tool)}


async def test_every_tool_that_does_more_than_read_is_in_it(
    desk: Desk, tools: dict[str, ToolDescriptor]
) -> None:
    """All 33 of the catalogue and the one of ours; each has a hazard, a control, a severity, a rest."""
    assert len(tools) == 34
    reads = {name for name, tool in desk.tools.items() if class_of(tool) == PolicyClass.READ}
    assert reads.isdisjoint(tools)
    for tool in tools.values():
        rows = hazards_of(tool)
        assert {"H4", "H7"} <= {row.kind for row in rows}
        for row in rows:
            assert row.controls
            assert row.residual.partition(":")[0].split(",")[0] in ("low", "moderate")
            assert "{" not in row.hazard


async def test_severity_follows_the_tier(tools: dict[str, ToolDescriptor]) -> None:
    """High tier, what takes away, speaks or runs is serious; a routine entry is moderate."""
    severity = {name: hazards_of(tool)[0].severity for name, tool in tools.items()}
    assert severity["medication.prescribe"] == severity["communication.send"] == "serious"
    assert severity["report.generate"] == severity["allergy.update"] == severity["flag.set"] == "serious"
    assert severity["vitals.record"] == severity["note.draft"] == "moderate"


async def test_the_gate_in_the_log_is_the_gate(tools: dict[str, ToolDescriptor]) -> None:
    """Each op by the rule that the policy names for it; what always asks is not said to run unseen."""
    (discontinue,) = [gate for gate in gates_of(tools["medication.discontinue"])]
    assert discontinue.asks == (True, True, True)
    assert set(discontinue.rules) == {"mutate.high-tier-always-approval"}
    (vitals,) = gates_of(tools["vitals.record"])
    assert vitals.asks == (False, True, True)
    for tool in tools.values():
        unseen = any(row.kind == "H8" for row in hazards_of(tool))
        assert unseen == any(not all(gate.asks) for gate in gates_of(tool)), tool.name


async def test_a_control_is_only_told_where_it_is(tools: dict[str, ToolDescriptor]) -> None:
    """Alerts where an override is asked for; idempotency, reconcile, previews where the row has them."""
    for name, tool in tools.items():
        told = " ".join(control for row in hazards_of(tool) for control in row.controls)
        assert ("critical alert" in told) == (name in WARNED), name
        assert ("idempotent" in told) == tool.idempotent, name
        assert ("`reconcile`" in told) == (tool.reconcile is not None), name
        for quoted in re.findall(r"^(\w+): no default", told):
            assert quoted in tool.args_by_name


async def test_what_ends_a_protection_is_a_hazard(tools: dict[str, ToolDescriptor]) -> None:
    """Ops whose effect takes something away are in the log as the gate counts them, whatever their name."""
    for name, op in ENDING.items():
        (row,) = [row for row in hazards_of(tools[name]) if row.kind == "H6"]
        assert op in row.controls[0].partition(":")[0].split(", "), name
        (gate,) = [gate for gate in gates_of(tools[name]) if gate.op == op]
        assert all(gate.asks), name
        assert row.severity == "serious"
