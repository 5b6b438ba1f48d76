"""Every descriptor says what the catalogue says."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from condor import HitlTier, PolicyClass
from condor.tools import ToolRegistry
from condor.tools.lint import lint_tools
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


#: What one argument makes necessary: tool → argument → (other argument, its values; none: any).
NECESSARY: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {
    "vitals.record": {"systolic": {"diastolic": ()}, "diastolic": {"systolic": ()}},
    "medication.update": {
        "dose_value": {"action": ("update",)},
        "dose_unit": {"action": ("update",)},
        "frequency": {"action": ("update",)},
    },
    "allergy.update": {"criticality": {"action": ("update",)}, "reason": {"action": ("remove",)}},
    "condition.update": {"abatement": {"action": ("resolve",)}, "reason": {"action": ("remove",)}},
    "treatment.update": {"activity": {"action": ("update",)}},
    "vitals.correct": {"value": {"action": ("amend",)}},
    "note.update": {"text": {"action": ("update",)}},
    "appointment.update": {"slot": {"action": ("reschedule",)}, "cancel_reason": {"action": ("cancel",)}},
    "billing.invoice.update": {"reason": {"action": ("void",)}},
}


async def test_there_are_55_of_the_kinds_the_catalogue_counts(desk: Desk) -> None:
    """22 read, 5 high and 22 low rows and the legacy one, 3 that speak, 2 that run."""
    kinds = Counter((tool.policy_class, tool.hitl_tier) for tool in desk.tools.values())
    assert kinds == {
        (PolicyClass.READ, None): 22,
        (PolicyClass.MUTATE, HitlTier.HIGH): 5,
        (PolicyClass.MUTATE, HitlTier.LOW): 22,
        (None, None): 1,
        (PolicyClass.COMMS, None): 3,
        (PolicyClass.EXEC, None): 2,
    }


async def test_what_an_argument_makes_necessary(desk: Desk) -> None:
    """The catalogue's conditional requirements, all of them and no others."""
    found = {
        name: {arg.name: dict(arg.required_if) for arg in tool.args if arg.required_if}
        for name, tool in desk.tools.items()
    }
    assert {name: args for name, args in found.items() if args} == NECESSARY


async def test_nobody_would_miss_anything_of_a_tool(desk: Desk) -> None:
    """The lint finds no error; at most that the audit trail is asked for by those who only look."""
    found = {(row.tool, row.code) for row in lint_tools(desk.tools.values()) if row.level == "error"}
    assert found <= {("audit.trail", "nobody-answers")}


async def test_the_tools_are_the_catalogues(desk: Desk) -> None:
    """Exactly its rows, and all of them can be registered together."""
    assert {row["name"] for row in ROWS} == set(desk.tools)
    assert len(ToolRegistry(desk.tools.values())) == len(ROWS)


def ops_of(row: dict[str, Any]) -> frozenset[str]:
    """The op of the row; where an argument says it, every value that the argument has."""
    args = {arg["name"]: arg for arg in row["args"]}
    if row["op_from_arg"] is None:
        return frozenset({row["op"]})
    return frozenset(option["value"] for option in args[row["op_from_arg"]]["hint"]["enum"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
async def test_a_descriptor_is_its_row(desk: Desk, row: dict[str, Any]) -> None:
    """Class, tier, op, roles, approvers, aliases, card, metadata, and every argument with its hint."""
    tool = desk.tools[row["name"]]
    assert tool.title == row["title"]
    assert tool.policy_class == (PolicyClass(row["policy_class"]) if row["policy_class"] else None)
    assert tool.hitl_tier == (HitlTier(row["hitl_tier"]) if row["hitl_tier"] else None)
    assert (tool.ops, tool.op_arg) == (ops_of(row), row["op_from_arg"])
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
    if row["policy_class"] != "read":
        assert tool.idempotent
        assert tool.preview is not None
    if row["policy_class"] not in ("read", "exec"):
        assert tool.reconcile is not None


async def test_every_card_tool_of_the_hospital_draws_its_card(desk: Desk) -> None:
    """A ``.card`` tool without ``ui_card`` fails here."""
    assert [name for name, tool in desk.tools.items() if name.endswith(".card") and not tool.ui_card] == []
