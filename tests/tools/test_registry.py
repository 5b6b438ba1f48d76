"""The registry: who gets in, who does not, and how a tool is found."""

from __future__ import annotations

from typing import Any

import pytest

from condor.core.errors import RegistrationRefused, UnknownId
from condor.core.policy import (
    HitlTier,
    PolicyClass,
    PolicyContext,
    ToolDescriptor,
    evaluate_tool_policy,
    policy_call,
)
from condor.tools import ToolRegistry


async def _body(_ctx: object, **_args: object) -> None: ...


def made(name: str = "note.append", **more: Any) -> ToolDescriptor:
    """A tool with a body."""
    return ToolDescriptor(**{"name": name, "policy_class": PolicyClass.READ, "function": _body, **more})


LOW: dict[str, Any] = {"policy_class": PolicyClass.MUTATE, "hitl_tier": HitlTier.LOW}
LEGACY: dict[str, Any] = {"policy_class": None, "metadata": {"mutating": True}}
SILENT: dict[str, Any] = {"policy_class": None}


def test_tools_are_found_by_name() -> None:
    """Each tool once, in the order of registration."""
    first, second = made("a"), made("b", **LOW)
    registry = ToolRegistry([first, second])
    assert list(registry) == [first, second]
    assert len(registry) == 2
    assert "a" in registry
    assert "A" not in registry
    assert registry.get("b") is second
    assert registry.find("b") is second
    assert registry.find("c") is None


def test_an_unknown_name_is_refused_with_what_there_is() -> None:
    """A typing error is seen at once; a foreign name is quoted safely."""
    with pytest.raises(UnknownId, match=r"^no tool 'c\\x1b': there are a, b$"):
        ToolRegistry([made("b"), made("a")]).get("c\x1b")
    with pytest.raises(UnknownId, match=r"^no tool 'a': there are none$"):
        ToolRegistry([]).get("a")


REFUSED: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("'note' is not a tool; decorate the function with @tool(…)", ["note"], {}),
    ("None is not a tool; decorate the function with @tool(…)", [None], {}),
    ("a second tool is called note.append; rename one", [made(), made(**LOW)], {}),
    (
        "tool note.append declares nothing: give it a policy_class (READ, MUTATE, EXEC or COMMS)",
        [made(**SILENT)],
        {},
    ),
    (
        "tool note.append declares nothing: give it a policy_class (READ, MUTATE, EXEC or COMMS)",
        [made(policy_class=None, metadata={"mutating": False})],
        {"static_classes": {"note.other": PolicyClass.MUTATE}},
    ),
    (
        "tool note.append: declared read, but the static registry says mutate; one is wrong",
        [made()],
        {"static_classes": {"note.append": PolicyClass.MUTATE}},
    ),
    (
        "tool note.append: declared read, but the static registry says reed; one is wrong",
        [made()],
        {"static_classes": {"note.append": "reed"}},
    ),
    ("tool note.append has no function; decorate one with @tool(…)", [made(function=None)], {}),
]


@pytest.mark.parametrize(("message", "tools", "options"), REFUSED)
def test_carelessness_is_refused(message: str, tools: list[Any], options: dict[str, Any]) -> None:
    """The gate does not hang on an author's diligence: a process with such a tool does not start."""
    with pytest.raises(RegistrationRefused) as refusal:
        ToolRegistry(tools, **options)
    assert message == str(refusal.value)


@pytest.mark.parametrize("name", ["medicati\u043en.manage", "Medication.Manage", "medication.manage "])
def test_a13_a_look_alike_never_reaches_the_registry(name: str) -> None:
    """The 2nd, 3rd and 4th name of the case cannot be constructed; the 1st cannot be taken twice."""
    with pytest.raises(RegistrationRefused):
        ToolRegistry([made("medication.manage"), made(name)])
    with pytest.raises(RegistrationRefused, match="a second tool"):
        ToolRegistry([made("medication.manage"), made("medication.manage")])


def judged(registry: ToolRegistry, name: str, autonomy: str = "autonomous") -> str:
    """The rule that decides a call of a registered tool."""
    found = registry.get(name)
    call = policy_call(found, {}, registered=registry.registered_class(name))
    return evaluate_tool_policy(call, PolicyContext(autonomy=autonomy)).rule_id


def test_each_way_to_declare_a_class_counts() -> None:
    """Declared, static, or by the legacy flag: the class is resolved in that order, the rule follows."""
    registry = ToolRegistry(
        [
            made("declared", **LOW),
            made("static.read", **SILENT),
            made("static.comms", **LEGACY),
            made("static.typo", **SILENT),
            made("legacy", **LEGACY),
            made("both", policy_class=PolicyClass.EXEC),
        ],
        static_classes={
            "static.read": PolicyClass.READ,
            "static.comms": PolicyClass.COMMS,
            "static.typo": "reed",  # type: ignore[dict-item]
            "both": PolicyClass.COMMS,
        },
    )
    assert {tool.name: judged(registry, tool.name) for tool in registry} == {
        "declared": "mutate.low-tier-autonomous-allow",
        "static.read": "read.allow",
        "static.comms": "comms.always-approval",
        "static.typo": "unknown.fail-closed",
        "legacy": "mutate.high-tier-always-approval",
        "both": "exec.always-approval",
    }
    assert {tool.name: registry.policy_class(tool) for tool in registry} == {
        "declared": PolicyClass.MUTATE,
        "static.read": PolicyClass.READ,
        "static.comms": PolicyClass.COMMS,
        "static.typo": "reed",
        "legacy": PolicyClass.MUTATE,
        "both": PolicyClass.EXEC,
    }


def test_a_static_read_does_not_beat_the_legacy_flag() -> None:
    """A10 by another road: the call of a tool that says both is never run unseen."""
    options = {"static_classes": {"billing.write": PolicyClass.READ}}
    try:
        registry = ToolRegistry([made("billing.write", **LEGACY)], **options)
    except RegistrationRefused:
        return
    assert judged(registry, "billing.write") == "unknown.fail-closed"


def test_the_caller_cannot_change_a_class_later() -> None:
    """The static registry is read once."""
    classes = {"old": PolicyClass.MUTATE}
    registry = ToolRegistry([made("old", **SILENT)], static_classes=classes)
    classes["old"] = PolicyClass.READ
    assert judged(registry, "old") == "mutate.high-tier-always-approval"
