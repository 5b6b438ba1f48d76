"""``condor doctor``: what this installation and this home look like, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from condor.cli.options import home_option, json_option

if TYPE_CHECKING:
    from pathlib import Path

_SIGNS = {
    "ok": ("✓", "green"),
    "note": ("·", "yellow"),
    "warning": ("⚠", "bold yellow"),
    "problem": ("✗", "bold red"),
}


@click.command("doctor")
@click.option("--model", "asks_model", is_flag=True, help="Ask the configured model for one word, too.")
@home_option
@json_option
def doctor_command(home: Path, *, asks_model: bool, as_json: bool) -> int:
    """Check the installation and the home. Exits with 9 when something is wrong."""
    from condor.cli.checkup import checkup
    from condor.cli.exit_codes import Exit
    from condor.cli.screen import Screen

    screen = Screen(as_json=as_json)
    checks = checkup(home, asks_model=asks_model)
    if as_json:
        screen.json([{"check": c.name, "level": c.level, "message": c.message} for c in checks])
    else:
        for check in checks:
            sign, style = _SIGNS[check.level]
            screen.line(f"{sign} {check.name}: {check.message}", style)
    return Exit.FOUND if any(check.level == "problem" for check in checks) else Exit.FINE


__all__ = ["doctor_command"]
