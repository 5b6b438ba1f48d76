"""Which cards of the inbox are listed: the filters of ``condor pending``."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Final, TypeVar

import click

from condor.cli.options import utf8

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from condor.ports.cards import CardFilter

    _F = TypeVar("_F", bound=Callable[..., Any])

# Spelt out, so that the command line starts without loading what they are; a test compares them.
KINDS: Final = ("approval", "clarification", "reconcile")
ORIGINS: Final = ("tool_policy", "tool_input", "planned_approval", "plan_mutation", "reconcile")
TIERS: Final = ("high", "low")
ORDERS: Final = ("oldest", "newest")

_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_AGE: Final = re.compile(r"([0-9]{1,6})([smhd])")


class Age(click.ParamType[datetime.timedelta]):
    """How long ago, as ``90m``."""

    name = "age"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime.timedelta:
        """The age in words as a span."""
        if isinstance(value, datetime.timedelta):
            return value
        found = _AGE.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is no age; write it as 45s, 90m, 36h or 7d", param, ctx)
        return datetime.timedelta(seconds=int(found[1]) * _SECONDS[found[2]])


def filter_options(command: _F) -> _F:
    """Each filter as an option; ``card_filter`` reads them."""
    for option in reversed(
        (
            click.option("--tool", type=utf8, metavar="NAME", help="Only this tool's."),
            click.option("--tier", type=click.Choice(TIERS), help="Only this effective tier."),
            click.option("--kind", type=click.Choice(KINDS), help="Only what is asked for in this way."),
            click.option("--origin", type=click.Choice(ORIGINS), help="Only what this mechanism asks."),
            click.option(
                "--requester", type=utf8, metavar="USER", help="Only runs that this person asked for."
            ),
            click.option(
                "--subject", type=utf8, metavar="TYPE/ID", help="Only about this patient or record."
            ),
            click.option("--run", "run_id", type=utf8, metavar="RUN_ID", help="Only of this run."),
            click.option(
                "--older-than", type=Age(), metavar="AGE", help="Opened at least so long ago: 90m, 36h, 7d."
            ),
            click.option("--newer-than", type=Age(), metavar="AGE", help="Opened at most so long ago."),
        )
    ):
        command = option(command)
    return command


def card_filter(
    *,
    older_than: datetime.timedelta | None,
    newer_than: datetime.timedelta | None,
    kind: str | None,
    **wanted: str | None,
) -> CardFilter:
    """The filter of a command line."""
    from condor.ports.cards import CardFilter
    from condor.ports.clock import timestamp

    now = datetime.datetime.now(datetime.UTC)
    return CardFilter(
        status="pending",
        reason_code=kind,
        opened_until=timestamp(now - older_than) if older_than is not None else None,
        opened_from=timestamp(now - newer_than) if newer_than is not None else None,
        **wanted,
    )


__all__ = ["KINDS", "ORDERS", "ORIGINS", "TIERS", "Age", "card_filter", "filter_options"]
