"""What Condor writes for one run: its units, recorded from a run, and copies of them for other runs."""

from __future__ import annotations

import dataclasses
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bench.condor_runs import CondorContender
from condor.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from condor.ports.store import Committed, Transition

_T = TypeVar("_T")


@contextmanager
def recorded() -> Iterator[list[Transition]]:
    """Every unit that is handed to any store meanwhile, in order."""
    units: list[Transition] = []
    commit = SqliteStore.commit

    async def recording(store: SqliteStore, unit: Transition) -> Committed:
        units.append(unit)
        return await commit(store, unit)

    SqliteStore.commit = recording  # type: ignore[method-assign, assignment]
    try:
        yield units
    finally:
        SqliteStore.commit = commit  # type: ignore[method-assign]


async def units_of_one_run(*, approve: bool = True) -> list[Transition]:
    """The units of one run of the benchmark's work; without ``approve`` up to its park."""
    with tempfile.TemporaryDirectory(prefix="condor-bench-") as directory, recorded() as units:
        async with CondorContender().open(Path(directory)) as opened:
            handle = await opened.start("run-000000")
            if approve:
                await opened.approve("run-000000", handle)
    return units


def renamed(value: _T, names: Mapping[str, str]) -> _T:
    """A deep copy with ids replaced wherever they stand: in fields, in texts and inside JSON bytes.

    Args:
        names: old id → new id, of the same length.
    """
    changed: Any = value
    if isinstance(value, bytes):
        for old, new in names.items():
            changed = changed.replace(old.encode(), new.encode())
    elif isinstance(value, str) and type(value) is str:
        for old, new in names.items():
            changed = changed.replace(old, new)
    elif isinstance(value, tuple | list):
        changed = type(value)(renamed(item, names) for item in value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        changed = type(value)(**{name: renamed(item, names) for name, item in fields.items()})
    return changed  # type: ignore[no-any-return]


def rows_of(unit: Transition) -> list[tuple[str, tuple[object, ...]]]:
    """A unit as rows: table, and the values it writes there, as any store would have to.

    Updates of a row that is there already (the run's head, a card that is decided) are rows as well.
    """
    run, at = str(unit.run_id), unit.at
    new = unit.create
    born = (new.session_id, new.requester, new.autonomy) if new is not None else ()
    status = unit.status or (new.status if new is not None else None)
    rows: list[tuple[str, tuple[object, ...]]] = [
        ("run", (run, str(status) if status is not None else None, at, *born, unit.halt))
    ]
    rows += [("step", (run, s.step_id, str(s.status), s.attempt, s.key, s.code)) for s in unit.steps]
    for card in unit.park:
        values = [getattr(card, field.name) for field in dataclasses.fields(card)]
        rows.append(("card", tuple(str(v) if isinstance(v, str) else v for v in values)))
    rows += [("answer", (d.suspend_id, d.status, d.decided_by, at)) for d in unit.decide]
    rows += [("use", (suspend_id,)) for suspend_id in unit.consume]
    rows += [("event", (run, kind.value, at, facts)) for kind, facts in unit.events]
    rows += [("audit", (run, body, "0" * 64, "0" * 64)) for body in unit.audit]
    rows += [("payload", (run, key, value)) for key, value in unit.payloads]
    return rows


def size_of(units: Sequence[Transition]) -> dict[str, int]:
    """Units, rows and bytes of values; a number counts as eight bytes."""
    rows = [values for unit in units for _, values in rows_of(unit)]
    bytes_ = sum(
        len(value) if isinstance(value, str | bytes) else 0 if value is None else 8
        for values in rows
        for value in values
    )
    return {"units": len(units), "rows": len(rows), "bytes": bytes_}
