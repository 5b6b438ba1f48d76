"""What a run can prove at its end, step by step, from its rows, cards and payloads."""

from __future__ import annotations

import contextlib
import datetime
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from condor.core.observers import ClaimEvidence, StepEvidence, ended, unended
from condor.core.outcome import FULFILLED, SETTLED, StepStatus
from condor.core.recovery.limits import BY_NAME, amount_words
from condor.core.recovery.substitution import REFUSAL_WORDS
from condor.core.run import Principal
from condor.core.suspend import Origin, ReasonCode, read_reason_code
from condor.pump.call import answer_body, call_of, changes_of, decided_by
from condor.pump.staging import decision_payload
from condor.pump.taking_up import ended_its_process

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from condor.core.graph import Node
    from condor.ports.store import StepRow, SuspensionRow
    from condor.pump.segment import Segment

#: Longest sentence of a tool about its success, in characters: a paragraph.
_SENTENCE_CHARS_MAX = 2_000
#: An argument that names what a call is about is short; a longer one is prose.
_ENTITY_CHARS_MAX = 60
#: Seconds for which what was read is told without its time: a person is still at the card by then.
_FRESH_S = 15 * 60
#: Names of what one step is about, at most.
_ENTITIES_MAX = 24


def evidence_of(segment: Segment) -> ClaimEvidence:
    """The run's own evidence, step by step in graph order."""
    state = segment.state
    nodes = state.graph.nodes if state.graph is not None else ()
    steps = [_step_evidence(segment, node) for node in nodes]
    # Entities cost a look at every argument; only the claim guard reads them.
    if segment.ports.writer is not None or any(step.reported for step in steps):
        steps = [replace(step, **_about(segment, node)) for step, node in zip(steps, nodes, strict=True)]
    return ClaimEvidence(steps=tuple(steps), halted=_halted(segment))


def _halted(segment: Segment) -> str:
    halt = segment.state.halt
    if halt is None:
        return ""
    match halt["cause"]:
        case "stopped":
            reason = (segment.state.payload("halt") or {}).get("reason")
            why = f" ({unended(reason)})" if reason else ""
            return f"The run was stopped by {Principal.from_json(halt['by']).name}{why}."
        case "breaker":
            return _why_the_breaker_opened(halt["stop"])
        case "expired":
            return "The run ended because an approval was not given in time."
        case "idle":
            return f"The run ended because it was parked for {halt['idleS']:g} s without a card to answer."
        case _:
            return ""


def _why_the_breaker_opened(stop: Mapping[str, Any]) -> str:
    if stop["limit"] not in BY_NAME:
        return "The run was stopped: the second look at an edit of its plan said to stop."
    used, most = amount_words(stop["used"]), amount_words(stop["most"])
    return (
        f"The run was stopped by its circuit breaker: {used} of at most {most} {stop['unit']} were used up."
    )


def _step_evidence(segment: Segment, node: Node) -> StepEvidence:
    state = segment.state
    row: StepRow = state.row(node.step_id)
    cards = list(state.suspensions_of(node.step_id))
    denial = next((card for card in cards if card.status == "denied"), None) if cards else None
    result = state.payload(node.payload("result")) or {}
    tool = segment.ports.toolbox.find(node.tool) if node.kind == "tool" else None
    status = state.statuses[node.step_id]
    effectful = tool is None or segment.ports.toolbox.is_effectful(tool)
    return StepEvidence(
        step_id=node.step_id,
        tool=node.tool,
        noun=_noun(segment, node),
        effectful=effectful,
        status=status if status in SETTLED else _open_as(status),
        code=row.code,
        message=str(result.get("message", "")),
        as_of="" if effectful else _as_of(segment, result),
        **(_sentence(segment, node, result.get("value")) if status in FULFILLED else {}),
        no_stand_in=_no_stand_in(segment, node, row, cards) if status is StepStatus.FAILED else "",
        declined_by=decided_by(state, denial).name if denial is not None else "",
        reason=str(answer_body(state, denial).get("reason") or "") if denial is not None else "",
        attempted=row.key is not None,
        gated=bool(cards),
        waiting=bool(cards) and cards[-1].status in ("pending", "withdrawn"),
        **_stood_in(segment, node),
        **({**_approved(segment, cards), **_answered(segment, cards)} if cards else {}),
    )


def _as_of(segment: Segment, result: Mapping[str, Any]) -> str:
    """When something was read that the run has waited over since; empty where it is fresh."""
    if "at" not in result:
        return ""
    read_at = datetime.datetime.fromisoformat(str(result["at"]))
    if (segment.ports.clock.now() - read_at).total_seconds() < _FRESH_S:
        return ""
    return f"on {read_at:%Y-%m-%d} at {read_at:%H:%M} UTC"


def _approved(segment: Segment, cards: list[SuspensionRow]) -> dict[str, Any]:
    """What people wrote beside the approval, and who edited the call before it."""
    state = segment.state
    granted = next((card for card in reversed(cards) if card.status == "approved"), None)
    if granted is None:
        return {}
    edited = dict.fromkeys(decided_by(state, card).name for card in cards if changes_of(state, card))
    found: dict[str, Any] = {"edited_by": tuple(edited)}
    if reason := str(answer_body(state, granted).get("reason") or "").strip():
        found |= {"approved_by": decided_by(state, granted).name, "approved_why": reason}
    return found


