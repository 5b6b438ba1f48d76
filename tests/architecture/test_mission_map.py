"""The mission map leads where it says: what is here resolves, what is planned does not exist yet."""

from __future__ import annotations

import importlib
import re

import pytest

from tests.architecture.house import ROOT

TEXT = (ROOT / "docs" / "mission-map.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (.+?) \| `(condor[\w.]*)` \|", re.MULTILINE)


def section(title: str) -> str:
    """A second-level section of the map."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found, f"the map has no section {title!r}"
    return found.group(1)


def paths(title: str) -> list[str]:
    """Our paths in a section, each once, in order."""
    return list(dict.fromkeys(path for _, path in ROW.findall(section(title))))


def resolve(path: str) -> object:
    """The module or attribute a dotted path names.

    Raises:
        LookupError: there is none.
    """
    names = path.split(".")
    for end in range(len(names), 0, -1):
        module = ".".join(names[:end])
        try:
            found: object = importlib.import_module(module)
        except ModuleNotFoundError as missing:
            if missing.name and not module.startswith(missing.name):
                raise  # a dependency of the module is missing, not the module
            continue
        for name in names[end:]:
            if not hasattr(found, name):
                raise LookupError(path)
            found = getattr(found, name)
        return found
    raise LookupError(path)


@pytest.mark.parametrize("path", paths("Here today"))
def test_what_is_here_resolves(path: str) -> None:
    """A reader of the source documents finds the box in our code."""
    resolve(path)


@pytest.mark.parametrize("path", paths("Arrives with"))
def test_what_is_planned_is_not_here_yet(path: str) -> None:
    """A row moves up when its code arrives; until then it promises nothing."""
    with pytest.raises(LookupError):
        resolve(path)


@pytest.mark.parametrize("title", ["Here today", "Arrives with"])
def test_every_row_has_a_path_that_is_checked(title: str) -> None:
    """No row escapes the two tests above by its spelling."""
    rows = [line for line in section(title).splitlines() if line.startswith("| ")]
    heads = sum(line.startswith("| source |") for line in rows)
    assert len(ROW.findall(section(title))) == len(rows) - heads


def test_no_source_name_stands_in_two_rows() -> None:
    """One name, one home."""
    names = [name for title in ("Here today", "Arrives with") for name, _ in ROW.findall(section(title))]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("path", ["condor.nowhere", "condor.core.errors.Nothing", "nowhere.at_all"])
def test_a_planted_dead_path_is_found(path: str) -> None:
    """The check is not blind."""
    with pytest.raises(LookupError):
        resolve(path)
