"""Jobs: notes in a store's queue that a run waits for a worker.

Law: the store alone is the truth. A job says "look at this run", never what to do with it: one that is lost,
doubled or late changes nothing. There is no lock a run; the epoch refuses a worker that lost its run.
"""

from __future__ import annotations

from typing import Final, Literal

from condor.core.values import dataclass

#: The queue of jobs for segments, and the name of their task; arguments are ``run_id`` and ``epoch``.
QUEUE: Final = "condor"
SEGMENT: Final = "segment"

#: Who has a run that is not at rest: this process; another one that lives; one whose connection was missed
#: just now, and that may come back; nobody, so that it may be taken up.
Holder = Literal["here", "elsewhere", "missed", "nobody"]

#: Whether a job is done; ``later``: its run may have lost its process, which is known in a few seconds.
JobEnd = Literal["done", "later"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What waits for workers."""

    #: Processes that take jobs, and live.
    workers: int = 0
    #: Runs that wait for one of them.
    waiting: int = 0
    #: Seconds that the one of them waits which waits longest.
    oldest_s: float = 0.0


__all__ = ["QUEUE", "SEGMENT", "Backlog", "Holder", "JobEnd"]
