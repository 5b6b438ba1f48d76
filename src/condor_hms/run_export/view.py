"""A run as one Bundle: AuditEvents, Tasks, and the Provenance of what it wrote.

Law 1: the same record gives the same bytes; ids are made from the run's own.
Law 2: nothing of a patient's record stands in it but ids and versions, and what the run's cards and reasons
say, which whoever may read the run is shown anyway.
Law 3: a part of an export is no export: a record that does not answer is said, and nothing is given.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING, Any

import orjson

from condor import CondorError
from condor_hms.catalogue.hospital import reference_of, version_of
from condor_hms.catalogue.writing import has_own_tag, printed_person
from condor_hms.fhir.errors import FhirError, NotFound
from condor_hms.fhir.own_systems import IDEMPOTENCY_SYSTEM
from condor_hms.fhir.references import is_local
from condor_hms.fhir.search_values import patients_of
from condor_hms.run_export.events import audit_event
from condor_hms.run_export.names import derived_id
from condor_hms.run_export.tasks import approval_task
from condor_hms.run_export.told import SYSTEM, Call, People, Version, Wrote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from condor.ports.mounts import RunRecord
    from condor_hms.fhir.port import FhirStore, Resource

__all__ = ["FhirRunView"]


class FhirRunView:
    """A ``RunView`` that needs the record, to say what was written in which version."""

    form = "fhir"
    media_type = "application/fhir+json"

    def __init__(self, fhir: FhirStore) -> None:
        """Nothing is asked yet."""
        self._fhir = fhir

    async def render(self, run: RunRecord) -> bytes:
        """See ``RunView.render``."""
        try:
            return orjson.dumps(await self.bundle(run), option=orjson.OPT_INDENT_2)
        except FhirError as error:
            raise CondorError(
                f"the record does not answer, and without it the export would lack what was written: {error}",
                code="environment",
            ) from error

    async def bundle(self, run: RunRecord) -> Resource:
        """The Bundle as data.

        Raises:
            FhirError: the record does not answer.
        """
        snapshot = run.snapshot
        calls = {str(step["id"]): await self._call(step, run) for step in snapshot["steps"]}
        people = await self._people(run)
        tenant = next((str(row.get("tenantId")) for row in run.audit), "default")
        found = [audit_event(row, calls.get(str(row.get("stepId"))), people) for row in run.audit]
        for card in snapshot["suspensions"]:
            call = calls.get(str(card["stepId"])) or Call(step={}, cards=[card])
            found.append(approval_task(card, call, people, tenant=tenant))
        proofs = [call.wrote.provenance for call in calls.values()]
        found += [proof for proof in proofs if proof is not None]
        lacking = [
            step
            for step, call in calls.items()
            if call.step.get("status") in ("succeeded", "degraded")
            and call.step.get("id") in run.keys
            and call.wrote.versions
            and call.wrote.provenance is None
        ]
        if lacking:
            found.append(_lacking(str(snapshot["runId"]), lacking))
        return {
            "resourceType": "Bundle",
            "identifier": {"system": "urn:condor:run", "value": str(snapshot["runId"])},
            "type": "collection",
            "timestamp": str(snapshot["updatedAt"]),
            "entry": [{"fullUrl": _full_url(resource), "resource": resource} for resource in found],
        }

    async def _call(self, step: Mapping[str, Any], run: RunRecord) -> Call:
        own = str(step["id"])
        cards = [card for card in run.snapshot["suspensions"] if str(card["stepId"]) == own]
        key = run.keys.get(own, "")
        return Call(step=step, cards=cards, wrote=await self._wrote(step, key) if key else Wrote())

    async def _wrote(self, step: Mapping[str, Any], key: str) -> Wrote:
        """What the call with this key wrote: its Provenance, and each target in the version with its tag."""
        proofs = await self._fhir.search("Provenance", {"_tag": f"{IDEMPOTENCY_SYSTEM}|{key}"})
        proof = proofs[0] if proofs else None
        if proof is not None:
            targets = [str(target.get("reference")) for target in proof.get("target") or []]
        else:
            value = step.get("result")
            reference = value.get("reference") if isinstance(value, dict) else None
            targets = [reference] if isinstance(reference, str) else []
        local = [target for target in dict.fromkeys(targets) if is_local(target)]
        found = await asyncio.gather(*(self._version(target, key) for target in local))
        versions = [version for version in found if version is not None]
        return Wrote(
            versions=tuple(version for version, _ in versions),
            patient=next((who for _, who in versions if who), ""),
            provenance=proof,
        )

    async def _version(self, reference: str, key: str) -> tuple[Version, str] | None:
        """The version that the call with this key wrote, and whom it is about."""
        try:
            versions = await self._fhir.history(reference)
        except NotFound:
            return None
        place = next((place for place, row in enumerate(versions) if has_own_tag(row, key)), None)
        if place is None:
            return None
        after, before = versions[place], next(iter(versions[place + 1 :]), None)
        details = [] if before is None else _digests("before", before)
        details += _digests("after", after)
        named = f"{reference}/_history/{version_of(after)}"
        return Version(reference=named, details=tuple(details)), _patient_of(after)

    async def _people(self, run: RunRecord) -> People:
        """Everybody who is named, with their printed names."""
        snapshot = run.snapshot
        names = {str(snapshot["requester"]["id"]): str(snapshot["requester"]["display"])}
        for card in snapshot["suspensions"]:
            if card.get("decidedBy"):
                names[str(card["decidedBy"])] = str(card.get("decidedByDisplay") or card["decidedBy"])
        for row in run.audit:
            if row.get("actor"):
                names.setdefault(str(row["actor"]), str(row["actor"]))
        names.pop(SYSTEM, None)
        found = await asyncio.gather(*(printed_person(self._fhir, who, name) for who, name in names.items()))
        return People(known=dict(zip(names, found, strict=True)), roles=run.roles)


def _digests(name: str, resource: Resource) -> list[tuple[str, str]]:
    """Version and SHA-256 of a resource (sorted compact JSON): it can be told again, and not read."""
    canonical = json.dumps(resource, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    return [
        (f"{name}_version", version_of(resource)),
        (f"{name}_sha256", hashlib.sha256(canonical).hexdigest()),
    ]


def _patient_of(resource: Resource) -> str:
    """Whose it is; of several the first by reference, empty where it is nobody's."""
    if resource["resourceType"] == "Patient":
        return reference_of(resource)
    return min(patients_of(resource), default="")


def _full_url(resource: Resource) -> str:
    if resource["resourceType"] == "Provenance":
        # It is of the record, whose address is not known here; its id may be no UUID.
        return f"urn:uuid:{derived_id('record', reference_of(resource))}"
    return f"urn:uuid:{resource['id']}"


def _lacking(run_id: str, steps: Iterable[str]) -> Resource:
    """What should be in the record and is not, said in the export itself."""
    told = f"no Provenance is in the record for what these steps wrote: {', '.join(steps)}"
    issue = {"severity": "warning", "code": "incomplete", "diagnostics": told}
    return {"resourceType": "OperationOutcome", "id": derived_id("run", run_id, "lacking"), "issue": [issue]}
