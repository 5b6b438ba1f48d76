"""Tests that fail when the behaviour is broken, shown by breaking it.

Each break is applied to a copy of the source and the tests that hold the behaviour are run on it, each in a
process of its own: every one must fail. A few in `make test`; `make broken` runs all.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.architecture.house import ROOT
from tests.architecture.test_cases import ROWS, TEST
from tests.broken.breaks import BREAKS, Break

if TYPE_CHECKING:
    from pathlib import Path

#: What pytest exits with when tests failed; a test that cannot be found or loaded exits otherwise.
_TESTS_FAILED = 1
#: Longest that a test may take on broken source; what hangs has not passed.
_PATIENCE_S = 240
#: Breaks in `make test`: quick ones, of different kinds.
_SLICE = ("no call asks", "the last of two keys counts", "what did not happen is not said")

#: Cases that are not about approvals, and who breaks what they rest on.
OTHERS = {
    **dict.fromkeys(("A01", "A02", "A04", "A05", "A07", "A10", "A11", "A13"), "the policy's own properties"),
    **dict.fromkeys(("A18", "49"), "recovery, with planted bugs of its own"),
    **dict.fromkeys(("A38", "B11", "B12", "B18", "B19", "B24"), "the edge: sign-in, sites, sizes"),
    **dict.fromkeys(("A39",), "the audit chain, whose tests are planted tampering"),
    **dict.fromkeys(("A34", "A37"), "what is drawn, tried in a browser"),
    "A32": "the stores' own conformance",
    "B16": "addresses that a record's client asks",
    **dict.fromkeys(("B03", "B14", "B15"), "results and stored bytes"),
    "B02": "foreign text in a closing, held by properties",
    "2": "the import contracts, whose tests plant breaks",
}
#: Rows of a case that is about approvals otherwise.
OTHER_ROWS = {
    "tests/server/test_privacy.py::test_no_record_is_logged_counted_or_repeated",
    "tests/core/observers/test_claim_guard.py::test_a_hundred_kilobytes_take_no_time",
}

HELD = {f"tests/{test}" for one in BREAKS for test in one.tests}
#: Break and one test that must notice it.
PAIRS = [(one, test) for one in BREAKS for test in one.tests]


@pytest.mark.parametrize("one", BREAKS, ids=lambda one: one.name)
def test_a_break_still_has_its_place(one: Break) -> None:
    """What it replaces stands in the source once, what comes of it is Python, its tests are there."""
    after: dict[str, str] = {}
    for edit in one.edits:
        text = after.get(edit.file) or (ROOT / "src" / edit.file).read_text(encoding="utf-8")
        assert text.count(edit.old) == 1, f"{edit.file} has {text.count(edit.old)} times: {edit.old}"
        after[edit.file] = text.replace(edit.old, edit.new)
    for file, text in after.items():
        ast.parse(text, file)
    for test in one.tests:
        path, _, named = test.partition("::")
        name = named.partition("[")[0]
        source = (ROOT / "tests" / path).read_text(encoding="utf-8")
        assert f"def {name}(" in source, test


def test_names_are_distinct() -> None:
    """A break is called by its name."""
    assert len({one.name for one in BREAKS}) == len(BREAKS)
    assert set(_SLICE) <= {one.name for one in BREAKS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_every_case_about_approvals_is_broken(row: tuple[str, str, str]) -> None:
    """Each row that names a test has a break that the test must notice, or is not about approvals."""
    named = TEST.fullmatch(row[2])
    if named is None or row[0] in OTHERS:
        return
    test = f"{named[1]}::{named[2]}"
    assert test in HELD or test in OTHER_ROWS


def noticed(one: Break, test: str, folder: Path) -> tuple[int, str]:
    """How the test ends on broken source, and what it says."""
    source = folder / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    for edit in one.edits:
        file = source / edit.file
        file.write_text(file.read_text(encoding="utf-8").replace(edit.old, edit.new), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"tests/{test}"]
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1", "CI": "1"}
    try:
        ran = subprocess.run(
            [*command, "--basetemp", str(folder / "tmp")],
            cwd=ROOT,
            env={name: value for name, value in environment.items() if not name.startswith("PYTEST_")},
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _TESTS_FAILED, "it hung"
    return ran.returncode, ran.stdout[-3_000:]


@pytest.mark.slow
@pytest.mark.parametrize("name", _SLICE)
def test_a_slice_of_the_breaks_is_noticed(name: str, tmp_path: Path) -> None:
    """One test of each: it fails on broken source."""
    (one,) = [one for one in BREAKS if one.name == name]
    code, said = noticed(one, one.tests[0], tmp_path)
    assert code == _TESTS_FAILED, said


@pytest.mark.slow
@pytest.mark.load
@pytest.mark.parametrize(("one", "test"), PAIRS, ids=lambda part: getattr(part, "name", part))
def test_a_break_is_noticed(one: Break, test: str, tmp_path: Path) -> None:
    """Every test of every break fails on broken source."""
    code, said = noticed(one, test, tmp_path)
    assert code == _TESTS_FAILED, said
