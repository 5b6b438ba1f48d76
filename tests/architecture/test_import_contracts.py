"""The import contracts bite: a copy of the house with one wrong import for each of them breaks every one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.architecture.house import ROOT, SRC

if TYPE_CHECKING:
    from pathlib import Path

#: One wrong import a contract, as (module, line); a new contract needs a new line here.
PLANTED = {
    "floors": ("condor/core/ids.py", "import condor.ports"),
    "core-floors": ("condor/core/ids.py", "import condor.core.run"),
    "packs": ("condor/tools/registry.py", "import condor_hms"),
    "one-join": ("condor/core/graph/compiled.py", "import condor.core.policy"),
    "one-funnel": ("condor/pump/phases/dispatch.py", "import condor.pump.suspend_funnel"),
    "one-card": ("condor/pump/loop.py", "import condor.core.frames.suspend_card"),
    "one-root": ("condor/runtime/runtime.py", "import condor.store.sqlite"),
    "one-model-library": ("condor/models/planner.py", "import pydantic_ai"),
    "one-job-library": ("condor/store/postgres.py", "import procrastinate"),
    "pure-core": ("condor/core/ids.py", "import random"),
    "acyclic": ("condor/ports/__init__.py", "import condor.tools"),
}


def contracts() -> set[str]:
    """The contracts that stand in the configuration."""
    return set(re.findall(r"^\[importlinter:contract:([\w-]+)\]$", config(), re.MULTILINE))


def config() -> str:
    """The import contracts as configured."""
    return (ROOT / ".importlinter").read_text(encoding="utf-8")


def lint(house: Path) -> str:
    """The verdict of import-linter on a house: its last line."""
    ran = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"],
        cwd=house,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(house), "NO_COLOR": "1"},
    )
    found = re.search(r"Contracts: \d+ kept, \d+ broken", ran.stdout)
    assert found, ran.stdout + ran.stderr
    return found.group()


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the code and its contracts, to be spoiled."""
    for package in ("condor", "condor_hms"):
        shutil.copytree(
            SRC / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "data")
        )
    (tmp_path / ".importlinter").write_text(config(), encoding="utf-8")
    return tmp_path


def test_every_contract_has_its_planted_break() -> None:
    """A contract that nobody tried to break may hold nothing."""
    assert contracts() == set(PLANTED)


def test_the_planted_breaks_break_every_contract(house: Path) -> None:
    """None of the contracts is worded so that it always holds."""
    for module, line in PLANTED.values():
        path = house / module
        path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    assert lint(house) == f"Contracts: 0 kept, {len(PLANTED)} broken"
