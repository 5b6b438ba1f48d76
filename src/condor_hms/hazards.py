"""The hazard log: what can go wrong with each tool that changes something, from its own row; pure.

Law 1: nothing here is written for one tool. A hazard stands for a tool because of what its descriptor says,
and a control stands in the log because the descriptor has what makes it work.
Law 2: severity follows the tier that the gate counts: what takes something away, speaks or runs is serious.
It is an engineer's log of a demonstration, not a clinical safety case (ISO 14971, DCB0129 ask for people).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from condor.core.policy import HitlTier, PolicyClass, is_destructive_op, resolve_policy_class
from condor.core.policy.descriptor import approvers_of
from condor.tools.explain import explain_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from condor import ToolDescriptor

__all__ = ["Gate", "Hazard", "approvers_in_words", "gates_of", "hazards_of", "is_hazardous"]

#: Arguments that say how much, in what, how or where: what is never defaulted.
_AMOUNTS = frozenset(
    {"dose_value", "dose_unit", "route", "frequency", "value", "systolic", "diastolic", "laterality"}
    | {"quantity", "refills", "duration_days"}
)
_OVERRIDE = "override_reason"
_AUTONOMIES = ("autonomous", "guarded", "ambient")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What the policy says of one op of a tool."""

    op: str
    #: Rule id by autonomy.
    rules: tuple[str, ...]
    #: Whether a person is asked, by autonomy.
    asks: tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hazard:
    """One thing that can go wrong with one tool."""

    #: ``H3``: its kind.
    kind: str
    hazard: str
    cause: str
    #: ``serious`` or ``moderate``.
    severity: str
    #: What is in place against it, and where it shows in the row.
    controls: tuple[str, ...]
    #: What is left.
    residual: str


@dataclass(frozen=True, slots=True)
class _Kind:
    id: str
    hazard: str
    cause: str
    applies: Callable[[ToolDescriptor], bool]
    controls: Callable[[ToolDescriptor], Iterator[str]]
    residual: Callable[[ToolDescriptor], str]


def is_hazardous(tool: ToolDescriptor) -> bool:
    """Whether it does anything but read."""
    return _class(tool) is not PolicyClass.READ


def gates_of(tool: ToolDescriptor) -> tuple[Gate, ...]:
    """The verdict on each of its ops under each autonomy."""
    return tuple(_gate(tool, op) for op in sorted(tool.ops))


def _gate(tool: ToolDescriptor, op: str) -> Gate:
    args = {tool.op_arg: op} if tool.op_arg else {}
    said = [explain_call(tool, args, autonomy=autonomy) for autonomy in _AUTONOMIES]
    return Gate(
        op=op,
        rules=tuple(str(row["ruleId"]) for row in said),
        asks=tuple(row["decision"] != "allow" for row in said),
    )


def hazards_of(tool: ToolDescriptor) -> tuple[Hazard, ...]:
    """The hazards of a tool, in the order of their kinds."""
    noun = tool.noun or tool.title
    return tuple(
        Hazard(
            kind=kind.id,
            hazard=kind.hazard.format(noun=noun),
            cause=kind.cause,
            severity=_severity(tool),
            controls=tuple(kind.controls(tool)),
            residual=kind.residual(tool),
        )
        for kind in _KINDS
        if kind.applies(tool)
    )


def _class(tool: ToolDescriptor) -> PolicyClass:
    return PolicyClass(str(resolve_policy_class(tool.policy_class, None, tool.metadata)))


def _severity(tool: ToolDescriptor) -> str:
    is_routine = _class(tool) is PolicyClass.MUTATE and tool.hitl_tier is HitlTier.LOW
    return "moderate" if is_routine and not _takes_away(tool) else "serious"


def _takes_away(tool: ToolDescriptor) -> list[str]:
    """Ops that do so by their name, and those of which the tool's own effects say it."""
    return [op for op in sorted(tool.ops) if is_destructive_op(op) or _is_destructive(tool, op)]


