"""A tool as the policy sees it: its class, its risk, its closed ops, its people.

Law 1: a record write without a tier cannot be constructed (a type error for mypy, see
``condor.tools.tool``; a ``RegistrationRefused`` at run time).
Law 2: a declared ``read`` beside ``metadata.mutating: true`` is a conflict, not a choice.
Law 3: a tool that declares nothing cannot be registered (``condor.tools.registry``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from condor.core.errors import RegistrationRefused, show
from condor.core.ids import Digest, Json, digest_of
from condor.core.plan.reference import POINTER
from condor.core.policy.classes import HitlTier, PolicyClass, is_destructive_op
from condor.core.run.principal import approvers_among

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from enum import StrEnum

    from condor.core.run.principal import Approvers

#: ASCII only, so that no look-alike can shadow a tool (Trojan Source, CVE-2021-42574).
_NAME = re.compile(r"[a-z0-9._-]{1,64}")

ArgType = Literal[
    "string", "code", "reference", "date", "date-time", "integer", "decimal", "boolean", "array", "object"
]

OnDeny = Literal["abort", "skip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgSpec:
    """One argument of a tool's closed set."""

    name: str
    #: What a form calls it.
    label: str = ""
    type: ArgType = "string"
    required: bool = False
    #: How a form asks for it: ``enum``, ``multi``, ``min``, ``max``, ``min_length``, ``format``,
    #: ``textarea``, ``radio``, ``lookup``. A malformed hint degrades the field to free text.
    hint: Mapping[str, Json] = field(default_factory=dict)
    #: Other arguments that make this one necessary: name → the values that do; none listed: any value.
    required_if: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)

    def is_required_with(self, args: Mapping[str, Json]) -> bool:
        """Whether a call with these arguments needs it."""
        return self.required or any(
            not is_missing(args.get(name)) and (not values or args[name] in values)
            for name, values in self.required_if.items()
        )


def is_missing(value: Json) -> bool:
    """Null, blank text and an empty list are no answer."""
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a call would do to one record, said the same way by every tool that can do it."""

    #: A verb of the record's own state: ``stop``, ``create``, ``sign``.
    verb: str
    #: The record, as ``Type/id`` or whatever the pack names it by.
    target: str
    destructive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDescriptor:
    """Everything the runtime knows of a tool. Built by ``@tool``; compared by ``digest``."""

    name: str
    title: str = ""
    description: str = ""
    #: Declared class; None falls through to the static registry, then ``metadata``.
    policy_class: PolicyClass | None = None
    hitl_tier: HitlTier | None = None
    #: The closed set of verbs this tool knows.
    ops: frozenset[str] = frozenset()
    #: The argument that says which op a call is; None when ``ops`` has at most one.
    op_arg: str | None = None
    #: Who may call it; empty means everybody signed in.
    roles: frozenset[str] = frozenset()
    #: Who may answer its cards; empty means ``roles``.
    approver_roles: frozenset[str] = frozenset()
    #: The person who asked may not approve (four eyes), nor may a person who edited the call.
    requester_excluded: bool = False
    #: Arguments that a person who may answer its approval card may edit there; never whom it is about.
    editable: frozenset[str] = frozenset()
    #: Tools of one group can stand in for each other; a tool of several names them with commas between.
    alias_group: str | None = None
    alias_fidelity: Literal["equal", "degraded"] | None = None
    #: Pure: this tool's arguments in place of a call of another tool of its group, from that tool's name and
    #: arguments; None where they do not follow from them. Without it, arguments of the same name.
    alias_args: Callable[[str, Mapping[str, Json]], Mapping[str, Json] | None] | None = None
    #: The tool gives one effect for one idempotency key, however often it is called.
    idempotent: bool = False
    #: The tool draws a card of its own from its result.
    ui_card: bool = False
    #: The argument in which it takes a card that was drawn earlier in the run, to pin it: the card of the
    #: step that the argument names, else the last one drawn. Empty: it pins nothing.
    pins: str = ""
    #: What a denial does to the run where the plan does not say.
    on_deny: OnDeny = "abort"
    #: Seconds after which a call is given up (for an effect: unknown).
    timeout_s: float = 30.0
    args: tuple[ArgSpec, ...] = ()
    #: Whether arguments outside ``args`` are refused. False only for a tool without a schema.
    args_closed: bool = True
    #: Legacy declarations; ``mutating`` is the only key the policy reads.
    metadata: Mapping[str, Json] = field(default_factory=dict)
    #: What the closing text calls the effect: "the prescription".
    noun: str = ""
    #: What a plan may refer to in its result: JSON pointer → what stands there.
    returns: Mapping[str, str] = field(default_factory=dict)
    #: Keys of its result that are there for later steps to look things up by: kept, and not shown to people.
    lookups: frozenset[str] = frozenset()
    #: What its preview may ask beside the arguments (``CardEvidence.requires``), by name; decides nothing.
    may_ask: frozenset[str] = frozenset()
    #: Pure: the effects of a call, from its arguments.
    effect_of: Callable[[Mapping[str, Json]], tuple[Effect, ...]] | None = None
    #: Pure: one sentence for the closing text, from arguments and result value.
    report: Callable[[Mapping[str, Json], Json], str] | None = None
    #: Reads what a card must show before the call may be approved (``condor.tools.Preview``).
    preview: Callable[..., Awaitable[object]] | None = None
    #: Reads whom a call is about, from ``(ctx, arguments)`` that may be incomplete: a ``CardEvidence`` with
    #: ``subject`` and ``alerts``, for the cards that ``preview`` says nothing on, such as questions.
    subject_of: Callable[..., Awaitable[object]] | None = None
    #: Asks the outside system whether a call of unknown outcome happened.
    reconcile: Callable[..., Awaitable[object]] | None = None
    #: The body.
    function: Callable[..., Awaitable[object]] | None = None
    #: Derived: the argument specs by name.
    args_by_name: Mapping[str, ArgSpec] = field(init=False, repr=False, compare=False)
    #: Derived: what approvals are bound to; changes with anything a person was told about the tool.
    digest: Digest = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a descriptor that contradicts itself."""
        _check_name(self.name)
        for key in ("ops", "roles", "approver_roles", "editable", "lookups", "may_ask"):
            object.__setattr__(self, key, _words(self.name, key, getattr(self, key)))
        _check_class(self)
        _check_ops(self)
        _check_args(self)
        _check_editable(self)
        _check_options(self)
        object.__setattr__(self, "args_by_name", {arg.name: arg for arg in self.args})
        try:
            digest = digest_of(_described(self))
        except ValueError as fault:
            raise RegistrationRefused(
                f"tool {self.name}: its title, metadata or hints hold something that is not JSON ({fault})"
            ) from None
        object.__setattr__(self, "digest", digest)

    @property
    def alias_groups(self) -> frozenset[str]:
        """The groups in which it can stand in for others."""
        return frozenset((self.alias_group or "").replace(",", " ").split())


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise RegistrationRefused(
            f"tool name {show(name)} is not usable: take 1 to 64 of a-z 0-9 . _ - (ASCII, lower case)"
        )


