"""A run as one JSON object: what GET /api/runs/{runId} and ``condor show --json`` give.

Pure projection of what is stored, secrets masked; an erased payload leaves its place empty.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from condor.core.frames.masking import is_bare, masked, masked_text
from condor.core.plan.revision import latest_graph
from condor.core.recovery import DEFAULT_LIMITS, GATE_RULES, LIMITS, ledger_from_json
from condor.core.run import TERMINAL, approvers_among
from condor.ports.encoding import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from condor.core.audit import ChainVerdict
    from condor.core.ids import Json
    from condor.core.recovery import Limits
    from condor.ports.store import AuditRow, RunRow, StepRow, StoredRun, SuspensionRow
    from condor.pump.state import RunAsLeft

    #: A run as it is stored, or as the segment left it that stored it.
    Shown: TypeAlias = StoredRun | RunAsLeft
    #: Reads a payload by its name, as it is shown.
    _Reading: TypeAlias = Callable[[Mapping[str, bytes], str], Any]

#: Version of the wire shapes below.
WIRE_VERSION = 1

#: What the names of payloads begin with that a snapshot shows as they are stored, but for secrets.
_SHOWN = ("plan", "graph", "args:", "result:")


def suspension_json(row: SuspensionRow, payloads: Mapping[str, bytes]) -> dict[str, Json]:
    """A suspension: its card, and how it stands."""
    facts = decode(row.facts)
    card = _payload(payloads, f"card:{row.suspend_id}") or {
        "kind": row.reason_code,
        "suspendId": row.suspend_id,
        "runId": row.run_id,
        "stepId": row.step_id,
        "contractHash": row.contract_hash,
        "reasonCode": row.reason_code,
        "origin": row.origin,
        "generation": row.generation,
        "toolName": row.tool,
        "policy": facts["policy"],
    }
    found: dict[str, Json] = {
        "v": WIRE_VERSION,
        **card,
        "status": row.status,
        "openedAt": row.opened_at,
        "requester": facts["requester"],
        "requesterDisplay": facts.get("requesterDisplay", facts["requester"]),
        "answerRoles": facts["answerRoles"],
        "answerers": approvers_among(frozenset(facts["answerRoles"])).to_json(),
        "requesterMayAnswer": facts["requesterMayAnswer"] and not facts["requesterExcluded"],
        "requesterExcluded": facts["requesterExcluded"],
    }
    if facts.get("editors"):
        found["editors"] = facts["editors"]
    if row.status != "pending":
        answer = _payload(payloads, f"answer:{row.suspend_id}") or {}
        found["decidedBy"] = row.decided_by
        found["decidedAt"] = row.decided_at
        found["decidedByDisplay"] = answer.get("by", {}).get("display") or row.decided_by
        if isinstance(answer.get("body"), dict) and answer["body"].get("reason"):
            found["reason"] = masked(answer["body"]["reason"])
        if "edit" in answer:
            found["edit"] = masked(answer["edit"])
    return found


def run_snapshot(stored: Shown, limits: Limits = DEFAULT_LIMITS) -> dict[str, Json]:
    """Everything of a run.

    Args:
        limits: the ceilings that its budget is shown against.
    """
    run, payloads = stored.run, stored.payloads
    requester = decode(run.requester)
    closing = _payload(payloads, "closing") or {}
    suspensions = [suspension_json(row, payloads) for row in stored.suspensions]
    shown = _shown_of(payloads)
    graph = shown(payloads, latest_graph(payloads) or "graph")
    return {
        "v": WIRE_VERSION,
        "runId": run.run_id,
        "sessionId": run.session_id,
        "status": run.status,
        # The last event: a watcher that has this snapshot goes on after it.
        "seq": run.seq,
        "autonomy": run.autonomy,
        "requester": {"id": requester["id"], "display": requester["display"] or requester["id"]},
        "createdAt": run.created_at,
        "updatedAt": run.updated_at,
        "request": request_of(payloads),
        "plan": shown(payloads, "plan"),
        "graph": graph,
        "steps": _steps(stored, graph, shown),
        "suspensions": suspensions,
        "budget": _budget(stored, limits),
        "recovery": _recovery(stored),
        "closing": closing.get("text"),
        "notices": closing.get("notices", []),
        "why": why(stored, suspensions),
    }


def run_line(run: RunRow, payloads: Mapping[str, bytes]) -> dict[str, Json]:
    """A run in a list."""
    requester = decode(run.requester)
    return {
        "v": WIRE_VERSION,
        "runId": run.run_id,
        "sessionId": run.session_id,
        "status": run.status,
        "autonomy": run.autonomy,
        "requester": {"id": requester["id"], "display": requester["display"] or requester["id"]},
        "createdAt": run.created_at,
        "updatedAt": run.updated_at,
        "request": request_of(payloads),
    }


def request_of(payloads: Mapping[str, bytes]) -> str | None:
    """The words that a run was asked in; None for a plan, and where they were erased or are damaged."""
    found = _payload(payloads, "request")
    text = found.get("text") if isinstance(found, dict) else None
    return masked_text(text) if isinstance(text, str) else None


def audit_json(row: AuditRow) -> dict[str, Json]:
    """An audit row: its body's fields, and its place in the chain; a body that is no JSON is shown raw.

    Without seq, prevHash and hash it is what the hash covers, so it gets no member of ours.
    """
    try:
        body = decode(row.body)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        body = {"unreadable": row.body.decode("utf-8", "backslashreplace")}
    place = {"runId": row.run_id, "seq": row.seq, "prevHash": row.prev_hash, "hash": row.hash}
    return {**body, **place}


def verdict_json(verdict: ChainVerdict) -> dict[str, Json]:
    """Whether a run's chain is whole, and where it breaks first."""
    return {
        "runId": verdict.run_id,
        "rows": verdict.rows,
        "firstBadSeq": verdict.first_bad_seq,
        "what": verdict.what,
        "message": verdict.message,
    }


