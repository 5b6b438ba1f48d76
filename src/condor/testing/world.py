"""A world for tests: a clock that stands still, a record keeper outside, and faults at named points.

Law 1: nothing here waits for real time or chance; the same seed gives the same world.
Law 2: what the outside ``Ledger`` acknowledged survives ``kill -9`` of the process, so that effects can be
counted by whoever comes after.
"""

from __future__ import annotations

import datetime
import os
import random
import signal
import sqlite3
import threading
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from condor.ports.faults import FAULT_POINTS, Faults, no_faults

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Monday morning in the demo's world.
MORNING = datetime.datetime(2026, 11, 30, 9, 0, tzinfo=datetime.UTC)
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"


class SeededClock:
    """A clock that moves when it is told, and ids that the seed decides.

    Ids sort by minting, as ``ports.clock.Clock`` demands. A second process on the same home needs another
    seed, or its ids are those of the first.
    """

    def __init__(self, seed: int = 0, *, at: datetime.datetime = MORNING) -> None:
        """Stand at ``at`` (timezone-aware)."""
        self._random = random.Random(seed)  # noqa: S311 - reproducible on purpose
        self._now = at
        self._elapsed_s = 0.0
        self._minted = 0

    def now(self) -> datetime.datetime:
        """The time it was set to."""
        return self._now

    def monotonic(self) -> float:
        """Seconds it was moved forward."""
        return self._elapsed_s

    def new_id(self, prefix: str) -> str:
        """``prefix_`` and 26 characters that sort by minting."""
        self._minted += 1
        value = int(self._now.timestamp() * 1000) << 80 | self._minted << 48 | self._random.getrandbits(48)
        return f"{prefix}_" + "".join(_DIGITS[value >> shift & 31] for shift in range(125, -5, -5))

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._elapsed_s += seconds
        self._now += datetime.timedelta(seconds=seconds)

    def set(self, moment: datetime.datetime) -> None:
        """Set the wall clock, also backwards; monotonic time stays."""
        self._now = moment


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One effect that is on record."""

    #: 1, 2, 3 … in the order in which effects happened.
    number: int
    record: str
    value: str
    #: Idempotency key it was written under; empty without one.
    key: str


class Ledger:
    """An outside system in one file: it keeps records, knows idempotency keys, and counts effects.

    Synchronous and fit for any thread. Each call is one transaction of its own.
    """

    def __init__(self, path: Path | str) -> None:
        """Open or create the file."""
        self._path = Path(path)
        with closing(self._connect()) as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS effect"
                " (number INTEGER PRIMARY KEY, record TEXT NOT NULL, value TEXT NOT NULL, key TEXT NOT NULL)"
            )

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=10, isolation_level=None)
        # What the operating system has survives the process; only a power cut needs the disk.
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    def write(
        self, record: str, value: str, *, key: str = "", once: bool = True, faults: Faults = no_faults
    ) -> int:
        """Have one effect; under a key that is known already, none. The number of the effect.

        Args:
            key: without one every call is an effect of its own.
            once: keep a second effect under the same key out; else the key is only noted.
            faults: told just before and just after the commit, as the hospital's record tells it.
        """
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            known = None
            if key and once:
                known = connection.execute("SELECT number FROM effect WHERE key = ?", (key,)).fetchone()
            number: int = known[0] if known is not None else self._insert(connection, record, value, key)
            faults("fhir.before-commit")
            connection.execute("COMMIT")
        faults("fhir.after-commit")
        return number

    def _insert(self, connection: sqlite3.Connection, record: str, value: str, key: str) -> int:
        done = connection.execute(
            "INSERT INTO effect (record, value, key) VALUES (?, ?, ?)", (record, value, key)
        )
        # INVARIANT: an INSERT into a table with a row id has one.
        assert done.lastrowid is not None, "inserted"
        return done.lastrowid

    def entries(self, record: str | None = None) -> Sequence[LedgerEntry]:
        """Every effect, or those on one record, in order."""
        with closing(self._connect()) as connection:
            rows = connection.execute("SELECT number, record, value, key FROM effect ORDER BY number")
            found = [LedgerEntry(number=row[0], record=row[1], value=row[2], key=row[3]) for row in rows]
        return [entry for entry in found if record in (None, entry.record)]

    def count(self, record: str | None = None) -> int:
        """How many effects there were."""
        return len(self.entries(record))

    def find(self, key: str) -> LedgerEntry | None:
        """The effect of an idempotency key."""
        return next((entry for entry in self.entries() if entry.key == key), None)

    def version(self, record: str) -> str:
        """Version of a record: how often it was written."""
        return str(self.count(record))


class Watching:
    """Faults that only look: which points were reached, and how often."""

    def __init__(self) -> None:
        """Nothing was reached yet."""
        self.reached: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, point: str) -> None:
        """Count a point."""
        with self._lock:
            self.reached[point] += 1


class ActAt:
    """Faults that do something when a point is reached for the nth time, once."""

    def __init__(self, point: str, act: Callable[[], None], *, nth: int = 1, armed: bool = True) -> None:
        """Wait for ``point``.

        Args:
            act: what to do; what it raises, the point raises.
            nth: which passing of the point, counted while armed.
            armed: begin to count at once; else after ``arm()``.
        """
        if point not in FAULT_POINTS:
            raise ValueError(f"{point} is no fault point; there are {', '.join(FAULT_POINTS)}")
        self.point, self.nth = point, nth
        self._act = act
        self._armed = armed
        self._passed = 0

    def arm(self) -> None:
        """Begin to count."""
        self._armed = True

    def __call__(self, point: str) -> None:
        """Pass a point, or act."""
        if self._armed and point == self.point:
            self._passed += 1
            if self._passed == self.nth:
                self._act()


class KillAt(ActAt):
    """Faults that end the own process with ``kill -9`` at a point: nothing is flushed or closed."""

    def __init__(self, point: str, nth: int = 1, *, armed: bool = True) -> None:
        """Wait for the nth passing of ``point``; see ``ActAt``."""
        super().__init__(point, kill_self, nth=nth, armed=armed)


def kill_self() -> None:
    """End the own process as a power cut would, as far as one process can tell."""
    os.kill(os.getpid(), signal.SIGKILL)


class FailDisk(ActAt):
    """Faults that make one group of the embedded store fail as a full disk does."""

    def __init__(self, nth: int = 1, *, armed: bool = True) -> None:
        """Fail the nth group that is about to commit."""
        super().__init__("writer.before-commit", _disk_full, nth=nth, armed=armed)


def _disk_full() -> None:
    raise sqlite3.OperationalError("database or disk is full")
