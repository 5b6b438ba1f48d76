"""Options that many commands share, and the types that refuse bad input before anything is opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from condor.cli.home import DEFAULT_HOME, HOME_VARIABLE

_F = TypeVar("_F", bound=Callable[..., Any])

AUTONOMIES = ("autonomous", "guarded", "ambient")


def utf8(text: str) -> str:
    """Text that can be kept: what is not UTF-8 on the command line is refused."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise click.BadParameter("it is not UTF-8 text") from None
    return text


def home_option(command: _F) -> _F:
    """Where state lives."""
    return click.option(
        "--home",
        type=click.Path(path_type=Path, readable=False),
        default=Path(DEFAULT_HOME),
        envvar=HOME_VARIABLE,
        show_default=True,
        show_envvar=True,
        help="Directory that holds the state.",
    )(command)


def json_option(command: _F) -> _F:
    """Output for programs."""
    return click.option("--json", "as_json", is_flag=True, help="JSON for programs.")(command)


def as_option(command: _F) -> _F:
    """Who acts."""
    return click.option(
        "--as", "user", type=utf8, metavar="USER", help="Act as this person (demo or development home)."
    )(command)


def autonomy_option(command: _F) -> _F:
    """Under what watch."""
    return click.option(
        "--autonomy",
        type=click.Choice(AUTONOMIES),
        default="guarded",
        show_default=True,
        help="How much may happen without a person.",
    )(command)


__all__ = ["AUTONOMIES", "as_option", "autonomy_option", "home_option", "json_option", "utf8"]
