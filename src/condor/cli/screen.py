"""Where a command writes: results to stdout, the rest to stderr.

Law: no foreign text is markup. Everything drawn is ``Text`` made by ``said``.
"""

from __future__ import annotations

import json
import os
import sys
from functools import cached_property
from typing import TYPE_CHECKING

from condor.cli.visible import visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

#: Columns beyond which a card is not wider: a line that the eye can follow.
CARD_COLUMNS_MAX = 100


class Screen:
    """The two streams of one command."""

    def __init__(self, *, as_json: bool = False) -> None:
        """Nothing is loaded before something is drawn.

        Args:
            as_json: stdout carries JSON for a program, stderr no progress, and nobody is asked.
        """
        self.as_json = as_json

    @property
    def interactive(self) -> bool:
        """Whether a person can be asked here."""
        return not self.as_json and _is_tty(sys.stdin) and _is_tty(sys.stdout)

    @property
    def notes_are_seen(self) -> bool:
        """Whether a person reads stderr as it is written."""
        return _is_tty(sys.stderr)

    @cached_property
    def out(self) -> Console:
        """Results."""
        return _console(stderr=False)

    @cached_property
    def err(self) -> Console:
        """Notes and progress."""
        return _console(stderr=True)

    def show(self, what: RenderableType) -> None:
        """Draw a result; into a file without the blanks that fill a line."""
        if self.out.is_terminal:
            self.out.print(what)
            return
        with self.out.capture() as captured:
            self.out.print(what)
        print("\n".join(line.rstrip() for line in captured.get().splitlines()))

    def line(self, text: str, style: str = "") -> None:
        """One line of a result; wrapped at words, never cut."""
        self.out.print(said(text, style), soft_wrap=not self.out.is_terminal)

    def whole(self, text: str) -> None:
        """One line of a result that is copied or clicked, a link: only the terminal may fold it."""
        self.out.print(said(text), soft_wrap=True)

    def blank(self) -> None:
        """An empty line between results."""
        self.out.print()

    def chapter(self, number: int, title: str, about: tuple[str, ...]) -> None:
        """A part of a story that is told, and what it is about."""
        self.blank()
        self.line(f"── {number}. {title} ──", "bold cyan")
        for line in about:
            self.line(line, "dim")

    def note(self, text: str, style: str = "dim") -> None:
        """One line for the person at the terminal that is no result."""
        if self.notes_are_seen:
            self.err.print(said(text, style))
        else:
            print(visible(text), file=sys.stderr)

    def json(self, value: object) -> None:
        """One JSON document or event, on one line."""
        print(json_line(value), flush=True)


def json_line(value: object) -> str:
    """JSON in ASCII, so that nothing hidden in it acts on a terminal either."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("\x7f", "\\u007f")


def said(text: object, style: str = "") -> Text:
    """Foreign or own text, safe to draw."""
    from rich.text import Text

    return Text(visible(text), style=style)


def is_plain() -> bool:
    """Whether the terminal cannot move its cursor."""
    return os.environ.get("TERM", "") in ("", "dumb", "unknown")


def _is_tty(stream: object) -> bool:
    """Whether a stream is a terminal; a closed one is none."""
    try:
        return bool(stream.isatty())  # type: ignore[attr-defined]
    except (AttributeError, ValueError):
        return False


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    class Quiet(Console):
        """Where nobody reads any more, the command ends by its own exit code, not the library's."""

        def on_broken_pipe(self) -> None:
            """Called while the error is handled."""
            raise

    return Quiet(stderr=stderr, markup=False, emoji=False, highlight=False)
