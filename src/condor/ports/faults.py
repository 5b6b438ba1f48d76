"""Named places where a test may stop the world.

Law: in production every point is a no-op. The crash suite kills the process at each of them, so a
place where the order of effects matters has a name here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

FaultPoint = Literal[
    "answer.checked",  # the answer was read and may be given; nothing is stored
    "answer.committed",  # the decision is durable; no segment runs yet
    "segment.begun",  # a segment has loaded the run
    "step.decided",  # the leaf said: execute
    "intent.staged",  # the journal entry is built, not stored
    "intent.committed",  # the journal says started; the tool was not entered
    "tool.entered",  # inside the invocation, before the body
    "fhir.before-commit",  # the outside system is about to commit
    "fhir.after-commit",  # the outside system has committed
    "tool.returned",  # the body came back; nothing is stored of it
    "outcome.staged",  # the outcome is known in memory
    "closing.composed",  # the closing text is known in memory
    "end.staged",  # the terminal unit is built, not stored
    "writer.before-commit",  # rows are written, the commit is not
    "writer.after-commit",  # committed, nobody was told
    "unit.acknowledged",  # the committer was told
    "end.announced",  # watchers were told
]

FAULT_POINTS: tuple[FaultPoint, ...] = get_args(FaultPoint)

#: Called with the name of each point as it is reached.
Faults: TypeAlias = Callable[[str], None]


def no_faults(_point: str) -> None:
    """Production: every point is passed."""
