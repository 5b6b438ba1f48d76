"""Every error of a command as one line on stderr and an exit code."""

from __future__ import annotations

import os
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import click

from condor.cli.coroutines import TRACEBACK_VARIABLE
from condor.cli.exit_codes import Exit, exit_of_error, exit_of_os_error
from condor.cli.screen import json_line
from condor.cli.visible import visible
from condor.core.errors import CondorError, OurBug

if TYPE_CHECKING:
    from collections.abc import Callable


def say_refusal(error: Exception, say: Callable[[str], None], *, as_json: bool = False) -> int:
    """Say what went wrong; the exit code.

    Args:
        as_json: a program reads: the line is a JSON object.
    """
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    code, head, message, exit_code = _told(error)
    say(as_line(code, message, exit_code, head=head, as_json=as_json))
    return exit_code


def as_line(code: str, message: str, exit_code: Exit, *, head: str, as_json: bool) -> str:
    """What went wrong, for a person or for a program."""
    if not as_json:
        return f"{head}: {message}"
    return json_line({"type": "error", "code": code, "message": message, "exit": int(exit_code)})


def _told(error: Exception) -> tuple[str, str, str, Exit]:
    """Code, command, message, exit code."""
    match error:
        case click.ClickException():
            return ("usage", *_usage(error), Exit.REFUSED)
        case CondorError() if not isinstance(error, OurBug) and exit_of_error(error) != Exit.BUG:
            return error.code, "condor", visible(error), exit_of_error(error)
        case OSError() if exit_of_os_error(error) is Exit.ENVIRONMENT:
            return "environment", "condor", visible(_os_words(error)), Exit.ENVIRONMENT
        case _:
            return "bug", "condor", _bug(error), Exit.BUG


def _usage(error: click.ClickException) -> tuple[str, str]:
    """``condor run`` and ``no such option: --plam; see condor run --help``."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "condor"
    message = visible(" ".join(error.format_message().split())).rstrip(".")
    return path, f"{message[:1].lower()}{message[1:]}; see `{path} --help`"


def _os_words(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    return f"the machine refused: {error.strerror}{where}; nothing more was done"


def _bug(error: Exception) -> str:
    """One line, and where the traceback is."""
    name = f"{type(error).__name__}: {visible(error)}" if str(error) else type(error).__name__
    head = f"an error of ours: {name}; please report it"
    text = "".join(traceback.format_exception(error))
    if os.environ.get(TRACEBACK_VARIABLE):
        return f"{head}\n{text}".rstrip()
    try:
        number, path = tempfile.mkstemp(prefix="condor-traceback-", suffix=".txt")
        with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return f"{head}; {TRACEBACK_VARIABLE}=1 prints the traceback"
    return f"{head}; the traceback is in {Path(path)}"


__all__ = ["as_line", "say_refusal"]
