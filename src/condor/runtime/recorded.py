"""Recorded calls: every verdict that a home's audit holds, with the arguments that it was about.

Law: the audit says what was decided, the payloads say of what. A payload that was erased leaves the facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from condor.core.suspend import Origin
from condor.ports.encoding import decode
from condor.ports.store import AuditFilter
from condor.tools.replay_files import RecordedCall

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from condor.ports.store import AuditRow, Store, StoredRun

#: Rows and runs read at once.
_PAGE: Final = 1_000
_READ_RULE: Final = "read.allow"


async def recorded_calls(store: Store, run_id: str | None = None) -> AsyncIterator[RecordedCall]:
    """Every call that the policy has judged, run by run.

    Args:
        run_id: only this run's.
    """
    rows: list[AuditRow] = []
    after = ("", 0)
    while page := await store.audit(AuditFilter(run_id=run_id), limit=_PAGE, after=after):
        for row in page:
            if rows and rows[-1].run_id != row.run_id:
                for call in await _of_run(store, rows):
                    yield call
                rows = []
            rows.append(row)
        after = (page[-1].run_id, page[-1].seq)
    if rows:
        for call in await _of_run(store, rows):
            yield call


async def _of_run(store: Store, rows: list[AuditRow]) -> list[RecordedCall]:
    stored = await store.load(rows[0].run_id)
    return [] if stored is None else list(_calls(stored, rows))


def _calls(stored: StoredRun, rows: list[AuditRow]) -> Iterator[RecordedCall]:
    answer_roles = {
        row.suspend_id: frozenset(decode(row.facts).get("answerRoles", ())) for row in stored.suspensions
    }
    for row in rows:
        told: dict[str, Any] = decode(row.body)
        decision = _decision(told)
        if decision is None:
            continue
        card = told.get("suspendId")
        yield RecordedCall(
            tool=told["tool"],
            op=told.get("op"),
            args=_args(stored.payloads, told),
            autonomy=stored.run.autonomy,
            decision=decision,
            rule_id=told["ruleId"],
            policy_class=told.get("policyClass"),
            hitl_tier=told.get("hitlTier"),
            effective_tier=told.get("effectiveTier"),
            promotions=tuple(told.get("promotions") or ()),
            approvers=answer_roles.get(card) if card is not None else None,
            run_id=stored.run.run_id,
            step_id=told.get("stepId") or "",
        )


def _decision(told: Mapping[str, Any]) -> str | None:
    """The policy's decision that a row holds; None for a row that holds none."""
    if not told.get("tool") or not told.get("ruleId"):
        return None
    match told["decision"]:
        case "suspended" if told.get("origin") == Origin.TOOL_POLICY:
            return "require-approval"
        case "allowed":
            return "allow"
        case "executed" if told["ruleId"] == _READ_RULE:
            return "allow"
        case _:
            return None


def _args(payloads: Mapping[str, bytes], told: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The arguments as they were shown or run."""
    if told["decision"] == "suspended":
        card = _body(payloads, f"card:{told.get('suspendId')}")
        found = card.get("toolInput")
        return found if isinstance(found, Mapping) else None
    name, contract = f"args:{told.get('stepId')}", told.get("contractHash")
    found = _matching(payloads, name, contract)
    if found is None:  # another tool took the step's place, and has arguments of its own
        later = (_matching(payloads, key, contract) for key in payloads if key.startswith(f"{name}:"))
        found = next((args for args in later if args is not None), None)
    return found


def _matching(payloads: Mapping[str, bytes], key: str, contract: object) -> Mapping[str, Any] | None:
    """The arguments of one payload, if they are those of this contract."""
    body = _body(payloads, key)
    args = body.get("args")
    return args if isinstance(args, Mapping) and contract in (None, body.get("contractHash")) else None


def _body(payloads: Mapping[str, bytes], key: str) -> Mapping[str, Any]:
    stored = payloads.get(key)
    body = decode(stored) if stored is not None else None
    return body if isinstance(body, Mapping) else {}


__all__ = ["recorded_calls"]
