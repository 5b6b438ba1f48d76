"""Every command that a document shows is one that exists, with the options it is shown with."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import click
import pytest

from condor.cli.app import condor
from tests.architecture.house import ROOT, documents, shown

if TYPE_CHECKING:
    from pathlib import Path

CONSOLE = re.compile(r"^```(?:console|sh|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def typed(text: str) -> list[list[str]]:
    """What a reader types, as words; comments and output are left out."""
    lines = [line[2:] for block in CONSOLE.findall(text) for line in block.splitlines() if line[:2] == "$ "]
    return [shlex.split(line, comments=True) for line in lines]


def wrong(words: list[str]) -> str:
    """Why a shown command would not work, or nothing."""
    match words:
        case ["make", *targets]:
            unknown = [name for name in targets if "=" not in name and name not in TARGETS]
            return f"make has no {unknown}" if unknown else ""
        case [command, *arguments] if command.removeprefix(".venv/bin/") == "condor":
            return _wrong_option(condor, arguments)
        case _:
            return ""


def _wrong_option(command: click.Command, arguments: list[str]) -> str:
    while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        name, *arguments = arguments
        if name not in command.commands:
            return f"{command.name} has no command {name}"
        command = command.commands[name]
    options = {name for parameter in command.params for name in parameter.opts} | {"--help", "-h"}
    unknown = [word for word in arguments if word.startswith("--") and word not in options]
    return f"{command.name} has no option {unknown}" if unknown else ""


@pytest.mark.parametrize("path", documents(), ids=shown)
def test_every_command_shown_exists(path: Path) -> None:
    """A reader who types what a document shows is not told that there is no such thing."""
    lines = typed(path.read_text(encoding="utf-8"))
    assert {" ".join(words): why for words in lines if (why := wrong(words))} == {}


@pytest.mark.parametrize(
    "planted",
    ["make nonsense", "condor nonsense", ".venv/bin/condor run --nonsense", "condor pending --as x"],
)
def test_a_planted_command_is_found(planted: str) -> None:
    """The check is not blind."""
    assert wrong(shlex.split(planted))
