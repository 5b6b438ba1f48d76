"""Cards that tools draw: one property of the descriptor drives the frame, the buffer and the order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor, HitlTier, PolicyClass, ToolContext, tool
from condor.core.errors import RegistrationRefused
from condor.ports.encoding import decode
from condor.pump import post_tool
from condor.tools.lint import lint_tools

if TYPE_CHECKING:
    from pathlib import Path

    from condor.core.observers.post_tool import PostToolContext, ToolOutput
    from condor.core.policy import ToolDescriptor

PINNED: list[Any] = []


def _card(name: str, *, ui_card: bool = True) -> ToolDescriptor:
    @tool(name, policy_class=PolicyClass.READ, ui_card=ui_card)
    async def draw(_: ToolContext, rows: int = 1) -> dict[str, Any]:
        """Draw a list."""
        return {"rows": ["row"] * rows}

    return draw


@tool("board.pin", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, pins="card", noun="the pin")
async def pin(_: ToolContext, card: dict[str, Any]) -> str:
    """Pin a card."""
    PINNED.append(card)
    return "pinned"


async def _run(
    home: Path, steps: list[dict[str, Any]], *tools: ToolDescriptor
) -> tuple[dict[str, Any], list[Any]]:
    PINNED.clear()
    async with Condor(tools=[*tools, pin], home=home, tend=False) as condor:
        run = await condor.start(plan={"steps": steps}, autonomy="autonomous")
        snapshot = await condor.wait(run.id)
        events = [event async for event in condor.watch(run.id)]
        stored = await condor.store.payloads(run.id, ["result:a", "cards"])
        counted = dict(condor.counts)
    snapshot |= {name: decode(body) for name, body in stored.items()} | {"counts": counted}
    return snapshot, events


@pytest.mark.parametrize("draws", [True, False])
async def test_one_property_drives_all_three(tmp_path: Path, *, draws: bool) -> None:
    """With ``ui_card`` a frame is told, the card is kept and a pin waits for it; without it none of that."""
    steps = [
        {"id": "p", "tool": "board.pin", "args": {} if draws else {"card": {}}, "after": []},
        {"id": "a", "tool": "list.show", "args": {}},
    ]
    snapshot, events = await _run(tmp_path, steps[::-1], _card("list.show", ui_card=draws))
    assert snapshot["status"] == "succeeded"
    kinds = [event.kind for event in events]
    assert ("card.rendered" in kinds) is draws
    assert ("cards" in snapshot) is draws
    if draws:
        order = [(e.kind, e.facts.get("stepId")) for e in events]
        assert order.index(("card.rendered", "a")) < order.index(("step.started", "p"))
        assert PINNED == [{"stepId": "a", "tool": "list.show", "block": {"rows": ["row"]}}]
    else:
        assert PINNED == [{}]


async def test_a_pin_takes_the_last_card_or_the_one_it_names(tmp_path: Path) -> None:
    """The buffer is the run's own: a pin takes from what was drawn before it."""
    show = _card("list.show")
    steps = [
        {"id": "a", "tool": "list.show", "args": {"rows": 1}},
        {"id": "b", "tool": "list.show", "args": {"rows": 2}, "after": ["a"]},
        {"id": "p", "tool": "board.pin", "args": {}},
        {"id": "q", "tool": "board.pin", "args": {"card": "a"}},
    ]
    snapshot, _ = await _run(tmp_path, steps, show)
    assert snapshot["status"] == "succeeded"
    assert sorted(card["stepId"] for card in PINNED) == ["a", "b"]


async def test_what_is_shown_is_bounded_and_the_value_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record's data stays whole for later steps; what is shown says what was cut."""
    monkeypatch.setattr(post_tool, "SHOWN_BYTES_MAX", 2_000)
    snapshot, _ = await _run(
        tmp_path, [{"id": "a", "tool": "list.show", "args": {"rows": 900}}], _card("list.show")
    )
    result = snapshot["result:a"]
    assert len(result["value"]["rows"]) == 900
    assert result["shown"]["rows"][-1] == {"$cut": {"items": 900 - (len(result["shown"]["rows"]) - 1)}}


async def test_lookups_are_kept_and_not_shown(tmp_path: Path) -> None:
    """Later steps find by them; the card, the pin and what is shown of the step leave them out."""

    @tool("list.show", policy_class=PolicyClass.READ, ui_card=True, lookups={"byName", "none"})
    async def draw(_: ToolContext) -> dict[str, Any]:
        return {"rows": ["x"], "byName": {"x": "Row/1"}}

    @tool("row.read", policy_class=PolicyClass.READ)
    async def read(_: ToolContext, row: str) -> str:
        return row

    steps = [
        {"id": "a", "tool": "list.show", "args": {}},
        {"id": "r", "tool": "row.read", "args": {"row": {"$from": "a", "path": "/byName/x"}}},
        {"id": "p", "tool": "board.pin", "args": {}, "after": ["a"]},
    ]
    snapshot, _ = await _run(tmp_path, steps, draw, read)
    step, found = (next(s for s in snapshot["steps"] if s["id"] == name) for name in "ar")
    assert (found["result"], "shown" in found) == ("Row/1", False)
    assert step["result"] == {"rows": ["x"], "byName": {"x": "Row/1"}}
    assert step["shown"] == snapshot["result:a"]["shown"] == {"rows": ["x"]}
    assert PINNED[-1]["block"] == {"rows": ["x"]}


async def test_a_throwing_processor_costs_nothing_and_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run succeeds, its output is unchanged, and a counter is raised."""

    def throws(_self: object, output: ToolOutput, context: PostToolContext) -> ToolOutput:
        raise RuntimeError(context.tool)

    monkeypatch.setattr("condor.core.observers.processors.bounding.OutputBounding.process", throws)
    monkeypatch.setattr(post_tool, "SHOWN_BYTES_MAX", 1)
    snapshot, _ = await _run(tmp_path, [{"id": "a", "tool": "list.show", "args": {}}], _card("list.show"))
    assert snapshot["status"] == "succeeded"
    assert snapshot["result:a"].keys() == {"value", "at"}
    assert snapshot["result:a"]["value"] == {"rows": ["row"]}
    assert snapshot["counts"] == {"post_tool.output-bounding": 1}


def test_a_card_tool_that_does_not_say_so_is_found() -> None:
    """The source's defect: one missing name, three silent failures. Here the lint is an error."""
    assert [(f.level, f.code) for f in lint_tools([_card("x.list.card", ui_card=False)])] == [
        ("error", "card-undeclared")
    ]
    assert not [f for f in lint_tools([_card("x.list.card")]) if f.code == "card-undeclared"]


def test_a_pin_names_an_argument_of_its_own() -> None:
    """A contradiction is refused at registration."""
    with pytest.raises(RegistrationRefused, match="pins names 'block'"):

        @tool("x.pin", policy_class=PolicyClass.READ, pins="block")
        async def broken(_: ToolContext, card: str) -> str:
            return card