def _answered(segment: Segment, cards: list[SuspensionRow]) -> dict[str, Any]:
    """Who else answered questions about the step, and who vouched for an effect that nobody saw end."""
    state = segment.state
    found: dict[str, Any] = {}
    others: dict[str, None] = {}
    for card in cards:
        if card.status != "answered":
            continue
        by, body = decided_by(state, card), answer_body(state, card)
        if read_reason_code(card.reason_code) is ReasonCode.CLARIFICATION and by.id != state.requester.id:
            others[by.name] = None
        if body.get("happened") is True:
            found |= {"vouched_by": by.name, "vouched_why": str(body.get("reason") or "")}
    return {**found, "answered_by": tuple(others)}


def _stood_in(segment: Segment, node: Node) -> dict[str, Any]:
    """For what the step's tool stands in, and why, as texts say it."""
    if not node.instead_of:
        return {}
    first = segment.state.payload(replace(node, since=1).payload("result")) or {}
    return {
        "instead_of": _noun(segment, replace(node, tool=node.instead_of)),
        "instead_why": str(first.get("message", "")).rstrip(". "),
        "stand_in": _noun(segment, node),
    }


def _no_stand_in(segment: Segment, node: Node, row: StepRow, cards: list[SuspensionRow]) -> str:
    """Why no other tool did what a step failed to do: a person said no, or none may."""
    state = segment.state
    asked = next((card for card in reversed(cards) if card.origin == Origin.PLAN_MUTATION), None)
    if asked is not None and asked.status == "denied":
        reason = str(answer_body(state, asked).get("reason") or "").strip()
        why = f": {reason}" if reason else ""
        other = _noun(segment, replace(node, tool=asked.tool))
        return ended(f"{decided_by(state, asked).name} did not let {other} stand in for it{why}")
    kept = state.payload(decision_payload(node.step_id, row.attempt)) or {}
    whys = dict.fromkeys(
        REFUSAL_WORDS[one["because"]].format(_noun(segment, replace(node, tool=one["tool"])))
        for one in kept.get("refused", ())
    )
    return ended(f"No other tool could stand in for it: {'; '.join(whys)}") if whys else ""


def _noun(segment: Segment, node: Node) -> str:
    """What the effect is called: the descriptor's words, never the plan's, which a model may have written."""
    if node.kind == "approval":
        return f"the approval “{node.title}”"
    tool = segment.ports.toolbox.find(node.tool)
    if tool is None:
        return node.tool
    return tool.noun or f"“{tool.title or tool.name}”"


def _open_as(status: StepStatus) -> StepStatus:
    return StepStatus.UNKNOWN if status is StepStatus.UNKNOWN else StepStatus.SKIPPED


def _sentence(segment: Segment, node: Node, value: Any) -> dict[str, Any]:
    """The tool's own sentence, or a plain one where it has none or throws."""
    state = segment.state
    if node.kind == "approval":
        return {"sentence": ended(f"Approved: “{node.title}”")}
    tool = segment.ports.toolbox.find(node.tool)
    if tool is None:
        return {"sentence": f"{node.tool}: done."}
    if tool.report is not None and not ended_its_process(state):
        called = state.payload(node.payload("args")) or {}
        with contextlib.suppress(BaseException):  # a hook of a tool author cannot cost the run its closing
            said = tool.report(called.get("args", {}), value)
            if isinstance(said, str) and said.strip():
                own = said[:_SENTENCE_CHARS_MAX].encode("utf-8", "replace").decode()
                return {"sentence": own, "reported": True}
    return {"sentence": f"{tool.title or tool.name}: done."}


# -- what a step is about, for the claim guard -----------------------------------------------


def _about(segment: Segment, node: Node) -> dict[str, Any]:
    """Its op and its entities: from the call as it was shown or run, else as it is planned."""
    tool = segment.ports.toolbox.find(node.tool) if node.kind == "tool" else None
    if tool is None:
        return {}
    called = segment.state.payload(node.payload("args"))
    args = called["args"] if called else call_of(segment.state, segment.ports, node, tool).args
    words = [*_texts(args), *_subjects(segment, node)]
    only = next(iter(tool.ops)) if len(tool.ops) == 1 else ""
    op = only if tool.op_arg is None else str(args.get(tool.op_arg, ""))
    return {"op": op, "entities": tuple(dict.fromkeys(words))[:_ENTITIES_MAX]}


def _texts(value: Any) -> Iterator[str]:
    """Short texts anywhere in a value."""
    if isinstance(value, str):
        if 1 < len(value) <= _ENTITY_CHARS_MAX:
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _subjects(segment: Segment, node: Node) -> Iterator[str]:
    """Whom its cards showed."""
    for row in segment.state.suspensions_of(node.step_id):
        card = segment.state.payload(f"card:{row.suspend_id}") or {}
        yield from _texts((card.get("evidence") or {}).get("subject") or {})
