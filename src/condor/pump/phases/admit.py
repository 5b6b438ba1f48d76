"""Admit: a request or a plan becomes a created run.

Law: a given plan is parsed and compiled before anything is stored: bad input changes nothing.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from condor.core.compiler import compile_plan
from condor.core.ids import DEFAULT_TENANT, RunId, SessionId
from condor.core.plan import parse_plan
from condor.core.run import EventKind, Principal, RunStatus, check_transition
from condor.core.values import dataclass
from condor.ports.encoding import encode
from condor.ports.store import NewRun, RequestClaim
from condor.pump.phases.plan import stage_plan
from condor.pump.segment import Segment, entry
from condor.pump.state import RunState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.graph import CompiledGraph
    from condor.core.ids import Json
    from condor.ports.model import QuotedText
    from condor.pump.ports import PumpPorts


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRun:
    """What a person or program asks for, checked at the edge: exactly one of request and plan."""

    request: str | None
    plan: Mapping[str, object] | None
    principal: Principal
    #: Texts from elsewhere that it is about; whatever is planned beside them is untrusted.
    quoted: tuple[QuotedText, ...] = ()
    #: What message processors found in the request; words of closed sets and numbers.
    findings: Mapping[str, Json] = field(default_factory=dict)
    autonomy: str
    session_id: SessionId | None = None
    #: Made under this key of the caller's; a key that is taken is a conflict.
    claim: RequestClaim | None = None


async def admit(start: StartRun, ports: PumpPorts) -> Segment:
    """Store the run; its segment is ready to be driven.

    Raises:
        PlanRefused: the given plan; nothing is stored.
        Conflict: the key is taken; nothing is stored.
    """
    graph: CompiledGraph | None = None
    if start.plan is not None:
        graph = compile_plan(
            parse_plan(start.plan),
            ports.toolbox.known(),
            untrusted=bool(start.quoted),
            cards=ports.toolbox.cards(),
        )
    run_id = RunId(ports.clock.new_id("run"))
    session_id = start.session_id or SessionId(ports.clock.new_id("ses"))
    check_transition(RunStatus.CREATED, RunStatus.PLANNING, "admitted")
    requester = encode(start.principal.to_json())
    state = RunState(
        run_id=run_id,
        tenant_id=DEFAULT_TENANT,
        session_id=session_id,
        status=RunStatus.PLANNING,
        epoch=1,
        answers=0,
        requester=start.principal,
        requester_stored=requester,
        autonomy=start.autonomy,
        created_at=ports.at(),
    )
    if graph is not None:
        check_transition(RunStatus.PLANNING, RunStatus.EXECUTING, "planned")
        state.status = RunStatus.EXECUTING
    create = NewRun(
        session_id=session_id,
        status=state.status,
        requester=requester,
        autonomy=start.autonomy,
        claim=start.claim,
    )
    segment = Segment(state, ports, create=create)
    segment.event(
        EventKind.RUN_STARTED,
        sessionId=session_id,
        autonomy=start.autonomy,
        requester=start.principal.id,
        request="request" if start.request is not None else None,
    )
    segment.audit(entry(segment, "run-started"))
    if start.request is not None:
        segment.payload("request", {"text": start.request, **_found(start), **_quoted(start)})
    if graph is not None:
        state.adopt_graph(graph)
        stage_plan(segment, start.plan, graph)
    await segment.commit(hand_over=ports.hands_over)
    return segment


def _found(start: StartRun) -> dict[str, Json]:
    return {"findings": start.findings} if start.findings else {}


def _quoted(start: StartRun) -> dict[str, Json]:
    """As stored beside the request; nothing where nothing was quoted."""
    if not start.quoted:
        return {}
    return {"quoted": [{"source": one.source, "text": one.text} for one in start.quoted]}
