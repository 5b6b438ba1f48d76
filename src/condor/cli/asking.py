"""Asking a person at the terminal, one line at a time.

Law: an interrupt or the end of input is an answer: leave everything as it is.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from condor.cli.visible import visible

if TYPE_CHECKING:
    from condor.cli.screen import Screen

#: Longest line that is read, in bytes; a reason has at most 2,000 characters.
_LINE_BYTES_MAX = 64 * 1024


class LeftOpen(Exception):
    """The person went away (Ctrl-C, or the end of input): nothing was answered."""


def ask_line(screen: Screen, prompt: str) -> str:
    """One line, as typed, without its end.

    Raises:
        LeftOpen: nothing was answered.
    """
    while True:
        try:  # the prompt is inside: who sees it may interrupt at once
            print(f"{visible(prompt)} ", end="", flush=True)
            line = sys.stdin.buffer.readline(_LINE_BYTES_MAX)
        except KeyboardInterrupt:
            print()
            raise LeftOpen from None
        if not line:
            print()
            raise LeftOpen
        try:
            return line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            screen.line("That was not UTF-8 text; type it again.", "yellow")


def ask_choice(screen: Screen, prompt: str, choices: dict[str, str]) -> str:
    """One of a few letters; asked again until it is one. The whole word does as well."""
    while True:
        given = ask_line(screen, prompt).strip().casefold()
        if given in choices:
            return given
        found = [letter for letter, word in choices.items() if given and word == given]
        if found:
            return found[0]
        listed = ", ".join(f"{letter} ({word})" for letter, word in choices.items())
        screen.line(f"Type one of {listed}.", "yellow")


def ask_text(screen: Screen, prompt: str, *, lines: bool = False) -> str:
    """Free text; with ``lines`` as many as wanted, ended by an empty one."""
    if not lines:
        return ask_line(screen, prompt).strip()
    screen.line(f"{prompt} (as many lines as you need; end with an empty one)")
    found: list[str] = []
    while line := ask_line(screen, "│"):
        found.append(line)
    return "\n".join(found).strip()


__all__ = ["LeftOpen", "ask_choice", "ask_line", "ask_text"]
