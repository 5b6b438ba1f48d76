"""The examples run as their first lines say, print what they promise, and stay short."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
#: What each prints, in order.
SHOWN = {
    "refund.py": [
        "Refund a payment: Refund 45.00 to Mia Hall (mutate.high-tier-always-approval)",
        "Refunded 45.00 on order A-7: payment 1.",
        "audit:",
    ],
    "deployment.py": [
        "Deploy: exec.always-approval []",
        "env.manage: mutate.high-tier-always-approval ['destructive-op']",
        "Set a flag: done.",
        "Deploy: done.",
        "⚠ Not completed: “env.manage” was declined by Ola (not today). It was not run.",
        "audit:",
    ],
}


def test_every_example_is_run() -> None:
    """An example that nobody runs rots."""
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_runs_without_a_terminal(name: str, tmp_path: Path) -> None:
    """Card, closing and an unbroken audit, from a directory of its own."""
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert len(lines) == len(SHOWN[name])
    assert [line for line, start in zip(lines, SHOWN[name], strict=True) if not line.startswith(start)] == []
    assert lines[-1].endswith("unbroken']")


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_is_read_at_a_glance(name: str) -> None:
    """Under sixty lines each."""
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) < 60
