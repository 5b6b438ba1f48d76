"""``condor``: the commands, and what every one of them says when it cannot do its work.

Law 1: bad input is one line on stderr that says what was wrong, where and what to do, and an exit code
that says whose matter it is (``exit_codes``).
Law 2: an error of ours is one line too; the traceback goes to a file, or to stderr for CONDOR_TRACEBACK=1.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import click

from condor.cli.answer_commands import (
    answer_command,
    approve_command,
    deny_command,
    edit_command,
    stop_command,
)
from condor.cli.audit_command import audit_command
from condor.cli.demo_command import demo_command
from condor.cli.doctor_command import doctor_command
from condor.cli.look_commands import pending_command, runs_command, show_command
from condor.cli.policy_command import policy_command
from condor.cli.replay_command import replay_command
from condor.cli.run_command import run_command
from condor.cli.serve_command import serve_command
from condor.cli.sweep_command import sweep_command
from condor.cli.token_command import token_command
from condor.cli.tools_command import tools_command
from condor.cli.worker_command import worker_command


class PipeClosedError(Exception):
    """Nobody reads what is written; click would call it a failure of the command."""


class _Commands(click.Group):
    """The commands; a closed pipe passes through."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise PipeClosedError from error


@click.group(
    "condor",
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="condor-runtime", prog_name="condor")
@click.pass_context
def condor(context: click.Context) -> int:
    """Condor runs AI agents that change real records: risky writes wait for a person, and what happened is
    told as it was.

    Exit codes: 0 fine, 1 our bug, 2 refused input, 3 waits for a person, 4 failed, 5 aborted, 6 done in
    part, 7 answer refused, 8 environment, 9 a check found something.
    """  # noqa: D205 - click shows the first sentence whole
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    return 0


for _command in (
    run_command,
    pending_command,
    approve_command,
    deny_command,
    answer_command,
    edit_command,
    stop_command,
    sweep_command,
    show_command,
    runs_command,
    audit_command,
    policy_command,
    replay_command,
    tools_command,
    serve_command,
    worker_command,
    token_command,
    doctor_command,
    demo_command,
):
    condor.add_command(_command)


def main() -> NoReturn:
    """The entry point."""
    # Files that a command makes are their owner's alone.
    os.umask(0o077)
    _prepare_streams()
    code = run_arguments(sys.argv[1:])
    sys.exit(_flushed(code))


def run_arguments(arguments: list[str]) -> int:
    """One command; its exit code."""
    from condor.cli.exit_codes import Exit

    try:
        return int(condor.main(args=arguments, prog_name="condor", standalone_mode=False) or 0)
    except (KeyboardInterrupt, click.Abort):
        from condor.cli.refusals import as_line

        _say(
            as_line(
                "interrupted", "interrupted", Exit.INTERRUPTED, head="condor", as_json=_is_json(arguments)
            )
        )
        return Exit.INTERRUPTED
    except PipeClosedError:
        return Exit.PIPE_CLOSED
    except Exception as error:  # noqa: BLE001 - the last place where an error can become one line
        from condor.cli.refusals import say_refusal

        return say_refusal(error, _say, as_json=_is_json(arguments))


def _is_json(arguments: list[str]) -> bool:
    """Whether a program reads: it said so, even where the rest of the line cannot be read."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def _say(line: str) -> None:
    try:
        print(line, file=sys.stderr, flush=True)
    except (OSError, ValueError):  # nobody listens
        return


def _prepare_streams() -> None:
    """What a stream's encoding cannot carry is escaped, never an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _flushed(code: int) -> int:
    """Write out what is left; a reader that has gone is no error of ours."""
    from condor.cli.exit_codes import Exit

    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = Exit.PIPE_CLOSED
    except (OSError, ValueError):
        code = code or Exit.ENVIRONMENT
    if code == Exit.PIPE_CLOSED:
        # Python flushes once more at its end; give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


__all__ = ["condor", "main", "run_arguments"]
