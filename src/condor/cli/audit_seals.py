"""``condor audit seal``, ``checkpoint`` and ``key``: what proves later that the audit is the one of today."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import click

from condor.cli.coroutines import run_to_end
from condor.cli.options import home_option, json_option

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from condor.cli.home import Place
    from condor.cli.screen import Screen
    from condor.core.audit import Against

#: Longest line of a checkpoint that is read; a seal has 50 KB.
_LINE_BYTES_MAX: Final = 1_000_000


@click.command("seal")
@home_option
@json_option
@click.pass_context
def seal_command(context: click.Context, /, home: Path, *, as_json: bool) -> int:
    """Seal now: the head of every run's chain goes into the tenant's chain.

    A server does it every minute by itself. What is sealed can be stated in a checkpoint.
    """
    from condor.cli.home import place_to_read
    from condor.cli.screen import Screen
    from condor.cli.session import seal_home
    from condor.cli.values import count

    screen = Screen(as_json=as_json)
    sealed = run_to_end(seal_home(place_to_read(_home(context, home))))
    if as_json:
        screen.json({"sealed": sealed or 0, "byServer": sealed is None})
    elif sealed is None:
        screen.line("The server of this home seals every minute by itself.")
    else:
        screen.line(f"Sealed {count(sealed, 'head')}." if sealed else "All was sealed already.")
    return 0


@click.command("checkpoint")
@click.option("--brief", is_flag=True, help="The signed line alone: what is found with it is not named.")
@home_option
@click.option("--json", is_flag=True, expose_value=False, help="As it is anyway: JSON lines.")
@click.pass_context
def checkpoint_command(context: click.Context, /, home: Path, *, brief: bool) -> int:
    """Write a signed checkpoint to stdout; keep it where nobody who can write the database can.

    It holds the seals, so that `condor audit verify --against FILE` names what was done. What can be sealed
    is sealed before.
    """
    from condor.cli.home import place_to_read
    from condor.cli.screen import Screen

    run_to_end(_write_checkpoint(place_to_read(_home(context, home)), Screen(as_json=True), brief=brief))
    return 0


@click.command("key")
@home_option
@json_option
@click.pass_context
def key_command(context: click.Context, /, home: Path, *, as_json: bool) -> int:
    """Print the public key that this home's checkpoints are signed with; it is made if need be.

    Whoever verifies elsewhere gives it with --key, so get it to them by a way of its own.
    """
    from condor.cli.home import place_to_read
    from condor.cli.screen import Screen
    from condor.runtime.signing import public_key

    key = public_key(place_to_read(_home(context, home)).path, make=True)
    screen = Screen(as_json=as_json)
    if as_json:
        screen.json({"key": key})
    else:
        print(key)
    return 0


def read_against(home: Path, file: Path | None, key: str | None) -> Against | None:
    """The checkpoint to verify against, its signature checked; None where none is named.

    Raises:
        RefusedInput: it cannot be read, is not whole, or another key signed it.
    """
    from condor.cli.home import place_to_read
    from condor.core.audit import read_checkpoint
    from condor.core.errors import RefusedInput
    from condor.runtime.signing import holds, public_key, read_public

    if file is None:
        if key is not None:
            raise RefusedInput("--key says who signed a checkpoint: name one with --against")
        return None
    trusted = read_public(key) if key is not None else public_key(place_to_read(home).path, make=False)
    if trusted is None:
        raise RefusedInput(
            "this home has no key, and a checkpoint's own proves nothing: name who signed it with --key "
            "(`condor audit key`, where it was made)"
        )

    def holds_for(signed_with: str, body: bytes, signature: str) -> bool:
        if signed_with != trusted:
            raise RefusedInput(
                f"it was signed with another key than {trusted}; name the right one with --key"
            )
        return holds(signed_with, body, signature)

    try:
        with file.open("rb") as opened:
            return read_checkpoint(_lines(opened), holds_for)
    except OSError as error:
        raise RefusedInput(f"the checkpoint {file} cannot be read: {error.strerror}") from None
    except RefusedInput as refusal:
        raise RefusedInput(f"the checkpoint {file} cannot be used: {refusal}") from None


def _lines(opened: BinaryIO) -> Iterator[bytes]:
    while line := opened.readline(_LINE_BYTES_MAX):
        yield line


async def _write_checkpoint(place: Place, screen: Screen, *, brief: bool) -> None:
    from condor.cli.session import reading, seal_home
    from condor.core.errors import HomeUnusable
    from condor.runtime.signing import public_key, sign

    key = public_key(place.path, make=True)
    assert key is not None, "made"
    try:
        await seal_home(place)
    except HomeUnusable as error:
        screen.note(f"condor: nothing is sealed now, so this states what was sealed before: {error}")
    async with reading(place) as condor:
        out = sys.stdout.buffer
        lines: AsyncIterator[bytes] = condor.checkpoint(key, lambda body: sign(place.path, body), brief=brief)
        async for line in lines:
            out.write(line + b"\n")
        out.flush()
        if (await condor.store.unsealed(1)).heads:
            screen.note("condor: some rows are not sealed yet, and not in it; the server seals every minute")


def _home(context: click.Context, home: Path) -> Path:
    """The home nearest to the end of the command line."""
    from click.core import ParameterSource

    outer: tuple[Any, Path] | None = context.obj
    here = context.get_parameter_source("home") is ParameterSource.COMMANDLINE
    return home if here or outer is None else outer[1]


__all__ = ["checkpoint_command", "key_command", "read_against", "seal_command"]
