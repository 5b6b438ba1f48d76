"""What mypy says to an author: a record write without its tier does not type-check."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: A line that ends in ``# refused`` must be an error, every other line must not.
AUTHOR = """
from condor import HitlTier, PolicyClass, ToolContext, tool


@tool("a.read", policy_class=PolicyClass.READ)
async def read(ctx: ToolContext, patient: str) -> dict[str, str]:
    return {"patient": patient}


@tool("a.low", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, ops={"create"})
async def low(ctx: ToolContext, patient: str) -> None: ...


@tool("a.exec", policy_class=PolicyClass.EXEC)
def run(ctx: ToolContext) -> None: ...


@tool("a.legacy", metadata={"mutating": True})
def legacy(ctx: ToolContext) -> None: ...


tool("x", policy_class=PolicyClass.MUTATE)  # refused
tool("x", policy_class=PolicyClass.MUTATE, hitl_tier=None)  # refused
tool("x", policy_class=PolicyClass.MUTATE, hitl_tier="low")  # refused
tool("x", policy_class=PolicyClass.MUTATE, hitl_tier="LOW", ops={"a"})  # refused
tool("x", policy_class="mutate", hitl_tier=HitlTier.LOW)  # refused
tool("x", policy_class="read")  # refused
tool("x", policy_class=PolicyClass.READ, hitl_tier=HitlTier.LOW)  # refused
tool("x", policy_class=PolicyClass.READ, autonomy="autonomous")  # refused
tool("x", policy_class=PolicyClass.READ, on_deny="ABORT")  # refused
tool("x", hitl_tier=HitlTier.LOW)  # refused
tool("x", policy_class=PolicyClass.READ)
"""


@pytest.mark.slow
def test_a_record_write_without_a_tier_is_a_type_error(tmp_path: Path) -> None:
    """mypy demands the tier where it is forgotten (mission: ``MutateRequiresHitlTier``), and only there."""
    snippet = tmp_path / "author.py"
    snippet.write_text(AUTHOR, encoding="utf-8")
    said = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context"),
            *(
                "--config-file",
                os.devnull,
                "--cache-dir",
                str(ROOT / ".mypy_cache" / "snippets"),
                str(snippet),
            ),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        check=False,
    )
    wrong = {int(line.split(":")[1]) for line in said.stdout.splitlines() if " error: " in line}
    expected = {at for at, line in enumerate(AUTHOR.splitlines(), 1) if line.endswith("# refused")}
    assert expected == wrong, said.stdout
