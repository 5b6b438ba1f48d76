"""The one thread with the one connection that writes and checkpoints.

Law 1: a group is one transaction, each unit in a savepoint of its own; nobody is told before the commit.
Law 2: a conflict or a bug of one unit ends that unit; an error of the disk ends the group, and leaves
the connection outside any transaction, fit for the next group.

SQLite before 3.51.3 can lose a WAL reset when two connections checkpoint or write at once
(sqlite.org/wal.html, "WAL-reset"); one writer that alone checkpoints cannot meet that fault.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from condor.core.errors import CondorError, OurBug, StoreUnavailable
from condor.ports.store import Committed, Conflict, Transition
from condor.store.sqlite_units import apply_unit

if TYPE_CHECKING:
    from condor.ports.faults import Faults
    from condor.store.grouper import Settle, Verdicts

_CLOCK: Final = "UPDATE meta SET value = ? WHERE key = 'clock'"
_READ_CLOCK: Final = "SELECT value FROM meta WHERE key = 'clock'"

#: What the driver raises about one unit's values; anything else it raises is about the disk.
_UNSTORABLE: Final = (
    sqlite3.IntegrityError,
    sqlite3.ProgrammingError,
    sqlite3.InterfaceError,
    sqlite3.DataError,
)

#: Anything else that needs the writing connection; it reports for itself.
Errand: TypeAlias = Callable[[sqlite3.Connection], None]


class SqliteWriter:
    """A thread that applies groups, one after the other, until it is closed."""

    def __init__(self, connection: sqlite3.Connection, faults: Faults) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._faults = faults
        (self._clock,) = self._cursor.execute(_READ_CLOCK).fetchone()
        self._queue: queue.SimpleQueue[tuple[Sequence[Transition], Settle] | Errand | None] = (
            queue.SimpleQueue()
        )
        self._thread = threading.Thread(target=self._work, name="condor-store-writer", daemon=True)
        self._thread.start()

    def hand_over(self, group: Sequence[Transition], settle: Settle) -> None:
        """Apply a group; ``settle`` is called in the writer thread, once, when its fate is known."""
        self._queue.put((group, settle))

    def run_errand(self, errand: Errand) -> None:
        """Call ``errand`` with the connection, between groups and outside any transaction."""
        self._queue.put(errand)

    def close(self) -> None:
        """Finish what was handed over, checkpoint, close; blocks until it is done."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            if isinstance(job, tuple):
                group, settle = job
                settle(self._apply(group))
            else:
                job(self._connection)
        self._connection.close()

    def _apply(self, group: Sequence[Transition]) -> Verdicts:
        """The fate of each unit of a group."""
        try:
            verdicts = self._commit(group)
            self._faults("writer.after-commit")
        except sqlite3.Error as error:
            self._leave_transaction()
            # One for each waiter: an exception that is raised twice tangles its tracebacks.
            return [StoreUnavailable(f"the database did not take the transaction: {error}") for _ in group]
        except BaseException as error:  # noqa: BLE001 - a test's planted crash reaches every waiter
            self._leave_transaction()
            return [error] * len(group)
        return verdicts

    def _commit(self, group: Sequence[Transition]) -> Verdicts:
        execute = self._cursor.execute
        clock = self._clock
        verdicts: list[Committed | BaseException] = []
        execute("BEGIN IMMEDIATE")
        for unit in group:
            verdict = self._try(unit, clock)
            verdicts.append(verdict)
            if unit.at > clock and isinstance(verdict, Committed):
                clock = unit.at
        if clock != self._clock:
            execute(_CLOCK, (clock,))
        self._faults("writer.before-commit")
        execute("COMMIT")
        self._clock = clock
        return verdicts

    def _try(self, unit: Transition, clock: str) -> Committed | BaseException:
        """One unit in its savepoint: done, or undone with the reason."""
        self._cursor.execute("SAVEPOINT unit")
        try:
            verdict: Committed | BaseException = apply_unit(self._cursor, unit, clock)
        except (Conflict, CondorError) as refused:
            verdict = refused
        except _UNSTORABLE as error:
            verdict = OurBug(f"a unit of run {unit.run_id} cannot be stored: {error}")
        except (AttributeError, TypeError, ValueError, OverflowError) as error:
            verdict = OurBug(f"a unit of run {unit.run_id} is malformed: {error!r}")
        if isinstance(verdict, BaseException):
            self._cursor.execute("ROLLBACK TO unit")
        self._cursor.execute("RELEASE unit")
        return verdict

    def _leave_transaction(self) -> None:
        """Some errors end the transaction by themselves, others leave it open."""
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error:
                # The next BEGIN reports what is wrong with the connection.
                return
