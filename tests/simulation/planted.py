"""Bugs of ours, planted: each is a mistake that the crash suite must not let pass."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from condor.core.outcome import classify_step_outcome, failed
from condor.pump import effects
from condor.pump.call import invocation_of
from condor.pump.staging import Staging
from condor.pump.time_left import left_s

if TYPE_CHECKING:
    from collections.abc import Callable

    from condor.pump.segment import Segment

_journal = effects._journal


async def _journal_after(segment: Segment, effect: Any, leaf: Any, *, seen: int) -> None:
    """The journal entry comes after the effect: a crash between them leaves no trace of it."""
    returned = await segment.ports.toolbox.invoke(
        replace(
            invocation_of(segment.state, effect.given, left_s=left_s(segment)),
            approved_by=effect.approved_by,
            key=effect.key,
            versions=effect.versions,
        )
    )
    segment.ports.faults("tool.returned")
    await _journal(segment, effect, leaf, seen=seen)
    effects._enter = _enter_with(returned)


def _enter_with(returned: object) -> Any:
    async def enter(segment: Segment, effect: Any) -> Any:
        outcome: Any = classify_step_outcome(returned, effectful=True)
        return await effects._conclude(segment, effect, outcome, decision="executed")

    return enter


async def _enter_blindly(segment: Segment, effect: Any, outcome: Any) -> Any:
    """An effect of unknown outcome is simply entered again."""
    return await effects._enter_again(segment, effect, Staging())


async def _call_it_failed(segment: Segment, effect: Any, outcome: Any) -> Any:
    """An effect of unknown outcome is reported as failed."""
    crashed = failed("interrupted", "crashed")
    return await effects._conclude(segment, effect, crashed, decision="executed")


async def _keep_the_approval(segment: Segment, effect: Any, leaf: Any, *, seen: int) -> None:
    """The tool is entered with nothing journalled at all."""
    await segment.commit(Staging(), seen=seen)


def _journal_late() -> None:
    effects._journal = _journal_after


def _blind() -> None:
    effects._resolve = _enter_blindly


def _failed() -> None:
    effects._resolve = _call_it_failed


def _unjournalled() -> None:
    effects._journal = _keep_the_approval


PLANTED: dict[str, Callable[[], None]] = {
    "journals after the effect": _journal_late,
    "enters blindly": _blind,
    "calls unknown failed": _failed,
    "journals nothing": _unjournalled,
}


def plant(name: str) -> None:
    """Plant one, in this process."""
    if name:
        PLANTED[name]()
