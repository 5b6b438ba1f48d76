"""A house of everything a card can hold: forms of every hint, hostile text, unknown outcomes, stand-ins."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from condor import (
    ArgSpec,
    CardEvidence,
    HitlTier,
    OpenedPack,
    PolicyClass,
    Principal,
    RequestNotUnderstood,
    ToolContext,
    ToolDescriptor,
    ToolError,
    tool,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

Json = dict[str, Any]

#: Text that a page must show and never run; the browser's suite sends each through every door.
PAYLOADS: list[str] = json.loads((Path(__file__).parent / "payloads.json").read_text(encoding="utf-8"))

#: What would read as another name, did a page draw it as it is.
VEILED = "Ann \u202eollah\u202c\u200b\u2066"
HOSTILE = " ".join(PAYLOADS[:3])
PEOPLE = (
    Principal(id="dr-ada", roles=frozenset({"doctor"}), display="Dr Ada"),
    Principal(id="dr-mallory", roles=frozenset({"doctor"}), display=f"Dr <b>M</b> {PAYLOADS[0]}"),
    Principal(id="dr-veiled", roles=frozenset({"doctor"}), display=f"Dr {VEILED}"),
    Principal(id="auditor", roles=frozenset({"auditor"}), display="The auditor"),
)


def forms() -> list[ToolDescriptor]:
    """A call that knows nothing: its question has a field of every kind."""

    @tool(
        "form.fill",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.LOW,
        title="Fill the form",
        args=(
            ArgSpec(name="colour", label="Colour", required=True, hint={"enum": ["red", "blue"]}),
            ArgSpec(
                name="ward",
                label="Ward",
                required=True,
                hint={"enum": [{"value": f"w{n}", "label": f"Ward {n}"} for n in range(12)]},
            ),
            ArgSpec(
                name="days",
                label="Days",
                type="array",
                required=True,
                hint={"enum": ["Mon", "Tue", "Wed"], "multi": True},
            ),
            ArgSpec(name="names", label="Names", type="array", required=True),
            ArgSpec(name="born", label="Born", type="date", required=True, hint={"max": "today"}),
            ArgSpec(
                name="seen",
                label="Seen",
                type="date-time",
                required=True,
                hint={"min": "today-1y", "max": "today+1y"},
            ),
            ArgSpec(name="count", label="Count", type="integer", required=True, hint={"min": 1, "max": 9}),
            ArgSpec(name="weight", label="Weight", type="decimal", required=True, hint={"min": 0.5}),
            ArgSpec(name="fasting", label="Fasting", type="boolean", required=True, hint={"radio": True}),
            ArgSpec(name="notes", label="Notes", required=True, hint={"textarea": True}),
            ArgSpec(name="more", label="More", type="object", required=True),
            ArgSpec(
                name="patient",
                label="Patient",
                type="reference",
                required=True,
                hint={"lookup": {"tool": "patient.find", "target": "Patient"}},
            ),
        ),
    )
    async def fill(ctx: ToolContext, **args: Any) -> Json:
        return {"filled": args}

    @tool("patient.find", policy_class=PolicyClass.READ, title="Find a patient")
    async def find(ctx: ToolContext, name: str) -> Json:
        return {"patients": [{"reference": "Patient/p-1", "text": f"{name}, 47 y, female, MRN 1"}]}

    return [fill, find]


def hostile() -> list[ToolDescriptor]:
    """Tools whose every answer is hostile."""

    async def shown(ctx: ToolContext, **args: Any) -> CardEvidence:
        return CardEvidence(
            subject={
                "reference": "Patient/x",
                "name": f"Ann {HOSTILE}",
                "age": 3,
                "sex": HOSTILE,
                "mrn": HOSTILE,
                "text": HOSTILE,
            },
            summary=f"Write {HOSTILE}",
            before={"notes": ["kept", HOSTILE], HOSTILE: "old"},
            after={"notes": ["kept", f"new {HOSTILE}"], HOSTILE: HOSTILE},
            alerts=(
                {
                    "id": "x-1",
                    "severity": "info",
                    "summary": "a note",
                    "action": "read",
                    "source": "the book, 2026",
                },
                {
                    "id": "x-2",
                    "severity": "critical",
                    "summary": HOSTILE,
                    "action": HOSTILE,
                    "source": HOSTILE,
                },
                {
                    "id": "x-3",
                    "severity": "warning",
                    "summary": "a warning",
                    "action": "think",
                    "source": "the book, 2026",
                },
            ),
            context=({"label": HOSTILE, "text": HOSTILE},),
        )

    @tool(
        "note.write",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.HIGH,
        title="Write a note",
        ops={"create"},
        preview=shown,
    )
    async def write(ctx: ToolContext, text: str, also: dict | None = None) -> Json:  # type: ignore[type-arg]
        return {"noteId": HOSTILE, "text": text, "also": also}

    async def veiled(ctx: ToolContext, **args: Any) -> CardEvidence:
        return CardEvidence(
            subject={"reference": "Patient/v", "name": VEILED, "age": 3, "sex": VEILED, "mrn": VEILED},
            summary=f"Write for {VEILED}",
            after={"note": VEILED, VEILED: "key"},
            alerts=(
                {
                    "id": "v-1",
                    "severity": "warning",
                    "summary": VEILED,
                    "action": VEILED,
                    "source": VEILED,
                    "evidence": [{"text": VEILED}],
                },
            ),
            context=({"label": VEILED, "text": VEILED},),
        )

    @tool(
        "note.veiled",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.HIGH,
        title="Write a veiled note",
        preview=veiled,
    )
    async def veil(ctx: ToolContext, text: str) -> Json:
        return {"text": text}

    @tool("note.list", policy_class=PolicyClass.READ, title="Notes", ui_card=True)
    async def notes(ctx: ToolContext, text: str) -> Json:
        return {"title": text, "rows": [{"note": text, HOSTILE: text}], text: text}

    @tool("note.break", policy_class=PolicyClass.READ, title="Break")
    async def broken(ctx: ToolContext, text: str) -> Json:
        raise ToolError(text, effect="none", code="broken")

    return [write, veil, notes, broken]


def failing() -> list[ToolDescriptor]:
    """What is not known, what has a stand-in, and what takes no time."""

    @tool("order.send", policy_class=PolicyClass.COMMS, title="Send the order", noun="the order")
    async def send(ctx: ToolContext, drug: str) -> Json:
        raise ConnectionError("the line broke")

    @tool("lab.read", policy_class=PolicyClass.READ, title="Read the laboratory", alias_group="lab")
    async def lab(ctx: ToolContext, patient: str) -> Json:
        raise ToolError("the laboratory does not answer", effect="none", code="lab_down")

    @tool(
        "lab.archive",
        policy_class=PolicyClass.READ,
        title="Read the archive",
        alias_group="lab",
        alias_fidelity="degraded",
    )
    async def archive(ctx: ToolContext, patient: str) -> Json:
        return {"potassium": 4.1}

    @tool("step.take", policy_class=PolicyClass.READ, title="Take a step")
    async def take(ctx: ToolContext, number: int) -> int:
        return number

    return [send, lab, archive, take]


class Words:
    """A planner that writes a note of whatever it is told."""

    async def plan(self, request: Any) -> object:
        """A note, with a title in the words of a model."""
        if request.text == "nonsense":
            raise RequestNotUnderstood("this is not understood")
        return {
            "steps": [
                {"id": "l", "tool": "note.list", "title": request.text, "args": {"text": request.text}},
                {"id": "b", "tool": "note.break", "args": {"text": request.text}},
                {
                    "id": "w",
                    "tool": "note.write",
                    "title": f"As you said: {request.text}",
                    "args": {"text": request.text, "also": {request.text[:60]: [request.text]}},
                    "after": ["l"],
                },
            ]
        }


class OddPack:
    """The house as a pack."""

    name = "odd"
    has_demo = False

    @asynccontextmanager
    async def open(self, _: object) -> AsyncIterator[Any]:
        """Its tools and people."""
        yield OpenedPack(tools=[*forms(), *hostile(), *failing()], principals=PEOPLE, planner=Words())
