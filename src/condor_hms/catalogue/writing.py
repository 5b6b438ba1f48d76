"""Writing to the record: one transaction, one key, signed for.

Rule 1: a write is ONE Bundle: the resource and its Provenance, applied whole or not at all.
Rule 2: both carry the call's idempotency key, so that a repetition finds what is there and writes nothing.
Rule 3: an update is made on the version that a person saw. If the record has moved since, a version with the
own tag means that this call was applied; without one somebody else changed it, and a person looks again.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import re
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from condor import Principal, Reconciled, RecordMoved, ToolContext, ToolError
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, version_of
from condor_hms.fhir.errors import FhirError, Unavailable, ValidationRefused, VersionConflict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from condor_hms.fhir.port import Resource, TransactionResult

__all__ = [
    "IDEMPOTENCY_SYSTEM",
    "Written",
    "create",
    "create_all",
    "find_own",
    "has_own_tag",
    "identified",
    "moved",
    "own_version",
    "person",
    "reconcile_created",
    "record_time",
    "signature",
    "update",
    "versions_of",
]

#: System of the identifier and the tag that carry a call's key.
IDEMPOTENCY_SYSTEM = "urn:condor:idem"
#: Namespace of the full URLs inside a Bundle: made from the key, so that a repetition is the same Bundle.
_NAMESPACE = uuid.UUID("5b0f7c1e-6a0e-4d7a-9d38-3c9a2b1f4e60")
#: What a key may be made of: it stands in a search, where a comma would mean "or" and a bar would divide it.
_KEY = re.compile(r"[A-Za-z0-9:._/-]{1,200}")
_FHIR_ID = re.compile(r"[A-Za-z0-9\-.]{1,64}")
_PARTICIPANTS = "http://terminology.hl7.org/CodeSystem/provenance-participant-type"
#: ASTM E1762-95 signature meanings (the FHIR R4 signature-type value set).
_AUTHOR = ("1.2.840.10065.1.12.1.1", "Author's Signature")
_VERIFICATION = ("1.2.840.10065.1.12.1.5", "Verification Signature")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What stands in the record after a write."""

    reference: str
    version: str
    #: It was there before this call: an earlier try of the same call wrote it.
    replayed: bool = False

    def to_json(self) -> dict[str, Any]:
        """As part of a tool's value."""
        value: dict[str, Any] = {"reference": self.reference, "version": self.version}
        return {**value, "replayed": True} if self.replayed else value


async def create(
    hospital: Hospital, ctx: ToolContext, resource: Resource, *, signed: Mapping[str, Any] | None = None
) -> Written:
    """Write a new resource with its Provenance, once for the call's key.

    Args:
        resource: without id; the key's identifier and tag are added here.
        signed: a ``Signature`` for the Provenance.
    """
    return (await create_all(hospital, ctx, [resource], signed=signed))[0]


async def create_all(
    hospital: Hospital,
    ctx: ToolContext,
    resources: Sequence[Resource],
    *,
    signed: Mapping[str, Any] | None = None,
    also: Sequence[Mapping[str, Any]] = (),
) -> list[Written]:
    """Write new resources with one Provenance in one transaction, once for the call's key.

    Args:
        resources: without ids; the first carries the key's identifier, the others the key and their number.
        also: further entries of the transaction; a version conflict on one of them is the caller's.
    """
    key = _key_of(ctx)
    entries, targets = [], []
    for number, resource in enumerate(resources):
        own = f"{key}:{number}" if number else key
        full_url = f"urn:uuid:{uuid.uuid5(_NAMESPACE, own)}"
        targets.append(full_url)
        entries.append(
            {
                "fullUrl": full_url,
                "resource": _stamped(resource, own, key),
                "request": {
                    "method": "POST",
                    "url": resource["resourceType"],
                    "ifNoneExist": f"identifier={_query_token(own)}",
                },
            }
        )
    about = await _provenance(hospital, ctx, targets, "CREATE", signed=signed)
    result = await _transact(hospital, [*entries, *map(dict, also), about])
    return [
        Written(reference=outcome.reference, version=outcome.version, replayed=outcome.status == "unchanged")
        for outcome in result.outcomes[: len(entries)]
    ]


