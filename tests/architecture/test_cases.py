"""docs/cases.md leads where it says: every test it names is there, every other row names its issue."""

from __future__ import annotations

import ast
import re

import pytest

from tests.architecture.house import ROOT

ROW = re.compile(r"^\| ([AB]\d\d|\d+) \| (.+?) \| (.+?) \|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs" / "cases.md").read_text(encoding="utf-8"))
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def holder(where: str) -> str | None:
    """What is wrong with the last cell of a row; None when nothing is."""
    named = TEST.fullmatch(where)
    if named is None:
        return None if re.fullmatch(r"issue \d+: .+", where) else f"{where} is neither a test nor an issue"
    path = ROOT / named[1]
    if not path.is_file():
        return f"there is no {named[1]}"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return None if named[2] in names else f"{named[1]} has no {named[2]}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_every_case_is_held_or_says_when_it_will_be(row: tuple[str, str, str]) -> None:
    """A reader who follows a case arrives at its test."""
    assert holder(row[2]) is None


def test_no_row_escapes_by_its_spelling() -> None:
    """Every line of the tables is read."""
    text = (ROOT / "docs" / "cases.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ") and "| kind |" not in line]
    assert len(ROWS) == len(lines) > 90


@pytest.mark.parametrize(
    "planted",
    ["`tests/pump/test_gates.py::test_nothing`", "`tests/pump/nowhere.py::test_x`", "later", "issue 7"],
)
def test_a_planted_dead_row_is_found(planted: str) -> None:
    """The check is not blind."""
    assert holder(planted) is not None
