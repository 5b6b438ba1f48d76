"""One word, one meaning: no identifier says "mutation" without saying which.

A plan mutation edits the compiled graph of one run. A record write is a tool call of policy class
``mutate``. The first is always spelled with both words; the second has no noun with ``mutat`` in it,
only the class's value and the legacy flag that stands for it.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from tests.architecture.house import SRC, source_files

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Where the class's word may stand: the policy, the tool side and its packs, and the one join.
POLICY_SIDE = (
    "condor/core/policy/",
    "condor/tools/",
    "condor/core/compiler/leaves/tool_call.py",
    "condor_hms/",
)
PLAN_WORD = re.compile(r"plan_?mutation", re.IGNORECASE)
POLICY_WORD = re.compile(r"\A(mutate|mutating|MUTATE)\Z")


def identifiers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name a module uses or makes, with its line."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name))
            ):
                yield node.lineno, name
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name
            case ast.alias(name=name, asname=asname):
                yield node.lineno, asname or name.rpartition(".")[2]
            case _:
                pass


def ambiguous(where: str, text: str) -> list[str]:
    """The identifiers of a module (and its own name) that say "mutation" without saying which."""
    stem = where.rpartition("/")[2].removesuffix(".py")
    names = [(0, stem), *identifiers(ast.parse(text))]
    return [f"{where}:{line} {name}" for line, name in names if not _says_which(where, name)]


def _says_which(where: str, name: str) -> bool:
    if "mutat" not in name.lower():
        return True
    # INVARIANT: nothing is left of "mutat" once the two-word form is taken out.
    if "mutat" not in PLAN_WORD.sub("", name).lower():
        return True
    return bool(POLICY_WORD.match(name)) and (
        where.startswith(POLICY_SIDE) or name == "MUTATE"  # a member of PolicyClass, which says which
    )


def test_every_identifier_says_which_mutation() -> None:
    """No reader of the code can take one gate for the other."""
    wrong = [
        line
        for path in source_files()
        for line in ambiguous(path.relative_to(SRC).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert not wrong, "say plan_mutation, or PolicyClass.MUTATE:\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("condor/core/recovery/gate.py", "def decide_mutation(): ..."),
        ("condor/core/recovery/gate.py", "class MutationEngine: ..."),
        ("condor/core/recovery/gate.py", "budget.mutations_max"),
        ("condor/core/recovery/gate.py", "f(mutation=1)"),
        ("condor/core/recovery/gate.py", "from x import y as mutated"),
        ("condor/core/recovery/gate.py", "is_mutating = 1"),
        ("condor/core/recovery/mutation_engine.py", ""),
        ("condor/core/recovery/gate.py", "plan_mutation_or_mutation = 1"),
        ("condor/pump/loop.py", "tool.mutating"),
        ("condor/core/policy/rules.py", "def mutation_allowed(): ..."),
    ],
)
def test_a_planted_ambiguity_is_found(where: str, text: str) -> None:
    """The check is not blind: each of these would mislead a reader."""
    assert ambiguous(where, text)


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("condor/core/recovery/decision.py", "class PlanMutationDecision: ..."),
        ("condor/core/recovery/limits.py", "plan_mutations_max = 3"),
        ("condor/core/recovery/decision.py", "PLAN_MUTATION_DECISION_KINDS = ()"),
        ("condor/core/policy/classes.py", "class PolicyClass: MUTATE = 'mutate'"),
        ("condor/core/policy/resolve.py", "metadata.mutating"),
        ("condor/core/compiler/leaves/tool_call.py", "PolicyClass.MUTATE"),
        ("condor/pump/loop.py", "record_write = 1"),
        ("condor/cli/policy.py", "x = 'a mutation in a text is prose, not a name'"),
    ],
)
def test_the_two_words_pass(where: str, text: str) -> None:
    """What says which is let through."""
    assert ambiguous(where, text) == []
