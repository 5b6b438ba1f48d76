"""Values without a run-time guard: as values they are what a frozen dataclass is, and mypy holds the rest."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from condor.core.values import dataclass

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A value."""

    x: int
    y: int = 0


def test_equal_values_are_one_value() -> None:
    """Equality and hash go by the fields, as with a guard."""
    assert Point(x=1) == Point(x=1, y=0) != Point(x=2)
    assert {Point(x=1), Point(x=1, y=0), Point(x=1, y=1)} == {Point(x=1), Point(x=1, y=1)}
    assert repr(Point(x=1)) == "Point(x=1, y=0)"


def test_it_is_a_dataclass_with_slots_and_keywords() -> None:
    """``replace`` and ``fields`` work; a field that is none, and a position, are refused at run time too."""
    point = Point(x=1)
    assert dataclasses.replace(point, y=3) == Point(x=1, y=3)
    assert [field.name for field in dataclasses.fields(Point)] == ["x", "y"]
    assert not hasattr(point, "__dict__")
    with pytest.raises(AttributeError):
        point.z = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        Point(1)  # type: ignore[call-arg]


#: A line that ends in ``# refused`` must be an error, every other line must not.
CODE = """
import dataclasses
from condor.core.ids import StepId
from condor.core.outcome import StepStatus
from condor.ports.store import StepRow

row = StepRow(step_id=StepId("a"), status=StepStatus.PENDING)
row.code = "x"  # refused
row.nothing = "x"  # refused
StepRow(StepId("a"), StepStatus.PENDING)  # refused
dataclasses.replace(row, nothing="x")  # refused
dataclasses.replace(row, code="x")
"""


@pytest.mark.slow
def test_changing_a_value_is_a_type_error(tmp_path: Path) -> None:
    """The guard that is not there at run time is there whenever the types are checked."""
    snippet = tmp_path / "changing.py"
    snippet.write_text(CODE, encoding="utf-8")
    cache = str(ROOT / ".mypy_cache" / "snippets")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", cache]
    said = subprocess.run(
        [*command, "--config-file", os.devnull, str(snippet)],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        check=False,
    )
    wrong = {int(line.split(":")[1]) for line in said.stdout.splitlines() if " error: " in line}
    expected = {at for at, line in enumerate(CODE.splitlines(), 1) if line.endswith("# refused")}
    assert expected == wrong, said.stdout