def _words(tool: str, key: str, value: object) -> frozenset[str]:
    """A set of words. A bare text is refused: it would be a set of letters."""
    if not isinstance(value, Set | list | tuple) or not all(isinstance(word, str) for word in value):
        raise RegistrationRefused(f"tool {tool}: {key} is {show(value)}; write a set of words")
    return frozenset(value)


def _member(words: type[StrEnum], given: object) -> str:
    """What to write: the member that a text means, else all of them."""
    meant = given.strip().lower() if isinstance(given, str) else None
    named = [f"{words.__name__}.{word.name}" for word in words if meant in (word.value, None)]
    return " or ".join(named or [f"{words.__name__}.{word.name}" for word in words])


def _check_class(tool: ToolDescriptor) -> None:
    declared = tool.policy_class
    if declared is not None and not isinstance(declared, PolicyClass):
        raise RegistrationRefused(
            f"tool {tool.name}: policy_class {show(declared)} is unknown; write "
            f"{_member(PolicyClass, declared)}"
        )
    if tool.hitl_tier is not None and not isinstance(tool.hitl_tier, HitlTier):
        raise RegistrationRefused(
            f"tool {tool.name}: hitl_tier {show(tool.hitl_tier)} is unknown; write "
            f"{_member(HitlTier, tool.hitl_tier)}"
        )
    if not isinstance(tool.metadata, Mapping):
        raise RegistrationRefused(f"tool {tool.name}: metadata is {show(tool.metadata)}; write a mapping")
    # Our own copy: what the author's dictionary says later changes no class.
    object.__setattr__(tool, "metadata", dict(tool.metadata))
    if declared is PolicyClass.READ and tool.metadata.get("mutating"):
        raise RegistrationRefused(
            f"tool {tool.name}: declared read, but metadata.mutating is set; one of the two is wrong"
        )
    if declared is PolicyClass.READ and tool.effect_of is not None:
        raise RegistrationRefused(
            f"tool {tool.name}: declared read, but it has effect_of; a read has no effect: "
            f"take effect_of away, or declare what it does"
        )
    if declared is PolicyClass.MUTATE and tool.hitl_tier is None:
        raise RegistrationRefused(
            f"tool {tool.name}: a record write needs hitl_tier=HitlTier.HIGH or HitlTier.LOW"
        )