def why(stored: Shown, suspensions: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
    """What the run waits for, which rule gated it, who may answer, until when."""
    waits: list[Json] = []
    for card in suspensions:
        if card["status"] != "pending":
            continue
        waits.append(
            {
                "suspendId": card["suspendId"],
                "stepId": card["stepId"],
                "reasonCode": card["reasonCode"],
                "origin": card["origin"],
                "tool": card["toolName"],
                "ruleId": (card.get("policy") or {}).get("ruleId"),
                "promotions": (card.get("policy") or {}).get("promotions", []),
                "whoMayAnswer": card["answerRoles"],
                "requesterMayAnswer": card["requesterMayAnswer"],
                "until": card.get("expiresAt"),
            }
        )
    return {"status": stored.run.status, "waitsFor": waits}


#: Every ceiling: its name, as it is shown, and its unit.
_CEILINGS = [(limit.name, limit.name.removesuffix("_max"), limit.unit) for limit in LIMITS]
#: What no ceiling has a part in: a ledger that nothing was charged to.
_UNCHARGED = ledger_from_json(None, DEFAULT_LIMITS)


def _budget(stored: Shown, limits: Limits) -> dict[str, Json]:
    """What recovery has spent under each ceiling, and the stop of a breaker that has opened."""
    kept = _payload(stored.payloads, "ledger")
    with contextlib.suppress(ValueError, KeyError, TypeError):
        ledger = _UNCHARGED if kept is None else ledger_from_json(kept, limits)
        used = {**ledger.used(), "wall_time_s_max": stored.run.worked_ms / 1_000}
        found: dict[str, Json] = {
            shown: {"used": used[name], "limit": getattr(limits, name), "unit": unit}
            for name, shown, unit in _CEILINGS
        }
        if ledger.stop is not None:
            found["stop"] = ledger.stop.to_json()
        return found
    return {}


_WHYS = {rule.rule_id: rule.why for rule in GATE_RULES}


def _recovery(stored: Shown) -> list[Json]:
    """Every decision about the plan but "go on", by step and attempt, each with the rule that spoke."""
    found = [_payload(stored.payloads, key) for key in stored.payloads if key.startswith("decision:")]
    kept = [one for one in found if isinstance(one, dict) and {"stepId", "attempt", "rule"} <= one.keys()]
    # A tail that was taken out tells more than the decision to take it.
    tails = {(one["stepId"], one["attempt"]) for one in kept if "skips" in one}
    kept = [
        one
        for one in kept
        if "skips" in one or one["verb"] != "skip-remaining" or (one["stepId"], one["attempt"]) not in tails
    ]
    kept.sort(key=lambda one: (one["stepId"], one["attempt"], "skips" in one))
    return [{**decision, "why": _WHYS.get(decision["rule"], "")} for decision in kept]


def _steps(stored: Shown, graph: Any, shown: _Reading) -> list[Json]:
    """Every step in graph order; without its graph (erased, damaged) what the rows still tell."""
    rows: dict[str, StepRow] = {row.step_id: row for row in stored.steps}
    nodes = graph.get("nodes") if isinstance(graph, dict) else None
    drawn = (
        [node for node in nodes if isinstance(node, dict) and "id" in node] if isinstance(nodes, list) else []
    )
    if not rows.keys() <= {node["id"] for node in drawn}:
        drawn = [{"id": step_id} for step_id in rows]
    # A run that has ended leaves nothing pending, whatever ended it.
    unwritten = "skipped" if stored.run.status in TERMINAL else "pending"
    read = partial(shown, stored.payloads)
    return [_step(node, rows.get(node["id"]), read, unwritten) for node in drawn]


def _step(node: Mapping[str, Any], row: StepRow | None, read: Callable[[str], Any], unwritten: str) -> Json:
    step_id = node["id"]
    found: dict[str, Json] = {
        "id": step_id,
        "kind": node.get("kind"),
        "tool": node.get("tool"),
        "title": node.get("title", ""),
        "after": node.get("after", []),
        "status": row.status if row is not None else unwritten,
        "attempt": row.attempt if row is not None else 1,
    }
    if row is not None and row.code:
        found["code"] = row.code
    since = node.get("since", 1)
    own = str(step_id) if since == 1 else f"{step_id}:{since}"
    if node.get("tried"):
        found["insteadOf"] = node["tried"][0]
        found["fidelity"] = node.get("fidelity")
    called = read(f"args:{own}")
    if called is not None:
        found["args"] = called["args"]
    result = read(f"result:{own}")
    if result is not None:
        found["result"] = result.get("value")
        if "shown" in result:
            found["shown"] = result["shown"]
        if result.get("message"):
            found["message"] = result["message"]
    return found


def _shown_of(payloads: Mapping[str, bytes]) -> _Reading:
    """How the payloads of a run are shown: mostly one look at all of them tells that none holds a secret."""
    texts = [body for key, body in payloads.items() if key.startswith(_SHOWN)]
    return _payload if is_bare(b"".join(texts)) else _masked_payload


def _payload(payloads: Mapping[str, bytes], key: str) -> Any:
    """A payload; None where it was erased or is damaged, as a reader of history can live with both."""
    body = payloads.get(key)
    if body is None:
        return None
    try:
        return decode(body)
    except ValueError:
        return None


def _masked_payload(payloads: Mapping[str, bytes], key: str) -> Any:
    """A payload as it is shown; None as of ``_payload``."""
    found = _payload(payloads, key)
    return found if found is None or is_bare(payloads[key]) else masked(found)
