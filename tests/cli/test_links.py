"""What is copied from a terminal is one line, however narrow the terminal is."""

from __future__ import annotations

import io

from rich.console import Console

from condor.cli.screen import Screen

LINK = "http://127.0.0.1:8421/#principal=dr-okafor&code=" + "c" * 60


def test_a_link_has_no_break_in_it() -> None:
    """A break inside its code would make it another code; words beside it fold as ever."""
    drawn = io.StringIO()
    screen = Screen()
    screen.__dict__["out"] = Console(file=drawn, force_terminal=True, width=40, color_system=None)
    screen.whole(f"  dr-okafor: {LINK}")
    screen.line("a sentence of more than forty columns is folded at its words")
    link, *sentence = drawn.getvalue().splitlines()
    assert link == f"  dr-okafor: {LINK}"
    assert len(sentence) == 2
