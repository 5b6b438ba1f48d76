"""What an author left out is found, at the level at which it hurts."""

from __future__ import annotations

from typing import Any

import pytest

from condor.core.policy import ArgSpec, HitlTier, PolicyClass, ToolDescriptor
from condor.tools.lint import lint_tools


async def body(*_: object, **__: object) -> object:
    """Any function."""
    return None


def described(**more: Any) -> ToolDescriptor:
    """A record write of high tier with nothing left out."""
    options: dict[str, Any] = {
        "name": "notes.sign",
        "description": "Sign a note.",
        "policy_class": PolicyClass.MUTATE,
        "hitl_tier": HitlTier.HIGH,
        "ops": {"sign"},
        "roles": {"clerk"},
        "noun": "the signature",
        "args": (ArgSpec(name="note", label="Note"),),
        "preview": body,
        "reconcile": body,
        "function": body,
    }
    return ToolDescriptor(**(options | more))


def found(tool: ToolDescriptor) -> list[tuple[str, str]]:
    """Level and code of every finding."""
    return [(finding.level, finding.code) for finding in lint_tools([tool])]


def test_a_whole_descriptor_is_clean() -> None:
    """Nothing is found where nothing was left out."""
    assert found(described()) == []


@pytest.mark.parametrize(
    ("left_out", "expected"),
    [
        ({"roles": set()}, ("error", "roles-missing")),
        ({"preview": None}, ("error", "preview-missing")),
        ({"preview": None, "hitl_tier": HitlTier.LOW}, ("warning", "preview-missing")),
        ({"approver_roles": {"auditor"}}, ("error", "nobody-answers")),
        ({"reconcile": None}, ("warning", "reconcile-missing")),
        ({"noun": ""}, ("warning", "noun-missing")),
        ({"description": " "}, ("warning", "description-missing")),
        ({"ops": set()}, ("warning", "ops-missing")),
        ({"args": (ArgSpec(name="note"),)}, ("warning", "label-missing")),
        (
            {"policy_class": None, "hitl_tier": None, "metadata": {"mutating": True}},
            ("warning", "tier-missing"),
        ),
    ],
)
def test_an_omission_is_found(left_out: dict[str, Any], expected: tuple[str, str]) -> None:
    """Each one alone, at its level."""
    assert found(described(**left_out)) == [expected]


def test_what_is_fine_is_not_accused() -> None:
    """An idempotent tool needs no reconcile hook; a low tier needs no roles; a read needs none of it."""
    assert found(described(reconcile=None, idempotent=True)) == []
    assert found(described(hitl_tier=HitlTier.LOW, roles=set())) == []
    assert found(ToolDescriptor(name="x", policy_class=PolicyClass.READ, function=body)) == []


@pytest.mark.parametrize(
    "arg",
    [
        ArgSpec(name="a", label="A", hint={"enum": []}),
        ArgSpec(name="a", label="A", hint={"enum": ["x", "x"]}),
        ArgSpec(name="a", label="A", hint={"enum": [{"label": "no value"}]}),
        ArgSpec(name="a", label="A", hint={"min": 3}),
        ArgSpec(name="a", label="A", type="date", hint={"max": "someday"}),
        ArgSpec(name="a", label="A", type="integer", hint={"max": "9"}),
        ArgSpec(name="a", label="A", hint={"min_length": 0}),
        ArgSpec(name="a", label="A", hint={"textarea": "yes"}),
        ArgSpec(name="a", label="A", hint={"lookup": "patient.search"}),
    ],
    ids=lambda arg: str(dict(arg.hint)),
)
def test_a_malformed_hint_is_found(arg: ArgSpec) -> None:
    """The form would fall back to free text, in silence."""
    assert found(described(args=(arg,))) == [("warning", "hint-malformed")]


def test_a_usable_hint_is_not_accused() -> None:
    """Every kind of hint, as the forms read them."""
    hints: list[dict[str, Any]] = [
        {"type": "code", "hint": {"enum": ["a", {"value": "b", "label": "B"}], "radio": True}},
        {"type": "array", "hint": {"enum": ["a"], "multi": True}},
        {"type": "date", "hint": {"min": "today-1y", "max": "2030-01-01"}},
        {"type": "string", "hint": {"format": "date", "min": "today"}},
        {"type": "decimal", "hint": {"min": 0.5, "max": 9}},
        {"type": "string", "hint": {"min_length": 2, "max_length": 9, "textarea": True}},
        {"type": "reference", "hint": {"lookup": {"tool": "notes.sign"}}},
        {"type": "code", "hint": {"lookup": {"terminology": "RxNorm"}, "vs": "http://example.org/units"}},
    ]
    args = tuple(ArgSpec(name=f"a{at}", label="A", **hint) for at, hint in enumerate(hints))
    assert found(described(args=args)) == []


def test_what_tools_say_of_each_other_is_checked() -> None:
    """An alias group of one, a lookup with a tool that is not here."""
    lookup = ArgSpec(name="a", label="A", hint={"lookup": {"tool": "nobody.search"}})
    assert found(described(args=(lookup,))) == [("warning", "lookup-unknown")]
    alone = described(alias_group="notes")
    assert found(alone) == [("warning", "alias-alone")]
    assert lint_tools([alone, described(name="notes.other", alias_group="notes")]) == []


def test_a_program_that_anybody_may_approve_is_found() -> None:
    """As a message is; a read is approved by nobody, whoever may call it."""
    program = described(policy_class=PolicyClass.EXEC, hitl_tier=None, roles=set())
    assert found(program) == [("warning", "roles-missing")]
    read = ToolDescriptor(name="trail", policy_class=PolicyClass.READ, roles={"auditor"}, function=body)  # type: ignore[arg-type]
    assert found(read) == []


def test_findings_are_in_order_of_tool_and_level() -> None:
    """The list reads the same every time, errors of a tool first."""
    findings = lint_tools([described(name="b", roles=set(), noun=""), described(name="a", noun="")])
    assert [(one.tool, one.level) for one in findings] == [("a", "warning"), ("b", "error"), ("b", "warning")]
