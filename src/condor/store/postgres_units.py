"""A unit of work as the arguments of ``apply_unit``, and its answer as the port's verdict.

Law: a value that no column takes is found here, or by the driver before it sends, or by the server: in any
case it is the unit's own fault, and ends nothing but the unit.

Lists of JSON texts and of our own words are sent as one text each, apart by a character that JSON has only
escaped and no word of ours has: in an array the driver looks at each of them for an array within, a tenth of
what a unit costs the event loop here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, cast

from condor.core.errors import OurBug, TransitionRefused, show
from condor.core.run import RUN_TRANSITIONS
from condor.ports.store import Committed, Conflict, ConflictKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.ports.store import SuspensionRow, Transition

#: In the order of the function's parameters, the last three left out.
Arguments: TypeAlias = "list[object]"

#: Length of ``2026-11-30T09:31:02.114Z``: one width, so that text order is time order.
_TIME_CHARS: Final = 24

#: A control character: none stands in JSON, nor in a word of a closed set; names of payloads are looked at.
_APART: Final = "\x1f"
_APART_BYTES: Final = _APART.encode()
_PARAMETERS: Final = 32
#: Place of the last three, which are the group's: the writer's fence, its number, and who is to hear of it.
OF_GROUP: Final = 29
#: Parameters that are sent joined: statuses that are left or expected, kinds and facts of events, audit
#: entries, names and values of payloads.
_JOINED: Final = frozenset({7, 8, 24, 25, 26, 27, 28})

#: Statuses from which each may be reached, by whatever cause; itself is always one of them.
_FROM: Final = {
    new: frozenset({new, *(old for old, news in RUN_TRANSITIONS.items() if new in news)})
    for new in RUN_TRANSITIONS
}
_FROM_JOINED: Final = {new: _APART.join(sorted(olds)) for new, olds in _FROM.items()}

APPLY: Final = "SELECT apply_unit_2({})".format(
    ", ".join(
        f"string_to_array(${number}, '{_APART}')" if number in _JOINED else f"${number}"
        for number in range(1, _PARAMETERS + 1)
    )
)


def arguments_of(unit: Transition, writer: int) -> Arguments:
    """What the function is called with.

    Raises:
        OurBug: the unit contradicts itself or the run table.
        AttributeError, TypeError, ValueError: it is malformed.
    """
    _check_time(unit.at)
    new, expect = unit.create, unit.expect
    status = unit.status
    came_from = None
    if new is not None:
        if status is not None and new.status not in _FROM[status]:
            raise TransitionRefused(f"run {unit.run_id} cannot go from {new.status} to {status}")
        status = status or new.status
    elif status is not None:
        came_from = _FROM_JOINED[status]
    claim = new.claim if new is not None else None
    decide = unit.decide
    for made in decide:
        if made.status == "pending":
            raise OurBug(f"card {made.suspend_id} cannot be decided as pending")
    steps, payloads = unit.steps, unit.payloads
    if len(steps) > 1:
        steps = list({step.step_id: step for step in steps}.values())
    if len(payloads) > 1:
        payloads = list(dict(payloads).items())
    return [
        unit.run_id,
        unit.tenant_id,
        unit.at,
        None if new is None else [new.session_id, new.requester.decode(), new.autonomy],
        None if claim is None else [claim.principal_id, claim.key, claim.digest],
        None if status is None else status._value_,
        came_from,
        None if expect.statuses is None else _APART.join(expect.statuses),
        expect.epoch,
        expect.answers,
        expect.rev,
        int(unit.raise_epoch),
        int(unit.count_answer),
        unit.hand_over,
        None if unit.halt is None else unit.halt.decode(),
        unit.worked_ms,
        [made.suspend_id for made in decide] or None,
        [made.status for made in decide] or None,
        [made.decided_by for made in decide] or None,
        [made.refuse_expired for made in decide] or None,
        list(unit.consume) or None,
        [_card(row, unit) for row in unit.park] or None,
        [(s.step_id, s.status._value_, s.attempt, s.key, s.code) for s in steps] or None,
        _APART.join([kind for kind, _ in unit.events]) or None,
        _joined([facts for _, facts in unit.events]),
        _joined(unit.audit),
        _names([key for key, _ in payloads]),
        _joined([value for _, value in payloads]),
        writer,
    ]


def _joined(texts: Sequence[bytes]) -> str | None:
    if not texts:
        return None
    joined = _APART_BYTES.join(texts)
    if not joined or joined.count(_APART_BYTES) != len(texts) - 1:
        raise OurBug("what a unit holds as JSON is none")
    return joined.decode()


def _names(keys: Sequence[str]) -> str | None:
    if not keys:
        return None
    joined = _APART.join(keys)
    if not joined or joined.count(_APART) != len(keys) - 1:
        raise OurBug("a payload has no name, or one with a control character in it")
    return joined


def _check_time(at: str) -> None:
    if len(at) != _TIME_CHARS or at[-1] != "Z" or not at[0].isdecimal():
        raise OurBug(f"a unit's time is RFC 3339 in UTC with milliseconds, not {show(at)}")


def _card(row: SuspensionRow, unit: Transition) -> tuple[object, ...]:
    if row.run_id != unit.run_id or row.tenant_id != unit.tenant_id:
        raise OurBug(f"a unit of run {unit.run_id} cannot park a card of run {show(row.run_id)}")
    if row.expires_at is not None:
        _check_time(row.expires_at)
    return (
        row.suspend_id,
        row.step_id,
        row.generation,
        row.reason_code,
        row.origin,
        row.contract_hash,
        row.tool,
        row.opened_at,
        row.expires_at,
        row.facts.decode(),
        row.status,
        row.decided_by,
        row.decided_at,
        row.consumed,
        row.tier,
        row.requester,
        row.subject,
    )


def heard_of(units: Sequence[Transition]) -> list[str]:
    """Ids of the runs of a group, apart by blanks, in texts that one notification takes."""
    texts: list[str] = []
    for run_id in sorted({unit.run_id for unit in units}):
        if texts and len(texts[-1]) + len(run_id) < _HEARD_CHARS_MAX:
            texts[-1] += f" {run_id}"
        else:
            texts.append(run_id)
    return texts


#: PostgreSQL takes 8,000 bytes less one; a time goes before the ids.
_HEARD_CHARS_MAX: Final = 7_000


def committed_of(word: str) -> Committed | None:
    """What a unit is told that is on disk; None for one that was refused."""
    said, _, rest = word.partition(" ")
    if said != "ok":
        return None
    first, last, rev, epoch, answers = map(int, rest.split())
    return Committed(first_seq=first, last_seq=last, rev=rev, epoch=epoch, answers=answers)


def refusal_of(word: str, unit: Transition) -> Refusal | Exception:
    """Why a unit was refused: what is to be looked up for its conflict, or the error itself."""
    said, _, about = word.partition(" ")
    if said == "illegal":
        return TransitionRefused(f"run {unit.run_id} cannot go from {about} to {unit.status}")
    if said == "absent":
        return Conflict("missing", run=None)
    if not about and unit.decide:
        about = unit.decide[0].suspend_id
    return cast("ConflictKind", said), about


#: Kind, and the card that was in the way, if any.
Refusal: TypeAlias = "tuple[ConflictKind, str]"
