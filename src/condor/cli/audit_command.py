"""``condor audit``: the rows of every run's chain, by filter; verified; exported."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from condor.cli.audit_seals import checkpoint_command, key_command, read_against, seal_command
from condor.cli.coroutines import run_to_end
from condor.cli.options import home_option, json_option, utf8
from condor.cli.run_export import exported_run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from condor.bootstrap import Condor
    from condor.core.audit import Against
    from condor.ports.store import AuditFilter, AuditRow

#: Rows read at once.
_PAGE = 1_000


def _filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What rows to take; each is an exact value."""
    for name, what in (
        ("actor", "who decided"),
        ("tool", "which tool"),
        ("decision", "what was decided (approved, denied, executed …)"),
        ("rule", "which rule of the policy"),
        ("run", "which run"),
    ):
        command = click.option(f"--{name}", type=utf8, metavar="WORD", help=f"Only rows of this: {what}.")(
            command
        )
    for name, what in (("until", "at this time or before"), ("since", "at this time or later")):
        command = click.option(
            f"--{name}", type=utf8, metavar="TIME", help=f"Only rows of {what} (2026-11-30T09:30:00Z)."
        )(command)
    return command


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """The filters as given."""

    run: str | None
    rule: str | None
    decision: str | None
    tool: str | None
    actor: str | None
    since: str | None
    until: str | None

    def checked(self) -> AuditFilter:
        """The store's filter.

        Raises:
            RefusedInput: a decision that does not exist, or a time that is none.
        """
        from condor.ports.store import AuditFilter
        from condor.runtime.audit_filter import checked_audit

        return checked_audit(
            AuditFilter(
                run_id=self.run,
                rule_id=self.rule,
                decision=self.decision,
                tool=self.tool,
                actor=self.actor,
                since=self.since,
                until=self.until,
            )
        )


@click.group("audit", invoke_without_command=True, short_help="List, verify, seal and export the audit.")
@_filter_options
@home_option
@json_option
@click.pass_context
def audit_command(context: click.Context, /, home: Path, *, as_json: bool, **words: str | None) -> int:
    """List the audit: who decided what about which call, in ids, digests and words.

    Filters and --home stand before or after `verify` and `export`, --home before or after the others too.
    """
    wanted = _Wanted(**words)
    context.obj = (wanted, home)
    if context.invoked_subcommand is not None:
        return 0
    return _list(wanted, home, as_json=as_json)


@audit_command.command("verify")
@click.option("--run", type=utf8, metavar="RUN_ID", help="Only this run's chain.")
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="CHECKPOINT",
    help="A file of `condor audit checkpoint`, kept elsewhere: is all that it holds still there?",
)
@click.option(
    "--key", type=utf8, metavar="ed25519:…", help="Who must have signed it. [default: the key of this home]"
)
@home_option
@json_option
@click.pass_context
def verify_command(
    context: click.Context, /, run: str | None, home: Path, *, as_json: bool, **checkpoint: Any
) -> int:
    """Check every run's chain and the seals; name the first bad row. Exits with 9 when something was found.

    Whoever can write the whole database can write all of it anew, seals too: only a checkpoint finds that.
    """
    from condor.cli.exit_codes import Exit
    from condor.cli.screen import Screen
    from condor.cli.values import count
    from condor.runtime.snapshot import verdict_json

    outer, home = _outer(context, home)
    against = read_against(home, checkpoint["against"], checkpoint["key"])
    verdicts = run_to_end(_verdicts(home, run or outer.run, against))
    bad = [verdict for verdict in verdicts if not verdict.kept]
    # A verdict of no run is about the seals.
    runs, rows = sum(bool(verdict.run_id) for verdict in verdicts), sum(verdict.rows for verdict in verdicts)
    screen = Screen(as_json=as_json)
    if as_json:
        found = {"kept": not bad, "runs": runs, "rows": rows, "bad": [verdict_json(v) for v in bad]}
        screen.json(found if against is None else {**found, "checkpoint": against.stated.at})
        return Exit.FOUND if bad else Exit.FINE
    for verdict in bad:
        screen.line(f"✗ {verdict.message}", "bold red")
    if broken := sum(bool(verdict.run_id) for verdict in bad):
        are = "is" if broken == 1 else "are"
        screen.line(
            f"{broken} of {count(runs, 'chain')} {are} broken ({count(rows, 'row')} read)", "bold red"
        )
    elif not bad:
        screen.line(f"✓ {count(runs, 'chain')}, {count(rows, 'row')}, unbroken", "green")
        if against is not None:
            held = f"{count(against.stated.seals, 'seal')}, {count(against.stated.runs, 'run')}"
            screen.line(f"✓ all that the checkpoint of {against.stated.at} holds is there: {held}", "green")
    return Exit.FOUND if bad else Exit.FINE


