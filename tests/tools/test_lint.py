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


def test_findings_are_in_order_of_tool_and_level() -> None:
    """The list reads the same every time, errors of a tool first."""
    findings = lint_tools([described(name="b", roles=set(), noun=""), described(name="a", noun="")])
    assert [(one.tool, one.level) for one in findings] == [("a", "warning"), ("b", "error"), ("b", "warning")]
