"""A small slice of the scale measurement: many parked runs cost a new process nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.architecture.house import ROOT

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 2_000


@pytest.mark.slow
def test_parked_runs_cost_a_new_process_nothing(tmp_path: Path) -> None:
    """Start-up, memory and the first cards do not grow with what is parked; an approval still runs."""
    command = [sys.executable, "-m", "bench", "parked", "--count", str(COUNT)]
    command += ["--results", str(tmp_path), "--directory", str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads((tmp_path / "parked.json").read_text(encoding="utf-8"))
    assert found["count"] == COUNT
    assert found["cards"] == 50
    assert found["approved"] == 50
    # Loose bounds for a busy machine; `make bench` measures the promised ones at 100,000.
    assert found["startUpMs"] < 2_000
    assert found["addedMbOverEmpty"] < 20
    assert found["firstCardsMs"] < 500
