"""What an approval is bound to, and the identity that makes one wait one card.

Law 1: identity = (run, step, contract hash, reason code, generation). One identity gives one card
on any path and after any restart.
Law 2: the contract hash covers what would run: tool, descriptor, op, resolved input, class, tier and
the versions of the write targets that were shown. Change a byte and it is another contract.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.ids import Digest, Json, SuspendId, digest_of, short_token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.suspend.reason import ReasonCode


def tool_contract(
    *,
    tool: str,
    descriptor: Digest,
    op: object,
    resolved_input: Mapping[str, Json],
    policy_class: object,
    effective_tier: object,
    versions: Mapping[str, str],
) -> Digest:
    """The contract of one tool call: what a person approves."""
    return digest_of(
        {
            "tool": tool,
            "descriptor": descriptor,
            "op": str.__str__(op) if isinstance(op, str) else None,  # the input holds what it is
            "input": resolved_input,
            "policyClass": _word(policy_class),
            "effectiveTier": _word(effective_tier),
            "versions": dict(versions),
        }
    )


def _word(value: object) -> str | None:
    """A class or tier as plain text; of what is neither, its type, which is the same after a restart."""
    if value is None:
        return None
    return str.__str__(value) if isinstance(value, str) else type(value).__name__


def approval_step_contract(*, step_id: str, title: str, body: str) -> Digest:
    """The contract of a planned approval: the step itself. It never satisfies the tool policy."""
    return digest_of({"approval": step_id, "title": title, "body": body})


def plan_mutation_contract(
    *, verb: str, coordinate: int, from_tool: str, to_tool: str, graph_revision: int, call: Digest
) -> Digest:
    """The contract of one edit of the compiled graph. It never satisfies the tool policy.

    Args:
        call: of what the other tool would be called with, as the card shows it.
    """
    return digest_of(
        {
            "planMutation": verb,
            "coordinate": coordinate,
            "fromTool": from_tool,
            "toTool": to_tool,
            "graphRevision": graph_revision,
            "call": call,
        }
    )


def suspend_id(
    *, run_id: str, step_id: str, contract_hash: str, reason: ReasonCode, generation: int
) -> SuspendId:
    """``sus_`` and 26 characters, opaque: the digest of the identity."""
    return SuspendId(
        "sus_"
        + short_token(
            {
                "run": run_id,
                "step": step_id,
                "contract": contract_hash,
                "reason": reason.value,
                "generation": generation,
            }
        )
    )


def idempotency_key(*, run_id: str, step_id: str, tool: str, resolved_input: Mapping[str, Json]) -> str:
    """The key of one effect: the same over retries, re-asks and restarts; versions are not in it."""
    return "idem_" + short_token({"run": run_id, "step": step_id, "tool": tool, "input": resolved_input})
