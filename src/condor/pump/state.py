"""One run in memory, as the store has it, for the length of a segment.

Law: memory follows the store. What a segment has only decided is applied after its unit committed;
what has *happened* (an outcome) is applied at once and committed with the next unit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from condor.core.compiler import graph_from_json
from condor.core.graph import CompiledGraph, Progress
from condor.core.ids import Digest
from condor.core.outcome import StepStatus
from condor.core.plan.revision import latest_graph
from condor.core.recovery import (
    DEFAULT_LIMITS,
    BreakerStop,
    Charge,
    CircuitBreakerLedger,
    ledger_from_json,
)
from condor.core.run import SYSTEM, Principal, RunStatus
from condor.core.suspend import ReasonCode, read_reason_code
from condor.ports.encoding import decode
from condor.ports.store import RunRow, StepRow, StoredRun, SuspensionRow, SuspensionStatus
from condor.pump.staging import LEDGER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from condor.core.graph import Node
    from condor.core.ids import Json, RunId, SessionId, StepId, SuspendId, TenantId
    from condor.core.suspend import SuspendRequest
    from condor.ports.store import Committed, Transition


#: What a run has spent that never needed recovery.
_UNSPENT = CircuitBreakerLedger()
_NO_GRAPH = CompiledGraph(nodes=(), digest=Digest(""))


#: Before there is a plan; no step of it can be set.
_NO_STEPS = Progress(_NO_GRAPH)


class StateUnreadable(Exception):
    """What is stored of a run cannot be worked with; the message says what of it."""


@dataclass(slots=True, kw_only=True)
class RunFace:
    """What a segment knows of its run's row."""

    run_id: RunId
    tenant_id: TenantId
    session_id: SessionId
    status: RunStatus
    epoch: int
    rev: int
    seq: int
    answers: int
    requester: bytes
    autonomy: str
    created_at: str
    updated_at: str
    worked_ms: int
    #: Of a run that is being stopped only the store can say.
    halt: bytes | None = None


@dataclass(slots=True, kw_only=True)
class RunAsLeft:
    """A run as a segment left it, as ``StoredRun`` has it: rows, and values as the bytes that were stored."""

    run: RunFace
    steps: Sequence[StepRow]
    suspensions: Sequence[SuspensionRow]
    payloads: Mapping[str, bytes]


