"""What is installed is what was locked: every pin hashed, no address of any index in a lock."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from typing import TYPE_CHECKING

import pytest

from tests.architecture.house import ROOT, SRC, repository_files, shown

if TYPE_CHECKING:
    from pathlib import Path

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

PIN = re.compile(r"^[a-z0-9][a-z0-9._-]*(\[[a-z0-9,._-]+\])?==\S+( ; .+)? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$")


#: Import name to the distributions that bring it.
DISTRIBUTIONS = {
    name: [re.sub(r"[-_.]+", "-", found).lower() for found in distributions]
    for name, distributions in packages_distributions().items()
}


def canonical(name: str) -> str:
    """A distribution's name as locks spell it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^A-Za-z0-9._-]", name, maxsplit=1)[0]).lower()


def pinned(lock: str) -> dict[str, str]:
    """The versions of a lock, by distribution."""
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9._-]+)(?:\[.*\])?==(\S+)", text, re.MULTILINE))


def test_one_lock_for_the_runtime_and_one_for_each_group() -> None:
    """Nothing is installed from an open range."""
    expected = {"runtime.txt", *(f"{group}.txt" for group in PROJECT["dependency-groups"])}
    assert expected == {path.name for path in LOCKS}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_holds_pins_and_hashes_and_no_address(lock: Path) -> None:
    """A lock says which bytes, never where from: it works behind any mirror and sends nobody anywhere."""
    lines = lock.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "://" in line] == []
    wrong = [
        line
        for line in lines
        if not (line.startswith("#") or PIN.match(line) or HASH.match(line) or not line)
    ]
    assert wrong == []


def test_npm_locks_hold_digests_and_no_address() -> None:
    """The same for the client packages that the wire tests read our frames with."""
    locks = [path for path in repository_files() if path.name == "package-lock.json"]
    packages = {
        f"{shown(lock)}: {name}": package
        for lock in locks
        for name, package in json.loads(lock.read_text(encoding="utf-8"))["packages"].items()
        if name
    }
    assert [where for where, package in packages.items() if "resolved" in package] == []
    assert [where for where, package in packages.items() if "integrity" not in package] == []


def test_the_locks_cover_what_the_project_asks_for() -> None:
    """A dependency that was added without `make lock` is found here, not at a user's install."""
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    runtime = [*project["dependencies"], *(name for names in extras.values() for name in names)]
    asked = {"runtime.txt": runtime}
    asked |= {f"{group}.txt": names for group, names in PROJECT["dependency-groups"].items()}
    missing = {
        f"{lock}: {name}"
        for lock, names in asked.items()
        for name in names
        if canonical(name) not in pinned(lock)
    }
    assert missing == set()


#: Rooms that may import more than the base, and the extra that brings it.
ROOMS = {
    "condor/dispatch/workers": "workers",
    "condor_hms": "hms",
    "condor/models": "models",
    "condor/runtime/signing": "checkpoints",
    "condor/server": "server",
    "condor/store": "postgres",
}


def test_what_is_imported_is_declared() -> None:
    """Nothing works only because a dependency of a dependency happens to be there."""
    project = PROJECT["project"]
    base, extras = project["dependencies"], project["optional-dependencies"]
    declared = {"condor": {canonical(name) for name in base}}
    for room, extra in ROOMS.items():
        declared[room] = declared["condor"] | {canonical(name) for name in extras[extra]}
    undeclared = {
        f"{shown(path)}: {name}"
        for package, names in declared.items()
        for path in sorted((SRC / package).rglob("*.py"))
        if package != "condor" or not any(path.is_relative_to(SRC / room) for room in ROOMS)
        for name in imported(path.read_text(encoding="utf-8"))
        if not any(distribution in names for distribution in DISTRIBUTIONS.get(name, ["nowhere"]))
    }
    assert undeclared == set()


def imported(text: str) -> set[str]:
    """The third-party packages that a module imports, wherever in it."""
    roots: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                roots |= {alias.name.partition(".")[0] for alias in names}
            case ast.ImportFrom(module=str(module), level=0):
                roots.add(module.partition(".")[0])
            case _:
                pass
    return roots - sys.stdlib_module_names - {"condor", "condor_hms"}


def test_the_locks_agree() -> None:
    """What two locks share is one version, so that groups install beside each other."""
    runtime = pinned("runtime.txt")
    clashes = {
        f"{lock.name}: {name}"
        for lock in LOCKS
        for name, version in pinned(lock.name).items()
        if runtime.get(name, version) != version
    }
    assert clashes == set()
