"""What was done to a broken chain, told from what is left of it.

Law: every row has a place where its hash holds (``true number``), whatever number it claims now. The
rows before the first bad one hold, so the first bad one is told by three questions: where is its true
place, is the row that belongs here still somewhere, and does anything go on from it?
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from condor.core.audit.links import Chain, ChainRow, ChainVerdict, Tampering, chain_hash, other_run

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Hashes tried to find where displaced rows belong: half a second. Beyond it they count as edited.
_HASHES_MAX: Final = 200_000


def diagnose_without_run(chain: Chain) -> ChainVerdict:
    """Rows whose run has no row: it was removed, or they were moved here."""
    for row in chain.rows:
        other = other_run(chain.run_id, row.body)
        if other is not None:
            return _foreign(chain, row, other)
    count = len(chain.rows)
    return _bad(
        chain, None, "run-removed", f"the row of run {chain.run_id} was removed; {count} audit rows are left"
    )


def diagnose_end(chain: Chain) -> ChainVerdict:
    """The rows hold together, but the run's row says otherwise."""
    run, rows, counted = chain.run_id, len(chain.rows), chain.audit_seq
    last = chain.rows[-1].hash if chain.rows else ""
    if rows != counted and last == chain.audit_head:
        text = f"the row of run {run} counts {counted} audit rows, and its head is that of row {rows}"
        return _bad(chain, min(rows, counted) + 1, "head-mismatch", text)
    if rows < counted:
        return _bad(chain, rows + 1, "truncated", _gone(run, rows + 1, counted) + " from the end")
    if rows > counted and _recorded(chain):
        text = f"row {counted + 1} of run {run} was inserted: the run wrote {counted}"
        return _bad(chain, counted + 1, "inserted", text)
    text = f"row {rows} of run {run} is not the one that the run wrote last: it, or the run's row, was edited"
    return _bad(chain, rows or None, "head-mismatch", text)


def diagnose_row(chain: Chain, index: int) -> ChainVerdict:
    """What was done at the first row that does not hold.

    Args:
        chain: of which all rows before ``index`` hold.
        index: where it breaks, from 0.
    """
    row = chain.rows[index]
    other = other_run(chain.run_id, row.body)
    if other is not None:
        return _foreign(chain, row, other)
    return _Break(chain, index).verdict()


