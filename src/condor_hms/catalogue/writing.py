"""Writing to the record: one transaction, one key, signed for.

Rule 1: a write is ONE Bundle: the resource and its Provenance, applied whole or not at all.
Rule 2: both carry the call's idempotency key, so that a repetition finds what is there and writes nothing.
Rule 3: an update is made on the version that a person saw. If the record has moved since, a version with the
own tag means that this call was applied; without one somebody else changed it, and a person looks again.
"""

from __future__ import annotations

import datetime
import re
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from condor import Principal, RecordMoved, ToolContext, ToolError
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, version_of
from condor_hms.catalogue.words import order_text
from condor_hms.fhir.errors import FhirError, Unavailable, ValidationRefused, VersionConflict
from condor_hms.fhir.own_systems import CONDOR, IDEMPOTENCY_SYSTEM, PRINCIPAL_SYSTEM
from condor_hms.fhir.references import is_local

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import FhirStore, Resource, TransactionResult

__all__ = [
    "Activity",
    "Edit",
    "Written",
    "clock_time",
    "find_own",
    "has_own_tag",
    "identified",
    "moved",
    "own_version",
    "person",
    "printed_person",
    "record_time",
    "state_change",
    "versions_of",
    "witness_url",
    "write",
]

#: Namespace of the full URLs inside a Bundle: made from the key, so that a repetition is the same Bundle.
_NAMESPACE = uuid.UUID("5b0f7c1e-6a0e-4d7a-9d38-3c9a2b1f4e60")
#: What a key may be made of: it stands in a search, where a comma would mean "or" and a bar would divide it.
_KEY = re.compile(r"[A-Za-z0-9:._/-]{1,200}")
_PARTICIPANTS = "http://terminology.hl7.org/CodeSystem/provenance-participant-type"
#: FHIR v3-DataOperation: what was done to the targets; a removal is a DELETE although the resource stays.
Activity = Literal["CREATE", "UPDATE", "DELETE"]
#: Elements that say in which state a resource is.
_STATES = ("status", "docStatus", "clinicalStatus", "verificationStatus")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What stands in the record after a write."""

    reference: str
    version: str
    #: It was there before this call: an earlier try of the same call wrote it.
    replayed: bool = False

    @classmethod
    def again(cls, own: Resource) -> Written:
        """What an earlier try wrote, found in the record."""
        return cls(reference=reference_of(own), version=version_of(own), replayed=True)

    def to_json(self) -> dict[str, Any]:
        """As part of a tool's value."""
        value: dict[str, Any] = {"reference": self.reference, "version": self.version}
        return {**value, "replayed": True} if self.replayed else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A resource as it was read, at the version a person saw, and as it will be."""

    before: Resource
    after: Resource


async def write(
    hospital: Hospital,
    ctx: ToolContext,
    *,
    new: Sequence[Resource] = (),
    edits: Sequence[Edit] = (),
    activity: Activity = "CREATE",
    reason: str = "",
    signed: Mapping[str, Any] | None = None,
    witness: Resource | None = None,
) -> list[Written]:
    """Write new resources and changed ones with one Provenance in one transaction, once for the call's key.

    Args:
        new: without ids; the first carries the key's identifier, the others the key and their number.
        edits: each made on the version it was read at.
        signed: a ``Signature`` for the Provenance.
        witness: an AuditEvent of the call, which has no identifier and is found by its tag; the others refer
            to it by ``witness_url``.

    Returns:
        The new resources, then the changed ones.

    Raises:
        RecordMoved: somebody else changed one of them in between; nothing was written.
    """
    key = _key_of(ctx)
    entries = [*(_creation(resource, number, key) for number, resource in enumerate(new))]
    entries += [_change(edit, key) for edit in edits]
    targets = [entry["fullUrl"] for entry in entries]
    beside = [] if witness is None else [_witnessing(witness, key)]
    about = await _provenance(hospital, ctx, targets, activity, reason=reason, signed=signed)
    try:
        result = await _transact(hospital, [*entries, *beside, about])
    except VersionConflict as conflict:
        return await _lost_race(hospital, key, new, edits, conflict)
    return [
        Written(reference=outcome.reference, version=outcome.version, replayed=outcome.status == "unchanged")
        for outcome in result.outcomes[: len(entries)]
    ]


def _creation(resource: Resource, number: int, key: str) -> dict[str, Any]:
    own = f"{key}:{number}" if number else key
    request = {"method": "POST", "url": resource["resourceType"]}
    return {
        "fullUrl": f"urn:uuid:{uuid.uuid5(_NAMESPACE, own)}",
        "resource": _stamped(resource, own, key),
        "request": {**request, "ifNoneExist": f"identifier={_query_token(own)}"},
    }


def witness_url(key: str) -> str:
    """The full URL, inside a write, of its witness."""
    return f"urn:uuid:{uuid.uuid5(_NAMESPACE, f'{key}:witness')}"


def _witnessing(witness: Resource, key: str) -> dict[str, Any]:
    condition = f"_tag={_query_token(key)}"
    request = {"method": "POST", "url": witness["resourceType"], "ifNoneExist": condition}
    return {"fullUrl": witness_url(key), "resource": _tagged(witness, key), "request": request}


def _change(edit: Edit, key: str) -> dict[str, Any]:
    reference = reference_of(edit.before)
    return {
        "fullUrl": reference,
        "resource": _tagged(edit.after, key),
        "request": {"method": "PUT", "url": reference, "ifMatch": f'W/"{version_of(edit.before)}"'},
    }


async def _lost_race(
    hospital: Hospital, key: str, new: Sequence[Resource], edits: Sequence[Edit], conflict: VersionConflict
) -> list[Written]:
    """What an earlier try of the same call wrote; else who was faster is told by what they changed."""
    found = [await find_own(hospital, resource["resourceType"], key) for resource in new[:1]]
    histories = [await versions_of(hospital, reference_of(edit.before)) for edit in edits]
    found += [own_version(versions, key) for versions in histories]
    kept = [own for own in found if own is not None]
    if len(kept) == len(found):
        return [Written.again(own) for own in kept]
    for edit, versions in zip(edits, histories, strict=True):
        if version_of(versions[0]) != version_of(edit.before):
            raise moved(edit.before, versions[0]) from conflict
    raise RecordMoved(f"{conflict.reference} was changed; nothing was written") from conflict


def moved(seen: Resource, now: Resource) -> RecordMoved:
    """The record is not what the card showed; says what changed."""
    said = "; ".join(_differences(seen, now)) or "content"
    return RecordMoved(
        f"{reference_of(now)} was changed by somebody else since it was shown ({said}; "
        f"version {version_of(seen)} → {version_of(now)}); nothing was written"
    )


def _differences(seen: Resource, now: Resource) -> list[str]:
    """What moved, in words: the state and the order's text first, then the names of other elements."""
    said = [
        f"{_spaced(name)} {_state(seen, name)} → {_state(now, name)}"
        for name in _STATES
        if _state(seen, name) != _state(now, name)
    ]
    told = {*_STATES, "meta"}
    if now.get("resourceType") == "MedicationRequest":
        told |= {"dosageInstruction", "medicationCodeableConcept"}
        if order_text(seen) != order_text(now):
            said.append(f"{order_text(seen)} → {order_text(now)}")
    others = sorted(name for name in {*seen, *now} - told if seen.get(name) != now.get(name))
    return [*said, *others]