@audit_command.command("export")
@click.argument("run_id", type=utf8, required=False)
@_filter_options
@click.option(
    "--fhir", is_flag=True, help="The whole run as a FHIR R4 Bundle: AuditEvents, Tasks, Provenance."
)
@home_option
@click.option("--json", is_flag=True, expose_value=False, help="As it is anyway: JSON lines.")
@click.pass_context
def export_command(
    context: click.Context, /, run_id: str | None, home: Path, *, fhir: bool, **words: str | None
) -> int:
    """Write the rows as JSON lines, to be kept elsewhere; with RUN_ID those of one run.

    A row without seq, prevHash and hash, as RFC 8785 JSON, is what its hash covers:
    sha256(prevHash, newline, seq, newline, row).
    """
    from condor.cli.screen import Screen
    from condor.runtime.snapshot import audit_json

    outer, home = _outer(context, home)
    given = {name: value or getattr(outer, name) for name, value in words.items()}
    run = _one_run(run_id, given.get("run"))
    screen = Screen(as_json=True)
    if fhir:
        if run is None or any(value for name, value in given.items() if name != "run"):
            raise click.UsageError("--fhir exports one run, whole: give its RUN_ID and no other filter")
        screen.json(json.loads(run_to_end(exported_run(home, run, "fhir"))))
        return 0
    given["run"] = run

    async def export() -> None:
        async for row in _rows(home, _Wanted(**given)):
            screen.json(audit_json(row))

    run_to_end(export())
    return 0


def _one_run(named: str | None, filtered: str | None) -> str | None:
    """The run that the argument or ``--run`` names.

    Raises:
        click.UsageError: they name two.
    """
    if named is not None and filtered not in (None, named):
        raise click.UsageError("two runs are named: give RUN_ID or --run")
    return named if named is not None else filtered


for _command in (seal_command, checkpoint_command, key_command):
    audit_command.add_command(_command)


def _outer(context: click.Context, home: Path) -> tuple[_Wanted, Path]:
    """Filters and home that stood before the subcommand; the home nearest to the end wins."""
    from click.core import ParameterSource

    wanted, outer_home = context.obj
    here = context.get_parameter_source("home") is ParameterSource.COMMANDLINE
    return wanted, home if here else outer_home


def _list(wanted: _Wanted, home: Path, *, as_json: bool) -> int:
    from condor.cli.screen import Screen
    from condor.runtime.snapshot import audit_json

    screen = Screen(as_json=as_json)

    async def listed() -> list[dict[str, Any]]:
        return [audit_json(row) async for row in _rows(home, wanted)]

    rows = run_to_end(listed())
    if as_json:
        screen.json(rows)
        return 0
    if not rows:
        screen.line("No row of the audit fits.")
        return 0
    from condor.cli.audit_table import audit_rows

    for block in audit_rows(rows):
        screen.show(block)
    return 0


async def _rows(home: Path, wanted: _Wanted) -> AsyncIterator[AuditRow]:
    """Every row that fits, read page by page."""
    from condor.cli.home import place_to_read
    from condor.cli.session import reading

    checked = wanted.checked()
    async with reading(place_to_read(home)) as condor:
        await _check_run(condor, wanted.run)
        after = ("", 0)
        while page := await condor.audit(checked, limit=_PAGE, after=after):
            for row in page:
                yield row
            if len(page) < _PAGE:
                return
            after = (page[-1].run_id, page[-1].seq)


async def _verdicts(home: Path, run: str | None, against: Against | None) -> list[Any]:
    from condor.cli.home import place_to_read
    from condor.cli.session import reading

    async with reading(place_to_read(home)) as condor:
        verdicts = [verdict async for verdict in condor.verify(run, against=against)]
        if not verdicts:
            await _check_run(condor, run)
        return verdicts


async def _check_run(condor: Condor, run: str | None) -> None:
    """A run that does not exist is said, not an empty list.

    Raises:
        UnknownId: no run, and no row that names it.
    """
    from condor.core.errors import UnknownId
    from condor.ports.store import AuditFilter

    if run is None or await condor.audit(AuditFilter(run_id=run), limit=1):
        return
    try:
        await condor.show(run)
    except UnknownId:
        raise UnknownId("run", run, "see `condor runs`") from None


__all__ = ["audit_command"]
