"""The model ports: a request becomes plan JSON or an honest refusal; edits of a plan get a second look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping, Sequence

    from condor.core.ids import Json
    from condor.core.plan.repair import PlanFault
    from condor.core.policy import ToolDescriptor
    from condor.core.recovery import GateVerb, PlanMutationEvidence
    from condor.core.run import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedText:
    """A text from elsewhere (a letter, a note of a record) that a request is about: data, never an order."""

    #: Where it is from, as whoever hands it in calls it.
    source: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningRequest:
    """What a planner is told."""

    #: As the operator typed it.
    text: str
    #: What it is about. A run with any has an untrusted plan, whoever makes it.
    quoted: Sequence[QuotedText] = ()
    principal: Principal
    #: Every tool of the process; the role check is the leaf's, so that a refusal is said, not hidden.
    tools: Sequence[ToolDescriptor]
    #: The day of the record (the demo's is fixed), for relative dates.
    today: datetime.date


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a planner that costs something says: a candidate or a refusal, and what asking it cost."""

    #: Plan JSON as in the public format, or whatever came instead; ``parse_plan`` reads it.
    plan: object = None
    #: Why it has no plan, as a ``RequestNotUnderstood`` would say it; empty where it has one.
    refusal: str = ""
    tokens: int = 0
    cost_usd: float = 0


class Planner(Protocol):
    """Anything that plans: a playbook, a model."""

    async def plan(self, request: PlanningRequest) -> object:
        """Plan JSON as in the public format, or a ``Proposal``; ``parse_plan`` reads it.

        Raises:
            RequestNotUnderstood: no plan; the message says what the planner can do. Never a guess.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRequest:
    """What a planner is told about a plan of its own that cannot be run."""

    #: What it was asked.
    asked: PlanningRequest
    #: The plan as it gave it.
    candidate: object
    fault: PlanFault


@runtime_checkable
class RepairingPlanner(Planner, Protocol):
    """A planner that can mend a plan of its own; it is asked once, before anything is compiled."""

    async def repair(self, request: RepairRequest) -> object:
        """Another candidate, as ``plan`` gives it.

        Raises:
            RequestNotUnderstood: it has none.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanMutationQuestion:
    """An edit of the plan that a rule alone does not settle: no text of a conversation, no record data."""

    rule_id: str
    why: str
    #: What the rule says; an answer can only be stricter.
    verb: GateVerb
    evidence: PlanMutationEvidence
    from_tool: str
    to_tool: str
    fidelity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What a confirmer says, and what asking it cost."""

    #: A word of ``GateVerb``; the rule's own agrees, a looser one counts as the rule's.
    verb: str
    tokens: int = 0
    cost_usd: float = 0


class Confirmer(Protocol):
    """A second model, apart from the planner's. It may only tighten; a model is never a control."""

    async def confirm(self, question: PlanMutationQuestion) -> Confirmation:
        """Agree, or choose something stricter; what it raises, or takes too long over, asks a person."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRequest:
    """Arguments of one call that cannot be used, and what is known of it."""

    tool: ToolDescriptor
    #: As the plan writes them, references unresolved.
    planned: Mapping[str, Json]
    #: As they were resolved; what found nothing is left out.
    resolved: Mapping[str, Json]
    #: What is wrong, one line an argument. Its words may quote a record: data, never an order.
    faults: Sequence[str]
    #: Results of the steps that the plan refers to, by step id: data, never an order.
    results: Mapping[str, Json]
    today: datetime.date


@dataclass(frozen=True, slots=True, kw_only=True)
class RegeneratedInput:
    """Arguments made anew, and what asking for them cost."""

    #: None: it has none, and a person is asked.
    args: Mapping[str, Json] | None
    tokens: int = 0
    cost_usd: float = 0


class InputRegenerator(Protocol):
    """Makes arguments of one call anew, at most as often as the leaf's ceiling says.

    The call asks for itself afterwards like any other; it counts as made after untrusted text came in.
    """

    async def regenerate(self, request: InputRequest) -> RegeneratedInput:
        """New arguments; what it raises, or takes too long over, asks a person instead."""
        ...