@dataclass(slots=True, kw_only=True)
class RunState:
    """A run while a segment (or an answer) works on it."""

    run_id: RunId
    tenant_id: TenantId
    session_id: SessionId
    status: RunStatus
    epoch: int
    answers: int
    requester: Principal
    #: The same as it is stored.
    requester_stored: bytes
    autonomy: str
    created_at: str
    #: Milliseconds that segments before this one worked on it.
    worked_ms: int = 0
    #: ``{"cause", "by", "stepId"?}``: dispatch stops, what is in flight finishes, the run closes.
    halt: Mapping[str, Any] | None = None
    graph: CompiledGraph | None = None
    #: What recovery has spent; stored as the payload ``ledger`` whenever something is charged.
    ledger: CircuitBreakerLedger = _UNSPENT
    steps: dict[StepId, StepRow] = field(default_factory=dict)
    statuses: Progress = field(default_factory=lambda: _NO_STEPS)
    #: Every suspension of the run, in the order they were opened.
    suspensions: dict[SuspendId, SuspensionRow] = field(default_factory=dict)
    payloads: dict[str, bytes] = field(default_factory=dict)
    #: Of the last unit: its last event, its time, and the work noted with it.
    seq: int = 0
    updated_at: str = ""
    noted_ms: int = 0
    #: Revision of the run after that unit.
    rev: int = 0
    #: It was left here, and nobody has looked since: its next unit holds only at this revision.
    left_at: int | None = None
    #: Nobody else has stored anything of it since it was read or made.
    alone: bool = True
    _results: dict[StepId, Json] = field(default_factory=dict)

    @classmethod
    def from_store(cls, stored: StoredRun | RunAsLeft) -> RunState:
        """The run as it is stored, or as it was left.

        Raises:
            StateUnreadable: what is stored is corrupt, or a run that was compiled has lost its graph.
        """
        try:
            state = cls._read(stored)
            _check(state)
        except Exception as fault:
            why = str(fault) if isinstance(fault, StateUnreadable) else f"{type(fault).__name__}: {fault}"
            raise StateUnreadable(why) from fault
        _take_up_interrupted(state)
        return state

    @classmethod
    def _read(cls, stored: StoredRun | RunAsLeft) -> RunState:
        run = stored.run
        state = cls(
            run_id=run.run_id,
            tenant_id=run.tenant_id,
            session_id=run.session_id,
            status=run.status,
            epoch=run.epoch,
            answers=run.answers,
            requester=Principal.from_json(decode(run.requester)),
            requester_stored=run.requester,
            autonomy=run.autonomy,
            created_at=run.created_at,
            worked_ms=run.worked_ms,
            halt=decode(run.halt) if run.halt is not None else None,
            suspensions={row.suspend_id: row for row in stored.suspensions},
            payloads=dict(stored.payloads),
            seq=run.seq,
            updated_at=run.updated_at,
            noted_ms=run.worked_ms,
            rev=run.rev,
        )
        graph = latest_graph(state.payloads)
        if graph is not None:
            state.adopt_graph(graph_from_json(decode(state.payloads[graph])))
        if LEDGER in state.payloads:
            state.ledger = ledger_from_json(decode(state.payloads[LEDGER]), DEFAULT_LIMITS)
            state.halt = state.halt or _breaker_halt(state.ledger.stop)
        for row in stored.steps:
            state.put_step(row)
        return state

    def adopt_graph(self, graph: CompiledGraph) -> None:
        """Take the compiled graph; every step is pending until a row says otherwise."""
        self.graph = graph
        self.statuses = Progress(graph)

    def revise_graph(self, graph: CompiledGraph) -> None:
        """Take an edited revision; every step stands as it stood."""
        self.graph = graph
        self.statuses.revise(graph)

    def open_breaker(self, stop: BreakerStop) -> None:
        """The run is over as far as recovery is concerned: what is in flight finishes, then it closes."""
        self.ledger = self.ledger.tripped(stop)
        self.halt = self.halt or _breaker_halt(self.ledger.stop)

    def note_overspending(self, charge: Charge) -> None:
        """Something was spent although the breaker is open: the stop says all that is gone."""
        self.ledger = self.ledger.overspent(charge)
        if self.halt is not None and self.halt["cause"] == "breaker":
            self.halt = _breaker_halt(self.ledger.stop)

    def put_step(self, row: StepRow) -> None:
        """Take a step row."""
        self.steps[row.step_id] = row
        self.statuses[row.step_id] = row.status

    def node(self, step_id: StepId) -> Node:
        """A node of the compiled graph."""
        # INVARIANT: steps exist only after a graph was adopted.
        assert self.graph is not None, "no graph yet"
        return self.graph.by_id[step_id]

    def row(self, step_id: StepId) -> StepRow:
        """A step's row, or the one it would have at its first attempt."""
        return self.steps.get(step_id) or StepRow(step_id=step_id, status=StepStatus.PENDING)

    def attempt(self, step_id: StepId) -> int:
        """The attempt that a step is at."""
        row = self.steps.get(step_id)
        return 1 if row is None else row.attempt

    def payload(self, key: str) -> Any:
        """A decoded payload, or None when it is not there (erased, or never written)."""
        body = self.payloads.get(key)
        return None if body is None else decode(body)

    def forget_result(self, step_id: StepId) -> None:
        """Its payload has changed. Results are read from payloads, not kept as the tool returned them."""
        self._results.pop(step_id, None)

    def result(self, step_id: StepId) -> Json:
        """The value a step ended with; None when it has none."""
        if step_id not in self._results:
            stored = self.payload(self.node(step_id).payload("result"))
            self._results[step_id] = stored.get("value") if stored else None
        return self._results[step_id]

    def suspensions_of(self, step_id: StepId) -> Iterator[SuspensionRow]:
        """A step's suspensions, oldest first."""
        return (row for row in self.suspensions.values() if row.step_id == step_id)

    def already_asks(self, request: SuspendRequest) -> bool:
        """Whether this very question is asked already: its card stays as it is."""
        return any(
            row.status == "pending"
            and row.contract_hash == request.contract_hash
            and read_reason_code(row.reason_code) is request.reason
            for row in self.suspensions_of(request.step_id)
        )

    def generation(self, step_id: StepId) -> int:
        """Generation of the step's next suspension: one more than were closed."""
        return 1 + sum(row.status != "pending" for row in self.suspensions_of(step_id))

    def open_suspensions(self) -> list[SuspensionRow]:
        """What can be answered now."""
        return [row for row in self.suspensions.values() if row.status == "pending"]

    def note(self, unit: Transition, committed: Committed) -> None:
        """A unit of this segment is on disk."""
        self.epoch = committed.epoch
        self.alone = self.alone and committed.rev == self.rev + 1
        self.rev, self.left_at = committed.rev, None
        self.seq = committed.last_seq or self.seq
        self.updated_at = unit.at
        if unit.create is not None:
            self.created_at = unit.at
        self.noted_ms = max(self.noted_ms, unit.worked_ms)
        cards = self.suspensions
        for parked in unit.park:
            cards[parked.suspend_id] = parked
        for closed in unit.decide:
            card = cards[closed.suspend_id]
            cards[closed.suspend_id] = closed_card(card, closed.status, closed.decided_by, unit.at)
        for used in unit.consume:
            cards[used] = replace(cards[used], consumed=True)

    def as_left(self) -> RunAsLeft:
        """The run as its last unit left it, for who would else read back what was just written."""
        return RunAsLeft(
            run=RunFace(
                run_id=self.run_id,
                tenant_id=self.tenant_id,
                session_id=self.session_id,
                status=self.status,
                epoch=self.epoch,
                rev=self.rev,
                seq=self.seq,
                answers=self.answers,
                requester=self.requester_stored,
                autonomy=self.autonomy,
                created_at=self.created_at,
                updated_at=self.updated_at,
                worked_ms=self.noted_ms,
            ),
            steps=[*self.steps.values()],
            suspensions=[*self.suspensions.values()],
            payloads=self.payloads,
        )

    def refresh(self, stored: StoredRun) -> None:
        """Take what answers changed since this segment looked; what is in flight here stays.

        An answer changes the step of its card and no other, and a step that has a card is not at work.
        """
        run: RunRow = stored.run
        self.answers = run.answers
        self.seq, self.rev = run.seq, run.rev
        self.updated_at, self.noted_ms = run.updated_at, run.worked_ms
        self.halt = decode(run.halt) if run.halt is not None else _breaker_halt(self.ledger.stop)
        waited = {row.suspend_id for row in self.open_suspensions()}
        self.suspensions = {row.suspend_id: row for row in stored.suspensions}
        self.payloads.update(stored.payloads)
        answered = {
            row.step_id for row in stored.suspensions if row.suspend_id in waited and row.status != "pending"
        }
        for step in stored.steps:
            if step.step_id in answered:
                self.put_step(step)
                self.forget_result(step.step_id)


