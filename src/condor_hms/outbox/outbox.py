"""The outbox: Communication resources of the record, on their way.

Rule 1: a row is in the record before anything is sent, and its key goes along, so that a crash at any point
leads to one message.
Rule 2: ``preparation`` waits; ``in-progress`` was handed over and has no receipt; ``completed`` has one;
``stopped`` never will, and says why.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from condor_hms.fhir.errors import FhirError, VersionConflict
from condor_hms.fhir.own_systems import IDEMPOTENCY_SYSTEM, agent
from condor_hms.outbox.channel import DeliveryRefused, Message, NotDelivered, Receipt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from condor_hms.fhir.port import FhirStore, Resource
    from condor_hms.outbox.channel import Channel

__all__ = ["ADDRESS_SYSTEM", "CHANNEL_SYSTEM", "RECEIPT_SYSTEM", "Outbox"]

#: Coding system of the channel, beside the FHIR medium.
CHANNEL_SYSTEM = "urn:condor:channel"
#: Identifier systems of a Communication: where it goes, and the carrier's receipt.
ADDRESS_SYSTEM = "urn:condor:address"
RECEIPT_SYSTEM = "urn:condor:receipt"
_WAITING = ("preparation", "in-progress")


class Outbox:
    """Delivers what is in the record; everything it knows is there."""

    def __init__(
        self,
        fhir: FhirStore,
        channels: Mapping[str, Channel],
        now: Callable[[], datetime.datetime] | None = None,
    ) -> None:
        """A message of a channel that is not here stays where it is."""
        self._fhir = fhir
        self._channels = channels
        self._now = now or (lambda: datetime.datetime.now(datetime.UTC))

    async def deliver(self, reference: str) -> Resource:
        """Try to deliver one Communication; what it is afterwards.

        Raises:
            FhirError: the record could not be read, or the outcome could not be kept.
        """
        row = await self._fhir.read(reference)
        if row.get("status") not in _WAITING:
            return row
        channel = self._channels.get(_coded(row, CHANNEL_SYSTEM))
        if channel is None:
            return row
        try:
            receipt = await channel.deliver(_message(row))
        except NotDelivered:
            return row
        except DeliveryRefused as refusal:
            reason = {"text": str(refusal)[:200] or "refused by the carrier"}
            return await self._kept(row, status="stopped", statusReason=reason)
        if receipt is None:
            return row if row["status"] == "in-progress" else await self._kept(row, status="in-progress")
        return await self._kept(row, **self._completed(row, receipt))

    async def deliver_waiting(self) -> int:
        """Try everything that waits, as after a start; how many were delivered.

        A message whose outcome cannot be kept is left for the next time.
        """
        rows = await self._fhir.search("Communication", {"status": ",".join(_WAITING)})
        done = 0
        for row in rows:
            if not _identified(row, IDEMPOTENCY_SYSTEM):
                continue
            try:
                after = await self.deliver(f"Communication/{row['id']}")
            except FhirError:
                continue
            done += after.get("status") == "completed"
        return done

    def _completed(self, row: Resource, receipt: Receipt) -> dict[str, Any]:
        sent = f"{self._now().astimezone(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"
        identifiers = [*(row.get("identifier") or []), {"system": RECEIPT_SYSTEM, "value": receipt.id}]
        return {"status": "completed", "sent": sent, "identifier": identifiers}

    async def _kept(self, row: Resource, **changes: Any) -> Resource:
        """Write the outcome, with a Provenance, on the version that was read."""
        reference = f"Communication/{row['id']}"
        meta = {name: part for name, part in row["meta"].items() if name in ("profile", "security", "tag")}
        resource = {**row, **changes, "meta": meta}
        change = {
            "fullUrl": reference,
            "resource": resource
            if meta
            else {name: part for name, part in resource.items() if name != "meta"},
            "request": {"method": "PUT", "url": reference, "ifMatch": f'W/"{row["meta"]["versionId"]}"'},
        }
        entries = [change, self._provenance(reference, str(changes["status"]))]
        try:
            await self._fhir.transact({"resourceType": "Bundle", "type": "transaction", "entry": entries})
        except VersionConflict:
            # Another process was faster with the same message; the key made it one.
            return await self._fhir.read(reference)
        return await self._fhir.read(reference)

    def _provenance(self, reference: str, status: str) -> dict[str, Any]:
        resource = {
            "resourceType": "Provenance",
            "target": [{"reference": reference}],
            "recorded": f"{self._now().astimezone(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}",
            "activity": {
                "coding": [
                    {"system": "http://terminology.hl7.org/CodeSystem/v3-DataOperation", "code": "UPDATE"}
                ]
            },
            "reason": [{"text": f"delivery: {status}"}],
            "agent": [{"who": agent("Condor outbox")}],
        }
        return {"resource": resource, "request": {"method": "POST", "url": "Provenance"}}


def _message(row: Resource) -> Message:
    payloads: list[dict[str, Any]] = row.get("payload") or [{}]
    return Message(
        key=_identified(row, IDEMPOTENCY_SYSTEM) or f"Communication/{row['id']}",
        channel=_coded(row, CHANNEL_SYSTEM),
        address=_identified(row, ADDRESS_SYSTEM),
        text=str(payloads[0].get("contentString") or ""),
    )


def _identified(row: Resource, system: str) -> str:
    values = [str(item.get("value")) for item in row.get("identifier") or [] if item.get("system") == system]
    return values[0] if values else ""


def _coded(row: Resource, system: str) -> str:
    codes = [
        str(coding.get("code"))
        for medium in row.get("medium") or []
        for coding in medium.get("coding") or []
        if coding.get("system") == system
    ]
    return codes[0] if codes else ""