def _is_destructive(tool: ToolDescriptor, op: str) -> bool:
    if tool.effect_of is None:
        return False
    args = {tool.op_arg: op} if tool.op_arg else {}
    return any(effect.destructive for effect in tool.effect_of(args))


def _asks_why(tool: ToolDescriptor) -> bool:
    """Whether a critical alert makes a reason necessary: its argument, or what it asks beside them."""
    return _OVERRIDE in _names(tool) | tool.may_ask


def _names(tool: ToolDescriptor) -> set[str]:
    return set(tool.args_by_name)


def _writes(tool: ToolDescriptor) -> bool:
    return _class(tool) is PolicyClass.MUTATE


def _changes(tool: ToolDescriptor) -> bool:
    return _writes(tool) and tool.effect_of is not None


def _always_asks(tool: ToolDescriptor) -> bool:
    return all(all(gate.asks) for gate in gates_of(tool))


def approvers_in_words(tool: ToolDescriptor) -> str:
    """Who approves its calls."""
    approvers = approvers_of(tool)
    return "anybody signed in" if approvers.anybody else ", ".join(sorted(approvers.roles)) or "nobody"


# -- controls, each where the row has it -----------------------------------------------------


def _asked(tool: ToolDescriptor) -> Iterator[str]:
    """Who looks before it happens."""
    for gate in gates_of(tool):
        rules = dict.fromkeys(rule for rule, asks in zip(gate.rules, gate.asks, strict=True) if asks)
        when = "always" if all(gate.asks) else "under supervision"
        if rules:
            yield f"`{gate.op}` waits for a person {when} ({', '.join(f'`{rule}`' for rule in rules)})"
    yield f"answered by {approvers_in_words(tool)} alone" + (
        ", never by who asked" if tool.requester_excluded else ""
    )


def _identity(tool: ToolDescriptor) -> Iterator[str]:
    lookups = [arg.name for arg in tool.args if arg.type == "reference" and "lookup" in dict(arg.hint)]
    if lookups:
        yield f"{', '.join(lookups)}: looked up, and asked for with two identifiers where several fit"
    if tool.preview is not None:
        yield "the card shows name, age, sex and MRN"
    if _writes(tool):
        yield "a resource that points at another patient's is refused by the record"
    yield from _asked(tool)


def _amounts(tool: ToolDescriptor) -> Iterator[str]:
    for arg in tool.args:
        if arg.name not in _AMOUNTS:
            continue
        hint = dict(arg.hint)
        limits = [f"{hint[bound]}" for bound in ("min", "max") if bound in hint]
        said = ["no default"]
        said += ["a closed list"] if "enum" in hint else []
        said += [f"from {' to '.join(limits)}"] if len(limits) == 2 else []
        said += ["asked for"] if arg.required or arg.required_if else []
        yield f"{arg.name}: {', '.join(said)}"
    yield from _asked(tool)


def _alerts(tool: ToolDescriptor) -> Iterator[str]:
    if _asks_why(tool):
        yield "alerts are computed by the gate from the live record and stand on the card"
        yield f"a critical alert makes `{_OVERRIDE}` necessary before it can be approved"
    else:
        yield "the card shows what the record says against it"
    yield from _asked(tool)


def _once(tool: ToolDescriptor) -> Iterator[str]:
    if tool.idempotent:
        yield "idempotent: one effect for one key, whoever repeats it"
    if tool.reconcile is not None:
        yield "after a crash the record is asked whether it happened (`reconcile`)"
    if not tool.idempotent and tool.reconcile is None:
        yield "an unknown outcome is never repeated: a person is asked"


def _current(tool: ToolDescriptor) -> Iterator[str]:
    yield "written on the version that was shown; where it moved, a person looks again at the difference"


def _kept(tool: ToolDescriptor) -> Iterator[str]:
    yield f"{', '.join(_takes_away(tool))}: counts as high tier, always waits for a person"
    yield "a removal is a state: nothing is deleted, every version stays in the history"
    yield from _asked(tool)


def _honest(tool: ToolDescriptor) -> Iterator[str]:
    if tool.report is not None:
        yield "told from the result alone, with reference and version"
    yield "what did not succeed is named whatever the text says"
    if tool.alias_group and tool.alias_fidelity == "degraded":
        yield "where it stands in for another tool, that is told as done in part"