class _Break:
    """The first bad row among its neighbours."""

    def __init__(self, chain: Chain, index: int) -> None:
        self.chain = chain
        self.run = chain.run_id
        self.rows = chain.rows
        self.index = index
        self.row = chain.rows[index]
        #: The number that belongs here.
        self.due = index + 1
        self.true = _true_numbers(chain)

    def verdict(self) -> ChainVerdict:
        true = self.true[self.index]
        if true is not None and true < self.due:
            return self._inserted(true)
        if self.index >= self.chain.audit_seq and _recorded(self.chain):
            return self._inserted(self.row.seq)
        if true is None:
            return self._unplaced()
        if true > self.due:
            return self._from_further_on(true)
        if self.row.seq != self.due:
            return self._renumbered()
        return self._unlinked()

    def _unplaced(self) -> ChainVerdict:
        """A row whose hash holds nowhere."""
        due, seq = self.due, self.row.seq
        if self._waits(due) or seq < due:
            return self._inserted(seq)
        partner = self._partner()
        if partner is not None:
            return self._reordered(f"rows {due} and {partner} of run {self.run} changed contents")
        if seq > due and not self._waits(due + 1):
            return self._removed(seq)
        return self._edited(due)

    def _from_further_on(self, true: int) -> ChainVerdict:
        """A row that holds, but later."""
        if not self._waits(self.due):
            return self._removed(true)
        if self._waits(true):
            return self._inserted(self.row.seq)
        return self._reordered(f"row {true} of run {self.run} stands where row {self.due} belongs")

    def _renumbered(self) -> ChainVerdict:
        """The right row in the right place under a wrong number."""
        due, seq = self.due, self.row.seq
        if any(other.seq == due for other in self.rows[self.index + 1 :]):
            return self._reordered(f"rows {due} and {seq} of run {self.run} changed numbers")
        return self._edited(due, f"row {due} of run {self.run} was edited: it is numbered {seq}")

    def _unlinked(self) -> ChainVerdict:
        """A row that holds by itself, but does not go on from the one before it."""
        due = self.due
        if due > 1 and self._is_continued():
            before = self.row.prev_hash
            if any(row.hash == before for row in self.rows[self.index + 1 :]):
                return self._inserted(due - 1)
            return self._edited(due - 1)
        if self._waits(due):
            return self._inserted(due)
        return self._edited(due)

    def _waits(self, number: int) -> bool:
        """Whether the true row ``number`` stands somewhere after the break."""
        later = range(self.index + 1, len(self.rows))
        return any(self.true[at] == number for at in later)

    def _is_continued(self) -> bool:
        """Whether the next row, or the run's row, goes on from this one."""
        mark = self.row.hash
        return mark == self.chain.audit_head or any(row.prev_hash == mark for row in self.rows)

    def _partner(self) -> int | None:
        """The number of the row that holds this one's body, as this one holds its."""
        row = self.row
        for at in range(self.index + 1, len(self.rows)):
            other = self.rows[at]
            if (
                self.true[at] is None
                and row.hash == chain_hash(row.prev_hash, row.seq, other.body)
                and other.hash == chain_hash(other.prev_hash, other.seq, row.body)
            ):
                return other.seq
        return None

    def _edited(self, number: int, text: str = "") -> ChainVerdict:
        return _bad(self.chain, number, "edited", text or f"row {number} of run {self.run} was edited")

    def _inserted(self, number: int) -> ChainVerdict:
        return _bad(self.chain, number, "inserted", f"a row {number} was inserted into run {self.run}")

    def _removed(self, up_to: int) -> ChainVerdict:
        return _bad(self.chain, self.due, "removed", _gone(self.run, self.due, up_to - 1))

    def _reordered(self, text: str) -> ChainVerdict:
        return _bad(self.chain, self.due, "reordered", text)


def _true_numbers(chain: Chain) -> list[int | None]:
    """For each row the number under which its hash holds; None: under none."""
    budget = iter(range(_HASHES_MAX))
    shift = 0
    numbers: list[int | None] = []
    for row in chain.rows:
        found = None
        for prev, number in _candidates(chain, row, shift):
            if chain_hash(prev, number, row.body) == row.hash:
                found = number
                break
            if next(budget, None) is None:
                break
        if found is not None:
            shift = found - row.seq
        numbers.append(found)
    return numbers


def _candidates(chain: Chain, row: ChainRow, shift: int) -> Iterator[tuple[str, int]]:
    """Where a row may belong: as it says; as its neighbours were shifted; anywhere."""
    yield row.prev_hash, row.seq
    yield row.prev_hash, row.seq + shift
    for number in range(1, max(chain.audit_seq, len(chain.rows)) + 2):
        yield row.prev_hash, number
    for other in chain.rows:
        yield other.prev_hash, other.seq


def _recorded(chain: Chain) -> bool:
    """Whether the rows up to the count of the run's row, no more than there are, end in its hash."""
    count = chain.audit_seq
    return chain.audit_head == (chain.rows[count - 1].hash if count else "")


def _gone(run_id: str, first: int, last: int) -> str:
    if last <= first:
        return f"row {first} of run {run_id} was removed"
    return f"rows {first} to {last} of run {run_id} were removed"


def _foreign(chain: Chain, row: ChainRow, other: str) -> ChainVerdict:
    text = f"row {row.seq} of run {chain.run_id} belongs to another run: it names {other!r}"
    return _bad(chain, row.seq, "foreign", text)


def _bad(chain: Chain, seq: int | None, what: Tampering, message: str) -> ChainVerdict:
    return ChainVerdict(
        run_id=chain.run_id,
        kept=False,
        rows=len(chain.rows),
        first_bad_seq=seq,
        what=what,
        message=message,
    )
