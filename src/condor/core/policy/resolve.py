"""From a descriptor and arguments to the data that the verdict is made of.

Law: what cannot be resolved is handed on as it is, and the verdict fails closed on it. A hook
that a tool author wrote (``effect_of``) can only make a call stricter, also when it throws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from condor.core.ids import exact_word
from condor.core.policy.classes import HitlTier, PolicyClass, is_destructive_op, is_prose, takes_away
from condor.core.policy.content import destructive_content, is_harmless_verb, names_verb
from condor.core.policy.descriptor import Effect, ToolDescriptor
from condor.core.policy.verdict import PolicyCall, PolicyContext, evaluate_tool_policy

if TYPE_CHECKING:
    from condor.core.ids import Json


def resolve_policy_class(
    declared: object, registered: object, metadata: Mapping[str, Json]
) -> PolicyClass | object:
    """Declared on the descriptor, else the static registry, else ``metadata.mutating``, else read.

    Total (mission: tool-policy.ts:304-314); a word that is no class comes back as it is, and the
    verdict fails closed on it. That a tool which says nothing of itself ends in ``read`` is why
    such a tool cannot be registered.
    """
    for said in (declared, registered):
        if said is not None:
            return said
    return PolicyClass.MUTATE if metadata.get("mutating") else PolicyClass.READ


def resolve_op(tool: ToolDescriptor, args: Mapping[str, Json]) -> object:
    """The verb of a call: what ``op_arg`` says, else the tool's single op, else None."""
    if tool.op_arg is not None:
        return args.get(tool.op_arg) if isinstance(args, Mapping) else None
    return next(iter(tool.ops), None)


def effects_of(tool: ToolDescriptor, args: Mapping[str, Json]) -> tuple[Effect, ...]:
    """The effects the tool's author sees in the arguments; one unknown removal where that fails.

    An effect whose verb takes something away is destructive, whether or not its author says so. The hook
    gets a copy: nothing it does to it changes what is judged or run.
    """
    if tool.effect_of is None:
        return ()
    found: tuple[object, ...]
    try:
        found = tuple(tool.effect_of(_copied(args)))
    except BaseException:  # noqa: BLE001 - a hook of a tool author; whatever it throws, the gate holds
        found = (None,)
    effects = tuple(effect for effect in found if isinstance(effect, Effect))
    if len(effects) < len(found):
        return (Effect(verb="unknown", target=tool.name, destructive=True),)
    return tuple(replace(effect, destructive=True) if _takes_away(effect) else effect for effect in effects)


def _takes_away(effect: Effect) -> bool:
    """By its verb; prose where a verb belongs says nothing that can be relied on."""
    return takes_away(effect.verb) or is_prose(str(effect.verb))


def _copied(value: Any) -> Any:
    if type(value) is dict or isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(item) for item in value]
    return value


def effect_keys(effects: tuple[Effect, ...]) -> frozenset[str]:
    """Effects as comparable words, the same for every tool that reaches the same end."""
    return frozenset(f"{effect.verb} {effect.target}" for effect in effects)


def policy_call(tool: ToolDescriptor, args: Mapping[str, Json], *, registered: object = None) -> PolicyCall:
    """What the verdict needs of one call."""
    policy_class = resolve_policy_class(tool.policy_class, registered, tool.metadata)
    if exact_word(policy_class) == PolicyClass.READ:
        if tool.metadata.get("mutating"):  # registration refuses it; should it get here, it is no class
            policy_class = "read beside metadata.mutating"
        return PolicyCall(tool=tool.name, policy_class=policy_class, hitl_tier=tool.hitl_tier)
    op = resolve_op(tool, args)
    effects = effects_of(tool, args)
    return PolicyCall(
        tool=tool.name,
        policy_class=policy_class,
        hitl_tier=tool.hitl_tier,
        op=op,
        ops=tool.ops,
        destructive_content=(
            any(effect.destructive for effect in effects)
            or destructive_content(_beside_op(tool, op, args))
            or _has_free_verb(tool, args)
        ),
        effects=effect_keys(effects),
    )


def _has_free_verb(tool: ToolDescriptor, args: Mapping[str, Json]) -> bool:
    """Whether an argument names a verb that no closed set limits, and that is not known to be harmless."""
    return (type(args) is dict or isinstance(args, Mapping)) and any(
        key != tool.op_arg
        and names_verb(key)
        and not is_harmless_verb(value)
        and not _is_listed(tool, key, value)
        for key, value in args.items()
    )


def _is_listed(tool: ToolDescriptor, key: str, value: Json) -> bool:
    """Whether the value is an option that the argument's own closed ``enum`` names."""
    spec, word = tool.args_by_name.get(key), exact_word(value)
    options = spec.hint.get("enum") if spec is not None and isinstance(spec.hint, Mapping) else None
    if word is None or not isinstance(options, list | tuple):
        return False
    return any(
        word == exact_word(option.get("value") if isinstance(option, Mapping) else option)
        for option in options
    )


def _beside_op(tool: ToolDescriptor, op: object, args: Mapping[str, Json]) -> Mapping[str, Json]:
    """The arguments without a destructive op, which ``destructive-op`` names already."""
    if tool.op_arg is None or not is_destructive_op(op):
        return args
    return {key: item for key, item in args.items() if key != tool.op_arg}


def effective_tier(
    tool: ToolDescriptor, args: Mapping[str, Json], context: PolicyContext, *, registered: object = None
) -> HitlTier | None:
    """The tier of one call after promotions; None for a class without tiers."""
    return evaluate_tool_policy(policy_call(tool, args, registered=registered), context).effective_tier
