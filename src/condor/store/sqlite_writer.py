"""The one thread with the one connection that writes and checkpoints.

Law 1: a group is one transaction; nobody is told anything before its commit, the losers neither.
Law 2: a conflict or a bug of one unit is that unit's; an error of the disk ends the group, and leaves
the connection outside any transaction, fit for the next group.

SQLite before 3.51.3 can lose a WAL reset when two connections checkpoint or write at once
(sqlite.org/wal.html, "WAL-reset"); one writer that alone checkpoints cannot meet that fault.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final, TypeVar

from condor.core.errors import CondorError, OurBug, StoreUnavailable
from condor.ports.store import Committed, Conflict, Transition
from condor.store.sqlite_units import plan_unit, write_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from condor.ports.faults import Faults
    from condor.store.grouper import Settle, Verdicts

_CLOCK: Final = "UPDATE meta SET value = ? WHERE key = 'clock'"
_READ_CLOCK: Final = "SELECT value FROM meta WHERE key = 'clock'"

#: What writing raises because of one unit's values (a text that is no Unicode, a number of 65 bits, a value
#: of no column's type); anything else the driver raises is about the disk.
_UNSTORABLE: Final = (
    sqlite3.IntegrityError,
    sqlite3.ProgrammingError,
    sqlite3.InterfaceError,
    sqlite3.DataError,
    UnicodeError,
    OverflowError,
)

_T = TypeVar("_T")


class SqliteWriter:
    """A thread that applies groups, one after the other, until it is closed."""

    def __init__(self, connection: sqlite3.Connection, faults: Faults) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._faults = faults
        (self._clock,) = self._cursor.execute(_READ_CLOCK).fetchone()
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="condor-store-writer", daemon=True)
        self._thread.start()

    def hand_over(self, group: Sequence[Transition], settle: Settle) -> None:
        """Apply a group; ``settle`` is called in the writer thread, once, when its fate is known."""
        self._queue.put(lambda: settle(self._apply(group)))

    def call(self, errand: Callable[[sqlite3.Connection], _T]) -> Future[_T]:
        """Do something else that needs the connection, between groups and outside any transaction."""
        done: Future[_T] = Future()

        def run() -> None:
            # From here on nobody can cancel it: a future that was cancelled takes no result, and raises here.
            if not done.set_running_or_notify_cancel():
                return
            try:
                done.set_result(errand(self._connection))
            except BaseException as error:  # noqa: BLE001 - whoever waits for the errand is told
                self._leave_transaction()
                done.set_exception(error)

        self._queue.put(run)
        return done

    def close(self) -> None:
        """Finish what was handed over, checkpoint, close; blocks until it is done."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            job()
        self._connection.close()

    def _apply(self, group: Sequence[Transition]) -> Verdicts:
        """The fate of each unit of a group."""
        try:
            verdicts = self._commit(group)
            self._faults("writer.after-commit")
        except _UNSTORABLE as error:
            self._leave_transaction()
            if len(group) > 1:
                # One unit holds what no column takes, and had begun to write: each on its own, then.
                return [verdict for unit in group for verdict in self._apply([unit])]
            return [OurBug(f"a unit of run {group[0].run_id} cannot be stored: {error!r}")]
        except sqlite3.Error as error:
            self._leave_transaction()
            # One for each waiter: an exception that is raised twice tangles its tracebacks.
            return [StoreUnavailable(f"the database did not take the transaction: {error}") for _ in group]
        except BaseException as error:  # noqa: BLE001 - a test's planted crash reaches every waiter
            self._leave_transaction()
            return [error] * len(group)
        return verdicts

    def _commit(self, group: Sequence[Transition]) -> Verdicts:
        """One transaction for a group; a unit that is refused has written nothing."""
        cursor, clock = self._cursor, self._clock
        verdicts: list[Committed | BaseException] = []
        cursor.execute("BEGIN IMMEDIATE")
        for unit in group:
            try:
                plan = plan_unit(cursor, unit, clock)
            except (Conflict, CondorError) as refused:
                verdicts.append(refused)
                continue
            except (AttributeError, TypeError, ValueError, OverflowError) as error:
                verdicts.append(OurBug(f"a unit of run {unit.run_id} is malformed: {error!r}"))
                continue
            write_unit(cursor, plan)
            verdicts.append(plan.committed)
            clock = max(clock, unit.at)
        if clock != self._clock:
            cursor.execute(_CLOCK, (clock,))
        self._faults("writer.before-commit")
        cursor.execute("COMMIT")
        self._clock = clock
        return verdicts

    def _leave_transaction(self) -> None:
        """Some errors end the transaction by themselves, others leave it open."""
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error:
                # The next BEGIN reports what is wrong with the connection.
                return