def state_change(edit: Edit) -> str:
    """``active → stopped``: the first state that an edit moves; empty where it moves none."""
    moves = [(_state(edit.before, name), _state(edit.after, name)) for name in _STATES]
    return next((f"{old} → {new}" for old, new in moves if old != new), "")


def _state(resource: Resource, name: str) -> str:
    state = resource.get(name)
    if isinstance(state, dict):
        state = next((coding.get("code") for coding in state.get("coding") or []), None)
    return str(state or "not known")


def _spaced(name: str) -> str:
    """``docStatus`` → ``doc status``."""
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: f" {match[1].lower()}", name)


async def find_own(hospital: Hospital, resource_type: str, key: str) -> Resource | None:
    """What an earlier try of the same call wrote, found by the key's identifier."""
    with reading():
        found = await hospital.fhir.search(resource_type, {"identifier": f"{IDEMPOTENCY_SYSTEM}|{key}"})
    return found[0] if found else None


async def versions_of(hospital: Hospital, reference: str) -> list[Resource]:
    """Every version of a resource, newest first."""
    with reading():
        return await hospital.fhir.history(reference)


def own_version(versions: Sequence[Resource], key: str) -> Resource | None:
    """The version that the call with this key wrote; somebody may have changed it again since."""
    return next((version for version in versions if has_own_tag(version, key)), None)


def has_own_tag(resource: Resource, key: str) -> bool:
    """Whether the call with this key wrote this version."""
    tags = (resource.get("meta") or {}).get("tag") or []
    return bool(key) and any(
        tag.get("system") == IDEMPOTENCY_SYSTEM and tag.get("code") == key for tag in tags
    )


def identified(resource: Resource, key: str) -> bool:
    """Whether the call with this key created this resource."""
    return bool(key) and any(
        identifier.get("system") == IDEMPOTENCY_SYSTEM and identifier.get("value") == key
        for identifier in resource.get("identifier") or []
    )


async def person(hospital: Hospital, who: Principal) -> dict[str, Any]:
    """A principal as a Reference with the printed name: their Practitioner, else their login."""
    with reading():
        return await printed_person(hospital.fhir, who.id, who.name)


