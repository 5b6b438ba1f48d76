"""A refund that waits for a second person: `python examples/refund.py`.

The tool says what it is: a record write at a high tier, approved by a manager and never by the one who asked.
The idempotency key makes it happen once, over retries and crashes.
"""

import asyncio
import tempfile
from typing import Any

from condor import CardEvidence, Condor, HitlTier, PolicyClass, Principal, ToolContext, tool

ORDERS: dict[str, dict[str, Any]] = {"A-7": {"customer": "Mia Hall", "paid": 120.0, "refunded": 0.0}}
PAYMENTS: dict[str, str] = {}  # the payment provider: idempotency key → payment
SAM = Principal(id="sam", roles=frozenset({"support"}), display="Sam")
LEE = Principal(id="lee", roles=frozenset({"manager"}), display="Lee")


async def show(ctx: ToolContext, order: str, amount: float) -> CardEvidence:
    """What the card must show: read now, never told by a model."""
    now = ORDERS[order]
    words = f"Refund {amount:.2f} to {now['customer']}"
    return CardEvidence(summary=words, before=now, after={**now, "refunded": amount})


@tool(
    "payment.refund",
    title="Refund a payment",
    policy_class=PolicyClass.MUTATE,
    hitl_tier=HitlTier.HIGH,
    roles={"support"},
    approver_roles={"manager"},
    requester_excluded=True,
    idempotent=True,
    preview=show,
    report=lambda args, value: f"Refunded {args['amount']:.2f} on order {args['order']}: {value}.",
)
async def refund(ctx: ToolContext, order: str, amount: float) -> str:
    """Pay back part of an order."""
    if ctx.idempotency_key not in PAYMENTS:
        ORDERS[order]["refunded"] = amount
        PAYMENTS[ctx.idempotency_key] = f"payment {len(PAYMENTS) + 1}"
    return PAYMENTS[ctx.idempotency_key]


async def main() -> None:
    plan = {"steps": [{"id": "refund", "tool": "payment.refund", "args": {"order": "A-7", "amount": 45.0}}]}
    async with Condor(tools=[refund], home=tempfile.mkdtemp()) as condor:
        run = await condor.start(plan=plan, principal=SAM, autonomy="autonomous")
        parked: Any = await condor.wait(run.id)
        (card,) = parked["suspensions"]
        print(f"{card['headline']}: {card['evidence']['summary']} ({card['policy']['ruleId']})")
        await condor.resume(run.id, card["suspendId"], {"approved": True}, principal=LEE)
        print((await condor.wait(run.id))["closing"])
        print("audit:", [verdict.message async for verdict in condor.verify()])


if __name__ == "__main__":
    asyncio.run(main())
