"""The plan side asks the tool policy in one module.

The import contract says which modules may know the policy's types; here is who may *ask* it: the leaf that
runs a tool call, and whoever only explains what it would say.
"""

from __future__ import annotations

import ast

import pytest

from tests.architecture.house import SRC, source_files

#: The questions. Whoever utters one of these decides whether a call needs a human.
QUESTIONS = frozenset({"evaluate_by_rules", "evaluate_tool_policy"})
#: Who may. The policy itself; the one join; `condor policy explain` and `condor replay`, which run nothing.
MAY_ASK = ("condor/core/policy/", "condor/core/compiler/leaves/tool_call.py")
EXPLAINS = ("condor/tools/explain.py", "condor/tools/replay.py")


def asks(text: str) -> bool:
    """Whether a module uses one of the questions, under its own name or another."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.alias(name=name) | ast.Name(id=name) | ast.Attribute(attr=name) if name in QUESTIONS:
                return True
            case _:
                pass
    return False


def askers() -> list[str]:
    """Every module that asks the policy."""
    return [
        path.relative_to(SRC).as_posix() for path in source_files() if asks(path.read_text(encoding="utf-8"))
    ]


def test_one_module_of_the_run_asks_the_policy() -> None:
    """No second place can come to decide, or to forget to."""
    assert [where for where in askers() if not where.startswith((*MAY_ASK, *EXPLAINS))] == []


@pytest.mark.parametrize(
    "planted",
    [
        "from condor.core.policy import evaluate_tool_policy as ask",
        "verdict = policy.evaluate_tool_policy(call, context)",
    ],
)
def test_a_planted_question_is_found(planted: str) -> None:
    """The check is not blind."""
    assert asks(planted)
