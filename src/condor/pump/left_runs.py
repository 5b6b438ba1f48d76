"""Parked runs as the segments here left them, so that an answer need not read what was just written.

Law: what is kept is a guess, and the store alone is the truth. A unit made from it holds only at the revision
at which the run was left, so it is refused where anybody has touched the run since; and nobody is told
anything on its ground but that the answer was taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from condor.pump.state import RunState

#: Runs that are kept at most, the longest parked forgotten first, and bytes of their payloads.
_RUNS_MAX: Final = 1_000
_BYTES_MAX: Final = 16 * 1024 * 1024


class LeftRuns:
    """What a process knows of the runs that it parked."""

    def __init__(self, *, runs_max: int = _RUNS_MAX, bytes_max: int = _BYTES_MAX) -> None:
        """Nothing yet."""
        self._runs_max = runs_max
        self._bytes_max = bytes_max
        self._bytes = 0
        self._runs: dict[str, tuple[RunState, int]] = {}

    def keep(self, state: RunState) -> None:
        """A segment has parked its run, and touches the state no more."""
        self.forget(state.run_id)
        size = sum(map(len, state.payloads.values()))
        self._runs[state.run_id] = state, size
        self._bytes += size
        while len(self._runs) > self._runs_max or self._bytes > self._bytes_max:
            self.forget(next(iter(self._runs)))

    def take(self, run_id: str | None) -> RunState | None:
        """The run as it was left, to be worked on; None where it is not known. It is known no longer."""
        kept = self.forget(run_id)
        return kept.taken_up() if kept is not None else None

    def forget(self, run_id: str | None) -> RunState | None:
        """Somebody has touched the run."""
        if run_id is None or run_id not in self._runs:
            return None
        state, size = self._runs.pop(run_id)
        self._bytes -= size
        return state
