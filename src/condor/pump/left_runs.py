"""Parked runs as the segments here left them, so that an answer need not read what was just written.

Law 1: what is kept is a guess, and the store alone is the truth. A unit made from it holds only at the
revision at which the run was left, so it is refused where anybody has touched the run since; and nobody is
told anything on its ground but that the answer was taken.
Law 2: rows and bytes are kept, as they were stored, and read as from the store: nothing that a caller, a tool
or an earlier segment has made lives on in the next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from condor.pump.state import RunState

if TYPE_CHECKING:
    from condor.pump.state import RunAsLeft

#: Runs that are kept at most, the longest parked forgotten first, and bytes of their values.
_RUNS_MAX: Final = 1_000
_BYTES_MAX: Final = 16 * 1024 * 1024


class LeftRuns:
    """What a process knows of the runs that it parked."""

    def __init__(self, *, runs_max: int = _RUNS_MAX, bytes_max: int = _BYTES_MAX) -> None:
        """Nothing yet."""
        self._runs_max = runs_max
        self._bytes_max = bytes_max
        self._bytes = 0
        self._runs: dict[str, tuple[RunAsLeft, int]] = {}

    def keep(self, left: RunAsLeft) -> None:
        """A segment has parked its run, and touches nothing of it any more.

        One that is larger than all of them may be together is not kept, and drives out no other.
        """
        run_id = left.run.run_id
        self.forget(run_id)
        size = sum(map(len, left.payloads.values())) + sum([len(card.facts) for card in left.suspensions])
        if size > self._bytes_max:
            return
        self._runs[run_id] = left, size
        self._bytes += size
        while len(self._runs) > self._runs_max or self._bytes > self._bytes_max:
            self.forget(next(iter(self._runs)))

    def take(self, run_id: str | None) -> RunState | None:
        """The run as it was left, to be worked on; None where it is not known. It is known no longer.

        Raises:
            StateUnreadable: as of a run that is stored so.
        """
        left = self.forget(run_id)
        if left is None:
            return None
        state = RunState.from_store(left)
        state.left_at = state.rev
        return state

    def forget(self, run_id: str | None) -> RunAsLeft | None:
        """Somebody has touched the run."""
        if run_id is None or run_id not in self._runs:
            return None
        left, size = self._runs.pop(run_id)
        self._bytes -= size
        return left