def _check_ops(tool: ToolDescriptor) -> None:
    for op in tool.ops:
        if not _NAME.fullmatch(op):
            raise RegistrationRefused(f"tool {tool.name}: op {show(op)} is not usable: take a-z 0-9 . _ -")
        if tool.policy_class is PolicyClass.READ and is_destructive_op(op):
            raise RegistrationRefused(
                f"tool {tool.name}: declared read, but op {op} takes something away; one of the two is wrong"
            )
    if len(tool.ops) > 1 and tool.op_arg is None:
        raise RegistrationRefused(
            f"tool {tool.name}: {len(tool.ops)} ops and no op_arg: name the argument that says which"
        )
    if tool.op_arg is not None and not tool.ops:
        raise RegistrationRefused(f"tool {tool.name}: op_arg without ops: list the closed set of verbs")


def _check_args(tool: ToolDescriptor) -> None:
    if not isinstance(tool.args, list | tuple) or not all(isinstance(arg, ArgSpec) for arg in tool.args):
        raise RegistrationRefused(f"tool {tool.name}: args is {show(tool.args)}; write ArgSpecs")
    object.__setattr__(tool, "args", tuple(tool.args))
    names = [arg.name for arg in tool.args]
    for name in names:
        # `$` is the plan's own: `$from` is a reference.
        if not isinstance(name, str) or not name.isprintable() or not name.strip() or name.startswith("$"):
            raise RegistrationRefused(f"tool {tool.name}: argument name {show(name)} is not usable")
    if len(set(names)) != len(names):
        raise RegistrationRefused(f"tool {tool.name}: two arguments share a name; rename one")
    for arg in tool.args:
        for other in arg.required_if:
            if other not in names or other == arg.name:
                raise RegistrationRefused(
                    f"tool {tool.name}: {arg.name} is required by {show(other)}, which is no other "
                    "argument of it"
                )
    if names and tool.args_closed and tool.op_arg is not None and tool.op_arg not in names:
        raise RegistrationRefused(
            f"tool {tool.name}: op_arg {show(tool.op_arg)} is no argument of it; there are {', '.join(names)}"
        )


def _check_editable(tool: ToolDescriptor) -> None:
    """Edits are checked against the argument's own shape, and no edit changes what kind of call it is."""
    for name in sorted(tool.editable):
        if all(arg.name != name for arg in tool.args):
            raise RegistrationRefused(f"tool {tool.name}: editable names {show(name)}, which is no argument")
        if name == tool.op_arg:
            raise RegistrationRefused(
                f"tool {tool.name}: {name} says which op it is, and an edit may not change that"
            )


def _check_options(tool: ToolDescriptor) -> None:
    if tool.on_deny not in ("abort", "skip"):
        raise RegistrationRefused(f"tool {tool.name}: on_deny is {show(tool.on_deny)}; take abort or skip")
    if tool.alias_fidelity not in (None, "equal", "degraded"):
        raise RegistrationRefused(
            f"tool {tool.name}: alias_fidelity is {show(tool.alias_fidelity)}; take equal or degraded"
        )
    if not isinstance(tool.returns, Mapping) or not all(
        isinstance(path, str) and POINTER.fullmatch(path) and isinstance(what, str)
        for path, what in tool.returns.items()
    ):
        raise RegistrationRefused(
            f"tool {tool.name}: returns is {show(tool.returns)}; write JSON pointers, each with what "
            f"stands there"
        )
    if tool.pins and tool.pins not in {arg.name for arg in tool.args}:
        raise RegistrationRefused(f"tool {tool.name}: pins names {show(tool.pins)}, which is no argument")
    seconds = tool.timeout_s
    if not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise RegistrationRefused(f"tool {tool.name}: timeout_s is {show(seconds)}; take seconds above zero")


def _described(tool: ToolDescriptor) -> dict[str, object]:
    """What a person who approves relies on; code and prose that cards do not show stay out."""
    # Named only where there are any: the digest of a tool that allows no edit is what it was before edits.
    edits: dict[str, object] = {"editable": sorted(tool.editable)} if tool.editable else {}
    if tool.pins:
        edits["pins"] = tool.pins
    return {
        **edits,
        "name": tool.name,
        "title": tool.title,
        "policyClass": tool.policy_class,
        "hitlTier": tool.hitl_tier,
        "ops": sorted(tool.ops),
        "opArg": tool.op_arg,
        "roles": sorted(tool.roles),
        "approverRoles": sorted(tool.approver_roles),
        "requesterExcluded": tool.requester_excluded,
        "metadata": tool.metadata,
        "args": [
            {
                "name": arg.name,
                "label": arg.label,
                "type": arg.type,
                "required": arg.required,
                "hint": arg.hint,
                **({"requiredIf": arg.required_if} if arg.required_if else {}),
            }
            for arg in tool.args
        ],
    }


def who_may_answer(tool: ToolDescriptor) -> frozenset[str]:
    """Roles that may answer this tool's approval cards; empty means everybody signed in."""
    return tool.approver_roles or tool.roles


def approvers_of(tool: ToolDescriptor) -> Approvers:
    """Who approves this tool's calls."""
    return approvers_among(who_may_answer(tool))
