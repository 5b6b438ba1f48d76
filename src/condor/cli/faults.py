"""Tools that go wrong on purpose, for one command: ``--fault`` and ``CONDOR_FAULTS``.

Law: never on a home that may hold real records. There it is refused, not ignored, and nothing is opened.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from condor.core.errors import RefusedInput, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from condor.cli.home import Place
    from condor.ports.packs import Pack
    from condor.testing.tool_faults import ToolFault

#: The same as ``--fault``, for every command: ``TOOL=KIND[:TIMES],…``.
FAULTS_VARIABLE = "CONDOR_FAULTS"


def fault_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which tools go wrong."""
    return click.option(
        "--fault",
        "faults",
        multiple=True,
        metavar="TOOL=KIND[:TIMES]",
        help="Let a tool go wrong on purpose (demo or development home); repeatable.",
    )(command)


def with_faults(place: Place, words: Sequence[str]) -> Place:
    """The home, opened with tools that go wrong.

    Raises:
        RefusedInput: a word is no fault, or the home takes none.
    """
    place = replace(place, faults=tuple(words))
    faults_of(place)
    return place


def faults_of(place: Place) -> Mapping[str, ToolFault]:
    """Tool → what goes wrong with it while the home is open; an option is stronger than the environment.

    Raises:
        RefusedInput: a word is no fault, or the home takes none.
    """
    told = [word.strip() for word in os.environ.get(FAULTS_VARIABLE, "").split(",")]
    told = [word for word in told if word]
    if not told and not place.faults:
        return {}
    if not place.takes_names:
        source = "--fault makes" if place.faults else f"{FAULTS_VARIABLE} is set, which makes"
        raise RefusedInput(
            f"{source} tools go wrong on purpose, in a demo or development home only; "
            f"{place.path} is neither",
            code="faults_not_here",
        )
    return {**_read(told), **_read(place.faults)}


def _read(words: Sequence[str]) -> dict[str, ToolFault]:
    from condor.testing.tool_faults import read_fault

    found: dict[str, ToolFault] = {}
    for word in words:
        tool, fault = read_fault(word)
        if tool in found:
            raise RefusedInput(f"{show(tool)} is given two faults; give each tool one")
        found[tool] = fault
    return found


def faulty_packs(place: Place, packs: tuple[Pack, ...]) -> tuple[Pack, ...]:
    """The packs of a home, the tools named by its faults going wrong."""
    faults = faults_of(place)
    if not faults:
        return packs
    from condor.testing.tool_faults import FaultyPack

    return tuple(FaultyPack(pack, faults) for pack in packs)


def told_faults(place: Place, known: Iterable[str]) -> Sequence[str]:
    """The tools that go wrong, each with how, as a person is told.

    Args:
        known: the tools that there are.

    Raises:
        RefusedInput: a fault is given for a tool that there is not.
    """
    names = sorted(known)
    faults = faults_of(place)
    for tool in faults:
        if tool not in names:
            raise RefusedInput(
                f"a fault is given for {show(tool)}, and there is no such tool; there are {', '.join(names)}",
                code="unknown_tool",
            )
    return [f"{tool} ({fault.told})" for tool, fault in faults.items()]


__all__ = ["FAULTS_VARIABLE", "fault_option", "faults_of", "faulty_packs", "told_faults", "with_faults"]
