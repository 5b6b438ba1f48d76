"""``@tool``: a function and its descriptor, side by side.

Law: for a record write mypy demands the tier (the overloads), and so does the constructor; an
author cannot forget it either way (mission: ``MutateRequiresHitlTier``).
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack, overload

from condor.core.errors import RegistrationRefused
from condor.core.policy import ArgSpec, Effect, HitlTier, PolicyClass, ToolDescriptor
from condor.tools.threads import in_thread

if typing.TYPE_CHECKING:
    from condor.core.ids import Json
    from condor.core.policy.descriptor import ArgType, OnDeny

Function = Callable[..., Any]


class ToolOptions(TypedDict, total=False):
    """Everything ``@tool`` takes besides name, class and tier; see ``ToolDescriptor``."""

    title: str
    description: str
    ops: Collection[str]
    op_arg: str | None
    roles: Collection[str]
    approver_roles: Collection[str]
    requester_excluded: bool
    editable: Collection[str]
    alias_group: str | None
    alias_fidelity: Literal["equal", "degraded"] | None
    alias_args: Callable[[str, Mapping[str, Json]], Mapping[str, Json] | None] | None
    idempotent: bool
    ui_card: bool
    pins: str
    on_deny: OnDeny
    timeout_s: float
    args: Sequence[ArgSpec] | None
    metadata: Mapping[str, Json]
    noun: str
    returns: Mapping[str, str]
    lookups: Collection[str]
    may_ask: Collection[str]
    effect_of: Callable[[Mapping[str, Json]], tuple[Effect, ...]] | None
    report: Callable[[Mapping[str, Json], Json], str] | None
    preview: Callable[..., object] | None
    subject_of: Callable[..., object] | None
    reconcile: Callable[..., object] | None


@overload
def tool(
    name: str,
    *,
    policy_class: Literal[PolicyClass.MUTATE],
    hitl_tier: HitlTier,
    **options: Unpack[ToolOptions],
) -> Callable[[Function], ToolDescriptor]: ...
@overload
def tool(
    name: str,
    *,
    policy_class: Literal[PolicyClass.READ, PolicyClass.EXEC, PolicyClass.COMMS],
    **options: Unpack[ToolOptions],
) -> Callable[[Function], ToolDescriptor]: ...
@overload
def tool(name: str, **options: Unpack[ToolOptions]) -> Callable[[Function], ToolDescriptor]: ...
def tool(
    name: str,
    *,
    policy_class: PolicyClass | None = None,
    hitl_tier: HitlTier | None = None,
    **options: Any,
) -> Callable[[Function], ToolDescriptor]:
    """Make a tool of a function ``(ctx: ToolContext, **arguments) -> JSON | ToolResult | NeedInput``.

    Without ``args`` the argument specs are read from the signature: an argument without a default
    is required, ``Literal`` is an enum.

    Raises:
        RegistrationRefused: the declarations contradict each other.
    """

    def build(function: Function) -> ToolDescriptor:
        if not inspect.signature(function).parameters:
            raise RegistrationRefused(
                f"tool {name}: its function takes the ToolContext as its first argument"
            )
        given = dict(options)
        specs = given.pop("args", None)
        for key in ("ops", "roles", "approver_roles", "editable", "lookups", "may_ask"):
            words = given.get(key, ())
            # A bare string is handed on as it is, to be refused rather than taken for its letters.
            given[key] = words if isinstance(words, str) else frozenset(words)
        for hook in ("preview", "subject_of", "reconcile"):
            if given.get(hook) is not None:
                given[hook] = _as_async(given[hook])
        given.setdefault("title", name)
        given.setdefault("description", inspect.getdoc(function) or "")
        return ToolDescriptor(
            name=name,
            policy_class=policy_class,
            hitl_tier=hitl_tier,
            args=tuple(specs) if specs is not None else _specs_of(name, function),
            function=_as_async(function),
            **given,
        )

    return build


def _as_async(function: Function) -> Callable[..., Awaitable[object]]:
    """An async function as it is; a plain one in a thread of its own, so that it cannot hold up the loop."""
    if inspect.iscoroutinefunction(function):
        return function

    async def plain(*args: object, **kwargs: object) -> object:
        returned = await in_thread(function, *args, **kwargs)
        # A plain function may hand on an async one.
        return await returned if inspect.isawaitable(returned) else returned

    return plain


_ARG_TYPES: dict[object, ArgType] = {
    str: "string",
    int: "integer",
    float: "decimal",
    bool: "boolean",
    list: "array",
    dict: "object",
}


def _specs_of(name: str, function: Function) -> tuple[ArgSpec, ...]:
    try:
        hints = typing.get_type_hints(function)
    except NameError as fault:
        raise RegistrationRefused(
            f"tool {name}: an annotation cannot be read ({fault}): import it at run time, or pass args=[…]"
        ) from fault
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return tuple(_spec_of(name, parameter, hints.get(parameter.name, str)) for parameter in parameters)


def _spec_of(tool_name: str, parameter: inspect.Parameter, hint: object) -> ArgSpec:
    if parameter.kind in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL):
        raise RegistrationRefused(
            f"tool {tool_name}: *{parameter.name} is open-ended; name each argument or pass args=[…]"
        )
    origin, members = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        hint = next((member for member in members if member is not type(None)), str)
        origin, members = typing.get_origin(hint), typing.get_args(hint)
    options: Mapping[str, Json] = {}
    kind: ArgType = _ARG_TYPES.get(origin or hint, "string" if origin is None else "object")
    if origin is Literal:
        kind, options = "code", {"enum": [str(member) for member in members]}
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        kind = "object"
    elif isinstance(origin, type) and issubclass(origin, Sequence):
        kind = "array"
    return ArgSpec(
        name=parameter.name,
        label=parameter.name.replace("_", " ").capitalize(),
        type=kind,
        required=parameter.default is inspect.Parameter.empty,
        hint=options,
    )
