"""The guides to plans and tools: their examples run, and their tables say what the code says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from condor import PlanRefused, ToolContext
from condor.core.compiler import compile_plan
from condor.core.ids import SAFE_INTEGER_MAX
from condor.core.plan import parse as plan_language
from condor.core.plan import parse_plan
from condor.tools.decorator import ToolOptions
from tests.architecture.house import ROOT
from tests.architecture.test_documents import FENCE

if TYPE_CHECKING:
    from pathlib import Path

PLANS = (ROOT / "docs" / "plans.md").read_text(encoding="utf-8")
TOOLS = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
KNOWN: dict[str, frozenset[str] | None] = {
    "orders.find": frozenset({"customer"}),
    "orders.refund": frozenset({"order", "lines"}),
    "orders.note": frozenset({"refund"}),
    "mail.send": frozenset({"about"}),
}
REFUSED = re.findall(r"^\| `(\{.*\})` \| `(\w+)` \| `([^`]+)` \|$", PLANS, re.MULTILINE)


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return [code for found, code in FENCE.findall(text) if found == language]


def section(text: str, title: str) -> str:
    """What stands below a heading, to the next one."""
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def keys_in(value: Any) -> set[str]:
    """Every key of a plan's own language that a plan uses; arguments are not looked into."""
    found: set[str] = set()
    for step in value["steps"]:
        found |= step.keys() | (keys_in(step["plan"]) if "plan" in step else set())
    return found


def test_the_plan_with_everything_in_it_compiles() -> None:
    """It uses every key there is, and nested steps have the names that the text says."""
    (block,) = blocks(PLANS, "json")
    graph = compile_plan(parse_plan(json.loads(block)), KNOWN)
    assert [node.step_id for node in graph.nodes] == [
        "find",
        "ask",
        "settle/refund",
        "settle/letter",
        "note",
    ]
    assert keys_in(json.loads(block)) == set().union(*plan_language._KEYS.values())


def test_every_key_of_a_plan_is_explained() -> None:
    """No key is missing from the table, and none is in it that a plan does not have."""
    told = re.findall(r"^\| `(\w+)` \|", section(PLANS, "Keys"), re.MULTILINE)
    assert sorted(told) == sorted(set().union(*plan_language._KEYS.values()))


def test_the_limits_of_a_plan_are_the_codes() -> None:
    """The numbers are those that are enforced."""
    told = [int(number) for number in re.findall(r"^\| .* \| (\d+)", section(PLANS, "Limits"), re.MULTILINE)]
    assert told == [
        plan_language.STEPS_MAX,
        plan_language.NESTING_MAX,
        plan_language.ARGS_DEPTH_MAX,
        plan_language._TEXT_CHARS_MAX,
        SAFE_INTEGER_MAX,
    ]


@pytest.mark.parametrize(("plan", "code", "place"), REFUSED, ids=[row[2] for row in REFUSED])
def test_what_the_guide_calls_refused_is_refused(plan: str, code: str, place: str) -> None:
    """With the code and the place that it says."""
    with pytest.raises(PlanRefused) as refusal:
        compile_plan(parse_plan(json.loads(plan)), KNOWN)
    assert (refusal.value.code, refusal.value.path) == (code, place)


def test_there_are_refusals_to_check() -> None:
    """The table is found."""
    assert len(REFUSED) == 10


def test_every_option_of_a_tool_is_explained() -> None:
    """In the order of the type, each once."""
    told = re.findall(r"^\| `(\w+)` \|", section(TOOLS, "What `@tool` takes"), re.MULTILINE)
    assert told == list(ToolOptions.__annotations__)


def test_everything_a_tool_is_told_is_explained() -> None:
    """Each field of the context is named."""
    told = set(re.findall(r"`(\w+)`", section(TOOLS, "What it is told")))
    assert set(ToolContext.__dataclass_fields__) <= told


def test_the_tool_example_runs(tmp_path: Path) -> None:
    """The refund is approved, its outcome unknown, the bank asked; it is paid once."""
    (code,) = blocks(TOOLS, "python")
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "succeeded 1\n"