async def update(
    hospital: Hospital,
    ctx: ToolContext,
    *,
    before: Resource,
    after: Resource,
    reason: str,
    differences: Callable[[Resource, Resource], Sequence[str]],
) -> Written:
    """Replace a resource on the version it was read at, with a Provenance that says why.

    Args:
        before: as read; its version is the one a person saw.
        differences: what moved between two versions, for the message when the record has moved.

    Raises:
        RecordMoved: somebody else changed it in between; nothing was written.
    """
    key, reference = _key_of(ctx), reference_of(before)
    entry = {
        "fullUrl": reference,
        "resource": _tagged(after, key),
        "request": {"method": "PUT", "url": reference, "ifMatch": f'W/"{version_of(before)}"'},
    }
    about = await _provenance(hospital, ctx, [reference], "UPDATE", reason=reason)
    try:
        result = await _transact(hospital, [entry, about])
    except VersionConflict as conflict:
        versions = await versions_of(hospital, reference)
        own = own_version(versions, key)
        if own is not None:
            return Written(reference=reference, version=version_of(own), replayed=True)
        raise moved(before, versions[0], differences) from conflict
    outcome = result.outcomes[0]
    return Written(reference=outcome.reference, version=outcome.version)


def moved(
    seen: Resource, now: Resource, differences: Callable[[Resource, Resource], Sequence[str]]
) -> RecordMoved:
    """The record is not what the card showed; says what changed."""
    said = "; ".join(differences(seen, now)) or "content"
    return RecordMoved(
        f"{reference_of(now)} was changed by somebody else since it was shown ({said}; "
        f"version {version_of(seen)} → {version_of(now)}); nothing was written"
    )


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


async def reconcile_created(
    hospital: Hospital, ctx: ToolContext, resource_type: str, value_of: Callable[[Written], Any]
) -> Reconciled:
    """Whether the call that creates a resource happened: its key is in the record or it is not."""
    try:
        own = await find_own(hospital, resource_type, _key_of(ctx))
    except ToolError as error:
        if error.may_retry:
            return Reconciled(happened=None)
        raise
    if own is None:
        return Reconciled(happened=False)
    return Reconciled(
        happened=True,
        value=value_of(Written(reference=reference_of(own), version=version_of(own), replayed=True)),
    )


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
    reference = f"Practitioner/{who.id}"
    if _FHIR_ID.fullmatch(who.id):
        with reading():
            known = (await hospital.fhir.versions([reference]))[reference] is not None
            if known:
                practitioner = await hospital.fhir.read(reference)
                return {"reference": reference, "display": _printed_name(practitioner) or who.name}
    return {"display": who.name, "identifier": {"system": "urn:condor:principal", "value": who.id}}


def record_time(hospital: Hospital, ctx: ToolContext) -> str:
    """The moment as the record dates it: the record's day, the clock's time."""
    clock = ctx.now.astimezone(datetime.UTC)
    return f"{hospital.today.isoformat()}T{clock:%H:%M:%S}Z"


async def signature(hospital: Hospital, ctx: ToolContext, order: Resource) -> dict[str, Any]:
    """The approver's signature on an order: its meaning, the printed name, the time, the order's digest.

    21 CFR 11.50 asks for name, time and meaning. ``data`` is the SHA-256 of the order as it was approved
    (sorted compact JSON); it binds the signature to the order and is no cryptographic proof of the person.

    Raises:
        ToolError: nobody approved: an order is never written unsigned.
    """
    if ctx.approved_by is None:
        raise ToolError("nobody approved this order; it was not written", effect="none", code="not_approved")
    code, meaning = _AUTHOR if ctx.approved_by.id == ctx.principal.id else _VERIFICATION
    canonical = json.dumps(order, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    return {
        "type": [{"system": "urn:iso-astm:E1762-95:2013", "code": code, "display": meaning}],
        "when": _clock_time(ctx),
        "who": await person(hospital, ctx.approved_by),
        "targetFormat": "application/fhir+json",
        "sigFormat": "application/octet-stream",
        "data": base64.b64encode(hashlib.sha256(canonical).digest()).decode(),
    }


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
    activity: Literal["CREATE", "UPDATE"],
    *,
    reason: str = "",
    signed: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    agents = [_agent("author", await person(hospital, ctx.principal))]
    if ctx.approved_by is not None and ctx.approved_by.id != ctx.principal.id:
        agents.append(_agent("verifier", await person(hospital, ctx.approved_by)))
    condor = {
        "display": "Condor agent run-time",
        "identifier": {"system": "urn:condor:agent", "value": "condor"},
    }
    resource: dict[str, Any] = {
        "resourceType": "Provenance",
        "meta": {"tag": [{"system": IDEMPOTENCY_SYSTEM, "code": ctx.idempotency_key}]},
        "target": [{"reference": target} for target in targets],
        "recorded": _clock_time(ctx),
        "activity": {
            "coding": [{"system": "http://terminology.hl7.org/CodeSystem/v3-DataOperation", "code": activity}]
        },
        "agent": [*agents, _agent("assembler", condor)],
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


def _clock_time(ctx: ToolContext) -> str:
    return f"{ctx.now.astimezone(datetime.UTC):%Y-%m-%dT%H:%M:%S}Z"


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
