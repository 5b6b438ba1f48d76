"""A tool pack without a hospital, found by its entry point like any other: a shop with refunds.

It is light, so that a test can start many processes; its world is files in its folder of the home.
"""

from __future__ import annotations

import asyncio
import json
import resource
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from condor import (
    ArgSpec,
    CardEvidence,
    HitlTier,
    InputField,
    NeedInput,
    OpenedPack,
    PackSetup,
    PolicyClass,
    Principal,
    RequestNotUnderstood,
    ToolContext,
    ToolDescriptor,
    ToolError,
    tool,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

PEOPLE = (
    Principal(id="mia", roles=frozenset({"manager"}), display="Mia"),
    Principal(id="max", roles=frozenset({"manager"}), display="Max"),
    Principal(id="cleo", roles=frozenset({"clerk", "manager-trainee"}), display="Cleo"),
    Principal(id="ada", roles=frozenset({"auditor"}), display="Ada"),
)
#: What a stranger may write into a record.
NASTY = "a\u202eb\u200bc\x1b[31m[bold red]d[/]"


class ShopPlanner:
    """Knows one sentence."""

    async def plan(self, request: Any) -> Mapping[str, Any]:
        """``refund ORDER`` and nothing else."""
        verb, _, order = request.text.partition(" ")
        if verb != "refund" or not order:
            raise RequestNotUnderstood("I can refund an order: refund ORDER")
        return {
            "steps": [
                {"id": "s1", "tool": "shop.lookup", "args": {"order": order}},
                {
                    "id": "s2",
                    "tool": "shop.refund",
                    "args": {"order": {"$from": "s1", "path": "/order"}, "cents": 1200},
                    "after": ["s1"],
                },
            ]
        }


class ShopPack:
    """A shop."""

    name = "shop"
    has_demo = False

    @asynccontextmanager
    async def open(self, setup: PackSetup) -> AsyncIterator[OpenedPack]:
        """Open the shop's ledger, a file."""
        ledger = setup.home / "shop" / "ledger.jsonl"
        if not setup.read_only:
            ledger.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield OpenedPack(tools=_tools(ledger), planner=ShopPlanner(), principals=PEOPLE)


def _write(ledger: Path, entry: Mapping[str, Any]) -> None:
    with ledger.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def _tools(ledger: Path) -> tuple[ToolDescriptor, ...]:
    @tool("shop.lookup", policy_class=PolicyClass.READ)
    async def lookup(_ctx: ToolContext, order: str) -> dict[str, str]:
        """Find an order."""
        return {"order": order}

    async def preview(_ctx: ToolContext, order: str, cents: int) -> CardEvidence:
        return CardEvidence(
            subject={"reference": f"Order/{order}", "text": f"order {order} of {NASTY}"},
            summary=f"{cents / 100:.2f} EUR back for order {order}",
            before={"refunds": ["none yet"], "state": "paid"},
            after={"refunds": ["none yet", f"{cents} cents"], "state": "refunded"},
            alerts=(
                {"id": "i", "severity": "info", "summary": "a regular customer", "source": "crm"},
                {
                    "id": "c",
                    "severity": "critical",
                    "summary": f"chargeback open {NASTY}",
                    "action": "call the bank",
                    "source": "bank feed",
                },
            ),
            context=({"label": "Refunds this year", "text": "0"},),
        )

    @tool(
        "shop.refund",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.HIGH,
        title="Refund an order",
        ops={"create"},
        roles={"manager", "clerk"},
        approver_roles={"manager"},
        idempotent=True,
        editable={"cents"},
        noun="the refund",
        preview=preview,
        report=lambda args, _value: f"Refunded {args['cents']} cents.",
    )
    async def refund(ctx: ToolContext, order: str, cents: int) -> dict[str, Any]:
        """Pay money back."""
        _write(
            ledger, {"order": order, "cents": cents, "by": ctx.approved_by.id if ctx.approved_by else None}
        )
        return {"order": order, "cents": cents}

    @tool(
        "shop.post",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.LOW,
        title="Post a parcel",
        ops={"create"},
        noun="the parcel",
    )
    async def post(_ctx: ToolContext, order: str) -> None:
        """Post a parcel; the carrier's answer is always lost."""
        _write(ledger, {"posted": order})
        raise ToolError("the carrier did not answer")

    @tool("shop.survey", policy_class=PolicyClass.READ, title="Ask about a parcel")
    async def survey(ctx: ToolContext) -> Any:
        """Ask for one of everything."""
        if ctx.answers:
            return dict(ctx.answers)
        return NeedInput(fields=_FIELDS, message=f"tell me about it {NASTY}")

    @tool("shop.slow", policy_class=PolicyClass.READ)
    async def slow(_ctx: ToolContext, seconds: float) -> str:
        """Take a while."""
        (ledger.parent / "slow").touch()
        await asyncio.sleep(seconds)
        return "slept"

    @tool("shop.fill", policy_class=PolicyClass.READ)
    async def fill(_ctx: ToolContext) -> str:
        """Fill the disk: from now on no file may grow."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
        return "full"

    @tool("shop.lax", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, args=[ArgSpec(name="x")])
    async def lax(_ctx: ToolContext, x: str = "") -> str:
        """Carelessly described."""
        return x

    return lookup, refund, post, survey, slow, fill, lax


_FIELDS = (
    InputField(name="carrier", label="Carrier", type="code", hint={"enum": ["dhl", "ups"]}),
    InputField(name="marks", label="Marks", type="array", hint={"enum": ["fragile", "cold"], "multi": True}),
    InputField(name="day", label="Day", type="date", hint={"min": "2026-01-01", "max": "2026-12-31"}),
    InputField(name="weight", label="Weight", type="decimal", hint={"min": 0.5, "max": 30}),
    InputField(name="count", label="Count", type="integer", hint={"min": 1, "max": 9}),
    InputField(name="insured", label="Insured", type="boolean"),
    InputField(name="note", label="Note", hint={"textarea": True}),
)

PACK = ShopPack()
