"""Every descriptor says what the catalogue says."""

import json
from pathlib import Path
from typing import Any

import pytest

from condor import HitlTier, PolicyClass
from condor.tools import ToolRegistry
from tests.hms.catalogue.desk import Desk

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "catalogue.json").read_text(encoding="utf-8")
)


#: Whom and what a call is about; another one of these is another order.
IDENTITY = frozenset(
    {
        "patient",
        "medication",
        "order",
        "substance",
        "tests",
        "slot",
        "practitioner",
        "start",
        "flag",
        "category",
    }
    | {"allergy", "task", "report", "appointment", "encounter", "plan", "visit_id", "document"}
)


async def test_no_edit_changes_whom_or_what_it_is_about(desk: Desk) -> None:
    """What may be edited on a card is how and when; the record writes that matter allow it, reads nothing."""
    editable = {name: tool.editable for name, tool in desk.tools.items() if tool.editable}
    assert {"medication.prescribe", "medication.discontinue", "allergy.record"} <= editable.keys()
    for name, names in editable.items():
        tool = desk.tools[name]
        references = {arg.name for arg in tool.args if arg.type == "reference"}
        assert tool.policy_class is not PolicyClass.READ
        assert names.isdisjoint(IDENTITY | references), name


async def test_the_tools_are_the_catalogues(desk: Desk) -> None:
    """Exactly the rows of this slice, and all of them can be registered together."""
    assert {row["name"] for row in ROWS} == set(desk.tools)
    assert len(ToolRegistry(desk.tools.values())) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
async def test_a_descriptor_is_its_row(desk: Desk, row: dict[str, Any]) -> None:
    """Class, tier, op, roles, approvers, aliases, card, metadata, and every argument with its hint."""
    tool = desk.tools[row["name"]]
    assert tool.title == row["title"]
    assert tool.policy_class == (PolicyClass(row["policy_class"]) if row["policy_class"] else None)
    assert tool.hitl_tier == (HitlTier(row["hitl_tier"]) if row["hitl_tier"] else None)
    assert (tool.ops, tool.op_arg) == (frozenset({row["op"]}), row["op_from_arg"])
    assert (tool.roles, tool.approver_roles) == (frozenset(row["roles"]), frozenset(row["approver_roles"]))
    assert (tool.alias_group, tool.alias_fidelity) == (row["alias_group"], row["alias_fidelity"])
    assert tool.ui_card == row["ui_card"]
    assert tool.metadata == row["metadata"]
    assert row["args"] == [
        {"name": arg.name, "label": arg.label, "type": arg.type, "required": arg.required, "hint": arg.hint}
        for arg in tool.args
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
async def test_a_tool_can_be_explained_and_reported(desk: Desk, row: dict[str, Any]) -> None:
    """A description in whole sentences, a noun for what did not happen, a sentence for what did."""
    tool = desk.tools[row["name"]]
    assert tool.description.endswith(".")
    assert tool.noun.startswith("the ")
    assert tool.report is not None
    if row["metadata"].get("mutating"):
        assert tool.idempotent
        assert tool.preview is not None
        assert tool.reconcile is not None