async def printed_person(fhir: FhirStore, principal_id: str, name: str) -> dict[str, Any]:
    """As ``person``, of a record alone.

    Raises:
        FhirError: the record does not answer.
    """
    reference = f"Practitioner/{principal_id}"
    if is_local(reference) and (await fhir.versions([reference]))[reference] is not None:
        return {"reference": reference, "display": _printed_name(await fhir.read(reference)) or name}
    return {"display": name, "identifier": {"system": PRINCIPAL_SYSTEM, "value": principal_id}}


def record_time(hospital: Hospital, ctx: ToolContext) -> str:
    """The moment as the record dates it: the record's day, the clock's time."""
    clock = ctx.now.astimezone(datetime.UTC)
    return f"{hospital.today.isoformat()}T{clock:%H:%M:%S}Z"


def clock_time(ctx: ToolContext) -> str:
    """The moment by the clock, as FHIR writes one."""
    return f"{ctx.now.astimezone(datetime.UTC):%Y-%m-%dT%H:%M:%S}Z"


def _key_of(ctx: ToolContext) -> str:
    if not _KEY.fullmatch(ctx.idempotency_key):
        raise ToolError("a write needs an idempotency key; nothing was written", effect="none", code="no_key")
    return ctx.idempotency_key


def _query_token(key: str) -> str:
    return quote(f"{IDEMPOTENCY_SYSTEM}|{key}", safe=":|")


def _stamped(resource: Resource, own: str, key: str) -> Resource:
    identifier = {"system": IDEMPOTENCY_SYSTEM, "value": own}
    return _tagged({**resource, "identifier": [*(resource.get("identifier") or []), identifier]}, key)


def _tagged(resource: Resource, key: str) -> Resource:
    """With the own tag in place of those of earlier writes: a tag says who wrote *this* version."""
    meta = {
        name: value for name, value in (resource.get("meta") or {}).items() if name in ("profile", "security")
    }
    kept = [
        tag
        for tag in (resource.get("meta") or {}).get("tag") or []
        if tag.get("system") != IDEMPOTENCY_SYSTEM
    ]
    return {**resource, "meta": {**meta, "tag": [*kept, {"system": IDEMPOTENCY_SYSTEM, "code": key}]}}


async def _provenance(
    hospital: Hospital,
    ctx: ToolContext,
    targets: Sequence[str],
    activity: Activity,
    *,
    reason: str,
    signed: Mapping[str, Any] | None,
) -> dict[str, Any]:
    agents = [_agent("author", await person(hospital, ctx.principal))]
    if ctx.approved_by is not None and ctx.approved_by.id != ctx.principal.id:
        agents.append(_agent("verifier", await person(hospital, ctx.approved_by)))
    resource: dict[str, Any] = {
        "resourceType": "Provenance",
        "meta": {"tag": [{"system": IDEMPOTENCY_SYSTEM, "code": ctx.idempotency_key}]},
        "target": [{"reference": target} for target in targets],
        "recorded": clock_time(ctx),
        "activity": {
            "coding": [{"system": "http://terminology.hl7.org/CodeSystem/v3-DataOperation", "code": activity}]
        },
        "agent": [*agents, _agent("assembler", CONDOR)],
    }
    if reason:
        resource["reason"] = [{"text": reason}]
    if signed is not None:
        resource["signature"] = [dict(signed)]
    condition = f"_tag={_query_token(ctx.idempotency_key)}"
    return {
        "resource": resource,
        "request": {"method": "POST", "url": "Provenance", "ifNoneExist": condition},
    }


def _agent(role: str, who: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": {"coding": [{"system": _PARTICIPANTS, "code": role}]}, "who": dict(who)}


def _printed_name(practitioner: Resource) -> str:
    name = (practitioner.get("name") or [{}])[0]
    parts = [*(name.get("prefix") or []), *(name.get("given") or []), name.get("family") or ""]
    return " ".join(part for part in parts if part) or str(name.get("text") or "")


async def _transact(hospital: Hospital, entries: list[dict[str, Any]]) -> TransactionResult:
    """Apply the Bundle; a refusal becomes what a tool may say. ``VersionConflict`` is the caller's."""
    try:
        return await hospital.fhir.transact(
            {"resourceType": "Bundle", "type": "transaction", "entry": entries}
        )
    except VersionConflict:
        raise
    except Unavailable as error:
        raise ToolError(
            f"the record did not answer ({error.reason})",
            retryable=True,
            effect="unknown",
            code="record_unavailable",
        ) from error
    except ValidationRefused as error:
        said = "; ".join(str(issue) for issue in error.issues[:3])
        raise ToolError(
            f"the record refused the write: {said}", effect="none", code="record_refused"
        ) from error
    except FhirError as error:
        raise ToolError(
            f"the record refused the write: {error}", effect="none", code="record_refused"
        ) from error
