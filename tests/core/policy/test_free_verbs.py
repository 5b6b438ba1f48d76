"""Verbs that nobody declared: of effects, and in arguments that no closed set limits."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from condor.core.errors import RegistrationRefused
from condor.core.policy import (
    ArgSpec,
    Effect,
    HitlTier,
    PolicyClass,
    PolicyContext,
    ToolDescriptor,
    evaluate_tool_policy,
    policy_call,
)
from condor.core.policy.classes import HARMLESS_OPS, is_destructive_op
from condor.core.policy.content import destructive_content
from condor.core.policy.resolve import effects_of
from condor.tools import ToolRegistry

ALONE = PolicyContext(autonomy="autonomous")

#: What an unlisted verb may hide behind, and words that nobody knows.
FREE = (
    "erase", "purge", "revoke", "merge", "overwrite", "stop", "del", "$expunge", "remove;x", "delete/../read",
    "d\u0435lete", "\u0441ancel", "wipe", "destroy", "terminate", "update,delete", "DELETE", "de\u200blete",
    "frobnicate", "update ", "UPDATE", "", "create then delete", 7, ["update"], {"verb": "update"}, True,
)  # fmt: skip


def low(**more: Any) -> ToolDescriptor:
    """A low-tier record write that takes any arguments."""
    return ToolDescriptor(
        **{"name": "note.update", "policy_class": PolicyClass.MUTATE, "hitl_tier": HitlTier.LOW, **more}
    )


def runs_alone(tool: ToolDescriptor, args: Any) -> bool:
    """Whether nobody is asked."""
    return evaluate_tool_policy(policy_call(tool, args), ALONE).allowed


@pytest.mark.parametrize("verb", FREE)
@pytest.mark.parametrize("key", ["op", "Operation", "verb", "ACTION"])
def test_a_free_verb_that_is_not_known_to_be_harmless_asks(key: str, verb: object) -> None:
    """With a schema that leaves it free, and with none."""
    assert not runs_alone(low(), {key: verb})
    assert not runs_alone(low(args=(ArgSpec(name=key),)), {key: verb})
    assert not runs_alone(low(args=(ArgSpec(name=key, hint={"enum": ["update"]}),)), {key: verb})


@pytest.mark.parametrize("verb", sorted(HARMLESS_OPS))
def test_a_harmless_verb_runs(verb: str) -> None:
    """The list is closed, and nothing on it takes anything away."""
    assert not is_destructive_op(verb)
    assert runs_alone(low(), {"op": verb, "note": "slept well"})


def test_no_verb_at_all_is_harmless() -> None:
    """An optional verb that was left out."""
    assert runs_alone(low(), {"op": None})


def test_what_a_closed_set_names_runs() -> None:
    """The tool's ops, or the argument's own options; a removal among the options asks all the same."""
    listed = low(ops={"hold", "create"}, op_arg="action")
    assert runs_alone(listed, {"action": "hold"})
    assert not runs_alone(listed, {"action": "hold", "verb": "erase"}), "a second verb beside the op"
    options = low(args=(ArgSpec(name="action", hint={"enum": ["hold", {"value": "wipe", "label": "Wipe"}]}),))
    assert runs_alone(options, {"action": "hold"})
    assert not runs_alone(options, {"action": "wipe"})


@pytest.mark.parametrize(
    ("key", "verb"),
    [
        *itertools.product(
            ("op", "action", "method"), ("erase", "$expunge", "remove;x", "update,delete", "d\u0435lete")
        ),
        ("valueCode", "PURGE"),
    ],
)
def test_a_synonym_counts_at_any_depth(key: str, verb: str) -> None:
    """Nested verbs, such as a patch's."""
    assert destructive_content({"entry": [{"request": {key: verb}}]})


@pytest.mark.parametrize("key", ["op", "method"])
def test_a_list_of_verbs_counts_however_long_it_is(key: str) -> None:
    """Length hides nothing; an effect whose verb is prose says nothing that can be relied on."""
    long = "update," * 12 + "delete"
    assert destructive_content({"entry": [{"request": {key: long}}]})
    for verb in (long, "update the note and tell everybody about it " * 3):
        tool = low(effect_of=lambda _args, verb=verb: (Effect(verb=verb, target="Note/1"),))
        assert effects_of(tool, {})[0].destructive


@pytest.mark.parametrize("value", ["add", "replace", "PUT", "oral", "Rest, and drink enough water. " * 4])
def test_other_nested_words_do_not(value: str) -> None:
    """A word that is no removal, and prose."""
    assert not destructive_content([{"action": value}])


@pytest.mark.parametrize(
    "verb", ["delete", "void", "remove", "cancel", "DELETE", "erase", "hard-delete", "d\u0435l"]
)
def test_an_effect_with_a_destructive_verb_is_destructive(verb: str) -> None:
    """Whether or not its author says so."""
    tool = low(effect_of=lambda _args: (Effect(verb=verb, target="Note/1"),))
    assert effects_of(tool, {})[0].destructive
    assert evaluate_tool_policy(policy_call(tool, {}), ALONE).promotions == ("destructive-content",)


@pytest.mark.parametrize("verb", ["create", "sign", "refund"])
def test_another_effect_is_as_its_author_says(verb: str) -> None:
    """No false alarm."""
    assert runs_alone(low(effect_of=lambda _args: (Effect(verb=verb, target="Note/1"),)), {})


def test_a_read_has_no_effect() -> None:
    """Refused where it is declared, and where the static registry says it."""

    async def body(_ctx: Any) -> None: ...

    hook: Any = lambda _args: (Effect(verb="delete", target="Note/1"),)  # noqa: E731
    with pytest.raises(RegistrationRefused, match=r"tool note\.read: declared read, but it has effect_of"):
        ToolDescriptor(name="note.read", policy_class=PolicyClass.READ, effect_of=hook)
    with pytest.raises(RegistrationRefused, match="the static registry says read, but it has effect_of"):
        ToolRegistry(
            [ToolDescriptor(name="note.read", function=body, effect_of=hook)],
            static_classes={"note.read": PolicyClass.READ},
        )
