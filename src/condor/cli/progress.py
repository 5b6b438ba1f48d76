"""A run at work: the plan's steps and where each stands, live on a terminal, else line by line."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from condor.cli.screen import is_plain, said
from condor.cli.visible import visible, visible_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType
    from rich.text import Text

    from condor.cli.screen import Screen
    from condor.core.run import RunEvent

#: Step status → sign and style.
_SIGNS = {
    "pending": ("·", "dim"),
    "started": ("»", "cyan"),
    "suspended": ("?", "yellow"),
    "unknown": ("!", "bold red"),
    "succeeded": ("✓", "green"),
    "degraded": ("~", "yellow"),
    "failed": ("✗", "bold red"),
    "skipped": ("-", "dim"),
}
_WORDS = {
    "pending": "to do",
    "started": "running",
    "suspended": "waits for a person",
    "unknown": "outcome unknown",
    "succeeded": "done",
    "degraded": "done in part",
    "failed": "failed",
    "skipped": "skipped",
}
#: A wait that a person is told of once more in the step's line.
_REQUIRED = {
    "approval.required": "suspended",
    "clarification.required": "suspended",
    "reconcile.required": "unknown",
}


@dataclass(slots=True, kw_only=True)
class StepState:
    """One step as drawn."""

    step_id: str
    label: str
    status: str = "pending"
    code: str = ""


class Progress:
    """Where a run's steps stand, from its snapshot and then its events."""

    def __init__(self) -> None:
        """No plan yet."""
        self.steps: dict[str, StepState] = {}

    def load(self, steps: Sequence[Mapping[str, Any]]) -> None:
        """Take the steps of a snapshot."""
        for step in steps:
            step_id = str(step["id"])
            self.steps[step_id] = StepState(
                step_id=step_id,
                label=str(step.get("tool") or step.get("title") or step.get("kind")),
                status=str(step.get("status", "pending")),
                code=str(step.get("code", "")),
            )

    def apply(self, event: RunEvent) -> StepState | None:
        """Take one event; the step that it moved."""
        kind = str(event.kind)
        step = self.steps.get(str(event.facts.get("stepId", "")))
        if step is None:
            return None
        if kind == "step.started":
            step.status, step.code = "started", ""
        elif kind == "step.settled":
            step.status, step.code = str(event.facts.get("status")), str(event.facts.get("code") or "")
        elif kind in _REQUIRED:
            step.status, step.code = _REQUIRED[kind], ""
        elif kind == "suspension.closed":
            status = str(event.facts.get("status"))
            step.status, step.code = "pending", status if status != "approved" else ""
        elif kind == "plan.revised" and "toTool" in event.facts:
            step.label, step.status, step.code = str(event.facts["toTool"]), "pending", "revised"
        else:
            return None
        return step


def step_row(step: StepState) -> tuple[Text, Text, Text]:
    """Sign and id, what it calls, and where it stands."""
    sign, style = _SIGNS.get(step.status, ("?", ""))
    word = _WORDS.get(step.status, step.status)
    code = (
        f" ({visible_word(step.code)})"
        if step.code and step.status in ("failed", "skipped", "unknown")
        else ""
    )
    return said(f"{sign} {step.step_id}", style), said(step.label), said(word + code, style)


def steps_table(steps: Sequence[StepState]) -> RenderableType:
    """Every step of the plan, one a line."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(3):
        table.add_column(overflow="fold")
    for step in steps:
        table.add_row(*step_row(step))
    return table


class ProgressLine:
    """Progress as lines, for what cannot redraw."""

    def __init__(self, screen: Screen) -> None:
        """Write to the screen's stderr."""
        self._screen = screen

    def plan(self, progress: Progress) -> None:
        """Say what will be done."""
        names = ", ".join(visible(step.label) for step in progress.steps.values())
        if names:
            self._screen.note(f"plan: {names}")

    def moved(self, _progress: Progress, step: StepState) -> None:
        """Say what came of a step, or what it is now; that it has begun is no news."""
        if (step.status, step.code) == ("pending", "revised"):
            self._screen.note(f"plan: {visible(step.step_id)} is now {visible(step.label)}")
        elif step.status not in ("pending", "started"):
            sign, label, word = step_row(step)
            self._screen.note(f"{sign.plain}  {label.plain}  {word.plain}", style="")


class ProgressLive:
    """Progress as a table that is drawn again."""

    def __init__(self, live: Any) -> None:
        """Draw into a live display."""
        self._live = live

    def plan(self, progress: Progress) -> None:
        """Draw the plan."""
        self._live.update(steps_table(list(progress.steps.values())), refresh=True)

    def moved(self, progress: Progress, _step: StepState) -> None:
        """Draw it again."""
        self.plan(progress)


@contextmanager
def drawn(screen: Screen) -> Iterator[ProgressLine | ProgressLive]:
    """How progress is drawn on this screen."""
    if screen.as_json or is_plain() or not screen.err.is_terminal:
        yield ProgressLine(screen)
        return
    from rich.live import Live
    from rich.text import Text

    with Live(
        Text(""), console=screen.err, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
    ) as live:
        yield ProgressLive(live)


__all__ = ["Progress", "StepState", "drawn", "step_row", "steps_table"]