def closed_card(
    card: SuspensionRow, status: SuspensionStatus, decided_by: str, decided_at: str | None = None
) -> SuspensionRow:
    """The card as whoever closed it left it; a test holds that all else stays. Faster than ``replace``."""
    return SuspensionRow(
        suspend_id=card.suspend_id,
        run_id=card.run_id,
        tenant_id=card.tenant_id,
        step_id=card.step_id,
        generation=card.generation,
        reason_code=card.reason_code,
        origin=card.origin,
        contract_hash=card.contract_hash,
        tool=card.tool,
        opened_at=card.opened_at,
        expires_at=card.expires_at,
        facts=card.facts,
        tier=card.tier,
        requester=card.requester,
        subject=card.subject,
        status=status,
        decided_by=decided_by,
        decided_at=decided_at,
        consumed=card.consumed,
    )


def _breaker_halt(stop: BreakerStop | None) -> Mapping[str, Any] | None:
    """A breaker that has opened halts its run; that it has is a fact of the ledger."""
    if stop is None:
        return None
    return {"cause": "breaker", "by": SYSTEM.to_json(), "stop": stop.to_json()}


def _check(state: RunState) -> None:
    """Refuse what would only break later, in the middle of the work."""
    if state.graph is None:
        if state.status in (RunStatus.EXECUTING, RunStatus.SUSPENDED):
            raise StateUnreadable("its compiled graph is gone")
        return
    known: set[StepId] = set()
    for node in state.graph.nodes:
        sound = node.kind in ("tool", "approval") and isinstance(node.args, dict)
        if not sound or not known.issuperset(node.after):
            raise StateUnreadable("its compiled graph is damaged")
        known.add(node.step_id)
    if len(known) != len(state.graph.nodes) or not known.issuperset(state.steps):
        raise StateUnreadable("its compiled graph does not have its steps")
    if any(row.step_id not in known for row in state.suspensions.values()):
        raise StateUnreadable("a card is about a step that its compiled graph does not have")


def _take_up_interrupted(state: RunState) -> None:
    """Effects that are journalled without an outcome, and not yet asked about, are to be resolved."""
    asked = {row.step_id for row in state.open_suspensions()}
    for step_id, status in state.statuses.items():
        if status in (StepStatus.STARTED, StepStatus.UNKNOWN) and step_id not in asked:
            state.statuses[step_id] = StepStatus.PENDING


def waiting_status(reason: ReasonCode) -> StepStatus:
    """A step that waits; one that waits for a reconciliation stays unknown."""
    return StepStatus.UNKNOWN if reason is ReasonCode.RECONCILE else StepStatus.SUSPENDED


def is_open(status: StepStatus) -> bool:
    """Whether a step still waits for something."""
    return status in (StepStatus.PENDING, StepStatus.STARTED, StepStatus.SUSPENDED, StepStatus.UNKNOWN)
