"""What the documents say can be followed: links resolve, code compiles, each dependency has its reason."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.architecture.house import ROOT, documents, shown

if TYPE_CHECKING:
    from pathlib import Path

LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


def prose(text: str) -> str:
    """A document without its code blocks and code spans."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


def anchors(text: str) -> set[str]:
    """The fragments a Markdown renderer gives to a document's headings."""
    headings = HEADING.findall(FENCE.sub("", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(path: Path, text: str) -> list[str]:
    """The relative links of a document that lead nowhere."""
    broken = []
    for target in LINK.findall(prose(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, fragment = target.partition("#")
        there = (path.parent / name).resolve() if name else path
        if not (there.exists() and _has_anchor(there, fragment)):
            broken.append(target)
    return broken


def _has_anchor(path: Path, fragment: str) -> bool:
    return not fragment or path.suffix != ".md" or fragment in anchors(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", documents(), ids=shown)
def test_every_relative_link_resolves(path: Path) -> None:
    """A reader who follows a link arrives."""
    assert broken_links(path, path.read_text(encoding="utf-8")) == []


def test_a_planted_dead_link_is_found(tmp_path: Path) -> None:
    """The check is not blind, neither to files nor to headings."""
    page = tmp_path / "page.md"
    page.write_text("# One heading\n", encoding="utf-8")
    text = "[a](nowhere.md) [b](page.md#no) [c](page.md#one-heading) `[d](code.md)`"
    assert broken_links(page, text) == ["nowhere.md", "page.md#no"]


@pytest.mark.parametrize("path", documents(), ids=shown)
def test_every_python_block_compiles(path: Path) -> None:
    """What is shown as Python is Python."""
    for language, code in FENCE.findall(path.read_text(encoding="utf-8")):
        if language == "python":
            compile(code, shown(path), "exec")


def test_the_readme_example_runs(tmp_path: Path) -> None:
    """A newcomer who copies the first example sees what it says."""
    code = dict(FENCE.findall((ROOT / "README.md").read_text(encoding="utf-8")))["python"]
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split()[-2:] == ["approval.required", "succeeded"]


def test_every_dependency_has_its_reason() -> None:
    """No package is installed that nobody can say what for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    reasons = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    asked = [
        *project["project"]["dependencies"],
        *(name for names in project["project"]["optional-dependencies"].values() for name in names),
        *(name for names in project["dependency-groups"].values() for name in names),
    ]
    names = {re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0] for requirement in asked}
    told = set(re.findall(r"^\| `([^`]+)` \|", reasons, re.MULTILINE))
    assert names == told


def test_decision_records_are_numbered_without_gaps() -> None:
    """A decision is superseded by a later one, never taken out."""
    assert [f"{number:04}" for number in range(1, len(DECISIONS) + 1)] == [
        path.name[:4] for path in DECISIONS
    ]


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.name)
def test_a_decision_record_is_whole(path: Path) -> None:
    """Each says why, what, and what follows, on half a page."""
    text = path.read_text(encoding="utf-8")
    number = str(int(path.name[:4]))
    assert text.startswith(f"# {number}. ")
    assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert len(text.splitlines()) <= 45