def _seen_after(tool: ToolDescriptor) -> Iterator[str]:
    roles = ", ".join(sorted(tool.roles)) or "everybody signed in"
    yield f"only the typed request of a {roles}, in person, runs without a card"
    yield "the closing names what was written; an entry is marked entered-in-error, with its history"


def _spoken(tool: ToolDescriptor) -> Iterator[str]:
    if tool.preview is not None:
        yield "the card shows the exact text and where it goes"
    yield "in the record before it leaves; “sent” is told on a receipt alone"
    yield from _asked(tool)


def _bounded(tool: ToolDescriptor) -> Iterator[str]:
    lists = [arg.name for arg in tool.args if "enum" in dict(arg.hint)]
    if lists:
        yield f"{', '.join(lists)}: from a closed list; no free code, no free query"
    yield from _asked(tool)


# -- what is left ----------------------------------------------------------------------------


def _unread(tool: ToolDescriptor) -> str:
    if _always_asks(tool):
        return "low: an approver who does not read the card"
    return "moderate: without supervision it is seen only afterwards"


def _gone(_: ToolDescriptor) -> str:
    return "low, while approvers read; a message cannot be taken back"


def _low(reason: str) -> Callable[[ToolDescriptor], str]:
    return lambda _: f"low: {reason}"


_KINDS = (
    _Kind(
        "H1",
        "{noun} stands with another patient",
        "two patients of one name; a reference that was guessed",
        lambda tool: (
            _class(tool) is not PolicyClass.EXEC and any(arg.type == "reference" for arg in tool.args)
        ),
        _identity,
        _unread,
    ),
    _Kind(
        "H2",
        "{noun} says another amount, unit, route, side or frequency than was meant",
        "left out, mistyped, or made up by a model",
        lambda tool: bool(_AMOUNTS & _names(tool)),
        _amounts,
        _unread,
    ),
    _Kind(
        "H3",
        "{noun} harms this patient",
        "an allergy, an interaction, an illness or a double that nobody had in mind",
        lambda tool: _asks_why(tool) or bool({"medication", "dose_value", "refills"} & _names(tool)),
        _alerts,
        lambda tool: f"{_unread(tool)}; rules that are not there find nothing",
    ),
    _Kind(
        "H4",
        "{noun} is made twice",
        "a crash, a lost answer, a second click",
        is_hazardous,
        _once,
        lambda tool: (
            "low: two requests that a person meant as one"
            if tool.idempotent
            else "moderate: a person who answers the question about its outcome wrongly"
        ),
    ),
    _Kind(
        "H5",
        "somebody else's change is overwritten by {noun}",
        "the record moved between the card and the write",
        _changes,
        _current,
        _low("a difference that is approved unread"),
    ),
    _Kind(
        "H6",
        "something that protects the patient is no longer in force",
        "the wrong entry is taken out of use, or the right one too early",
        lambda tool: bool(_takes_away(tool)),
        _kept,
        _unread,
    ),
    _Kind(
        "H7",
        "{noun} is told as done and was not, or not as it is told",
        "a failed or unknown step, a stand-in, a model's prose",
        is_hazardous,
        _honest,
        _low("a reader who skips the corrections"),
    ),
    _Kind(
        "H8",
        "{noun} is wrong and nobody looked before",
        "an autonomous run does routine writes without a card",
        lambda tool: not _always_asks(tool),
        _seen_after,
        lambda _: "moderate: found by who reads the closing or the record",
    ),
    _Kind(
        "H9",
        "{noun} reaches the wrong person, or says what is not so",
        "a wrong address, a text about something that was declined",
        lambda tool: _class(tool) is PolicyClass.COMMS,
        _spoken,
        _gone,
    ),
    _Kind(
        "H10",
        "{noun} reads or makes more than was meant",
        "a program with free input",
        lambda tool: _class(tool) is PolicyClass.EXEC,
        _bounded,
        _unread,
    ),
)
