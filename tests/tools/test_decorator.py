"""``@tool``: what an author writes, what comes of it, and what is refused."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import pytest

from condor.core.errors import RegistrationRefused
from condor.core.policy import ArgSpec, Effect, HitlTier, PolicyClass, ToolDescriptor
from condor.tools import ToolContext, tool

READ: Final = PolicyClass.READ


def specs(descriptor: ToolDescriptor) -> dict[str, tuple[str, bool]]:
    """Name → type and whether it is required."""
    return {arg.name: (arg.type, arg.required) for arg in descriptor.args}


def test_a_tool_is_its_function_and_its_words() -> None:
    """Everything that is declared stands in the descriptor."""

    def effect_of(args: Mapping[str, Any]) -> tuple[Effect, ...]:
        return (Effect(verb="create", target=str(args["patient"])),)

    @tool(
        "notes.append",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.LOW,
        title="Append a note",
        ops={"create"},
        roles=["doctor", "nurse"],
        approver_roles={"doctor"},
        requester_excluded=True,
        alias_group="notes",
        alias_fidelity="equal",
        idempotent=True,
        ui_card=True,
        on_deny="skip",
        timeout_s=5,
        metadata={"mutating": True},
        noun="the note",
        effect_of=effect_of,
    )
    async def append_note(ctx: ToolContext, patient: str, text: str = "") -> dict[str, str]:
        """Append a note to a patient's record."""
        return {"patient": patient, "text": text, "run": ctx.run_id}

    assert append_note.name == "notes.append"
    assert append_note.title == "Append a note"
    assert append_note.description == "Append a note to a patient's record."
    assert (append_note.policy_class, append_note.hitl_tier) == (PolicyClass.MUTATE, HitlTier.LOW)
    assert (append_note.ops, append_note.op_arg) == (frozenset({"create"}), None)
    assert append_note.roles == {"doctor", "nurse"}
    assert append_note.approver_roles == {"doctor"}
    assert append_note.requester_excluded
    assert append_note.idempotent
    assert append_note.ui_card
    assert (append_note.alias_group, append_note.alias_fidelity) == ("notes", "equal")
    assert (append_note.on_deny, append_note.timeout_s, append_note.noun) == ("skip", 5, "the note")
    assert append_note.metadata == {"mutating": True}
    assert append_note.effect_of is effect_of
    assert specs(append_note) == {"patient": ("string", True), "text": ("string", False)}
    assert append_note.args_closed


def test_a_bare_tool_has_its_name_for_a_title() -> None:
    """Nothing but name and class is needed."""

    @tool("x", policy_class=READ)
    def bare(ctx: ToolContext) -> str:
        return ctx.run_id

    assert (bare.title, bare.description, bare.args, bare.roles) == ("x", "", (), frozenset())


def test_arguments_are_read_from_the_signature() -> None:
    """Annotations become types; an argument without a default is required; ``Literal`` is a closed set."""

    @tool("x", policy_class=READ)
    async def typed(  # type: ignore[no-untyped-def]
        ctx: ToolContext,
        text: str,
        count: int,
        dose: float,
        yes: bool,
        names: list[str],
        more: Sequence[int],
        body: dict[str, Any],
        other: Mapping[str, Any],
        bare_list: list,  # type: ignore[type-arg]
        route: Literal["oral", "iv"],
        anything,
        maybe: str | None = None,
        maybe_count: int | None = None,
        *,
        only: Literal["a"] | None = None,
    ) -> None:
        """Take everything."""

    assert specs(typed) == {
        "text": ("string", True),
        "count": ("integer", True),
        "dose": ("decimal", True),
        "yes": ("boolean", True),
        "names": ("array", True),
        "more": ("array", True),
        "body": ("object", True),
        "other": ("object", True),
        "bare_list": ("array", True),
        "route": ("code", True),
        "anything": ("string", True),
        "maybe": ("string", False),
        "maybe_count": ("integer", False),
        "only": ("code", False),
    }
    assert typed.args_by_name["route"].hint == {"enum": ["oral", "iv"]}
    assert typed.args_by_name["bare_list"].label == "Bare list"


def test_given_specs_are_taken_instead() -> None:
    """A function that takes anything can still have a closed set of arguments."""
    given = [ArgSpec(name="a", type="date")]

    @tool("x", policy_class=READ, args=given)
    async def loose(ctx: ToolContext, **args: Any) -> None:
        """Take anything."""

    assert loose.args == tuple(given)


@pytest.mark.parametrize("star", ["args", "kwargs"])
def test_an_open_signature_is_refused(star: str) -> None:
    """A closed set of arguments cannot be read from a star."""

    async def positional(ctx: ToolContext, *args: str) -> None: ...

    async def keywords(ctx: ToolContext, **kwargs: str) -> None: ...

    function = positional if star == "args" else keywords
    with pytest.raises(RegistrationRefused) as refusal:
        tool("x", policy_class=READ)(function)
    assert str(refusal.value) == (f"tool x: *{star} is open-ended; name each argument or pass args=[…]")


@pytest.mark.parametrize(
    ("message", "options"),
    [
        (
            "a record write needs hitl_tier=HitlTier.HIGH or HitlTier.LOW",
            {"policy_class": PolicyClass.MUTATE},
        ),
        (
            "declared read, but metadata.mutating is set",
            {"policy_class": READ, "metadata": {"mutating": True}},
        ),
        ("2 ops and no op_arg", {"policy_class": READ, "ops": ["a", "b"]}),
        (
            "op_arg 'op' is no argument of it; there are text",
            {"policy_class": READ, "ops": ["a"], "op_arg": "op"},
        ),
    ],
)
def test_a_contradiction_is_refused_where_it_is_written(message: str, options: dict[str, Any]) -> None:
    """The author's module does not import until it is mended."""

    def function(ctx: ToolContext, text: str) -> None: ...

    with pytest.raises(RegistrationRefused, match=message):
        tool("x", **options)(function)


async def test_an_async_function_runs_as_it_is() -> None:
    """No wrapper stands between the runtime and the tool."""

    async def function(ctx: ToolContext) -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    made = tool("x", policy_class=READ)(function)
    assert made.function is function


async def test_a_plain_function_cannot_hold_up_the_loop() -> None:
    """It runs in a thread, with its arguments by name."""

    @tool("x", policy_class=READ)
    def slow(ctx: None, word: str) -> tuple[bool, str]:
        return threading.current_thread() is threading.main_thread(), word

    assert slow.function is not None
    assert await slow.function(None, word="a") == (False, "a")


def test_an_annotation_that_cannot_be_read_is_refused_with_the_way_out() -> None:
    """A name that only type checkers see says so, instead of a bare NameError."""

    async def function(ctx: ToolContext, text: str) -> None: ...

    function.__annotations__["text"] = "OnlyForTypeCheckers"
    with pytest.raises(RegistrationRefused, match=r"an annotation cannot be read .* import it at run time"):
        tool("x", policy_class=READ)(function)


def test_a_function_without_a_context_is_refused() -> None:
    """A tool is told which call it serves."""

    async def function() -> None: ...

    with pytest.raises(RegistrationRefused, match="takes the ToolContext as its first argument"):
        tool("x", policy_class=READ)(function)


def test_one_word_is_not_taken_for_its_letters() -> None:
    """ops="create" is no set of verbs."""

    async def function(ctx: ToolContext) -> None: ...

    with pytest.raises(RegistrationRefused):
        tool("x", policy_class=READ, ops="create")(function)
