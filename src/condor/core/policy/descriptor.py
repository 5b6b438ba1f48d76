"""A tool as the policy sees it: its class, its risk, its closed ops, its people.

Law 1: a record write without a tier cannot be constructed (a type error for mypy, see
``condor.tools.tool``; a ``RegistrationRefused`` at run time).
Law 2: a declared ``read`` beside ``metadata.mutating: true`` is a conflict, not a choice.
Law 3: a tool that declares nothing cannot be registered (``condor.tools.registry``).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from condor.core.errors import RegistrationRefused, show
from condor.core.ids import Digest, Json, digest_of
from condor.core.policy.classes import HitlTier, PolicyClass

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
    #: The person who asked may not approve (four eyes).
    requester_excluded: bool = False
    #: Tools of one group can stand in for each other.
    alias_group: str | None = None
    alias_fidelity: Literal["equal", "degraded"] | None = None
    #: The tool gives one effect for one idempotency key, however often it is called.
    idempotent: bool = False
    #: The tool draws a card of its own from its result.
    ui_card: bool = False
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
    #: Pure: the effects of a call, from its arguments.
    effect_of: Callable[[Mapping[str, Json]], tuple[Effect, ...]] | None = None
    #: Pure: one sentence for the closing text, from arguments and result value.
    report: Callable[[Mapping[str, Json], Json], str] | None = None
    #: Reads what a card must show before the call may be approved (``condor.tools.Preview``).
    preview: Callable[..., Awaitable[object]] | None = None
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
        _check_class(self)
        _check_ops(self)
        names = [arg.name for arg in self.args]
        if len(set(names)) != len(names):
            raise RegistrationRefused(f"tool {self.name}: two arguments share a name; rename one")
        object.__setattr__(self, "args_by_name", {arg.name: arg for arg in self.args})
        object.__setattr__(self, "digest", digest_of(_described(self)))


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise RegistrationRefused(
            f"tool name {show(name)} is not usable: take 1 to 64 of a-z 0-9 . _ - (ASCII, lower case)"
        )


def _check_class(tool: ToolDescriptor) -> None:
    declared = tool.policy_class
    if declared is not None and not isinstance(declared, PolicyClass):
        raise RegistrationRefused(
            f"tool {tool.name}: policy_class {show(declared)} is unknown; take read, mutate, exec or comms"
        )
    if tool.hitl_tier is not None and not isinstance(tool.hitl_tier, HitlTier):
        raise RegistrationRefused(
            f"tool {tool.name}: hitl_tier {show(tool.hitl_tier)} is unknown; take high or low"
        )
    if declared is PolicyClass.READ and tool.metadata.get("mutating"):
        raise RegistrationRefused(
            f"tool {tool.name}: declared read, but metadata.mutating is set; one of the two is wrong"
        )
    if declared is PolicyClass.MUTATE and tool.hitl_tier is None:
        raise RegistrationRefused(
            f"tool {tool.name}: a record write needs hitl_tier=HitlTier.HIGH or HitlTier.LOW"
        )


def _check_ops(tool: ToolDescriptor) -> None:
    for op in tool.ops:
        if not isinstance(op, str) or not _NAME.fullmatch(op):
            raise RegistrationRefused(f"tool {tool.name}: op {show(op)} is not usable: take a-z 0-9 . _ -")
    if len(tool.ops) > 1 and tool.op_arg is None:
        raise RegistrationRefused(
            f"tool {tool.name}: {len(tool.ops)} ops and no op_arg: name the argument that says which"
        )
    if tool.op_arg is not None and not tool.ops:
        raise RegistrationRefused(f"tool {tool.name}: op_arg without ops: list the closed set of verbs")


def _described(tool: ToolDescriptor) -> dict[str, object]:
    """What a person who approves relies on; code and prose that cards do not show stay out."""
    return {
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
            {"name": arg.name, "type": arg.type, "required": arg.required, "hint": arg.hint}
            for arg in tool.args
        ],
    }


def who_may_answer(tool: ToolDescriptor) -> frozenset[str]:
    """Roles that may answer this tool's approval cards; empty means everybody signed in."""
    return tool.approver_roles or tool.roles
