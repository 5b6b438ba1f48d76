"""Requests to other departments as FHIR: what a lab test, an image and a referral have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor_hms.catalogue.writing import person, record_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.catalogue.record_write import Call
    from condor_hms.fhir.port import Resource

__all__ = ["request_resource"]

_SNOMED = "http://snomed.info/sct"


async def request_resource(
    call: Call, category: tuple[str, str], concept: Mapping[str, Any], *, why: str
) -> Resource:
    """An active order of this patient, by whoever asked, dated now.

    Args:
        category: SNOMED CT code and display.
        concept: what is asked for.
        why: the indication or question; empty where none was given.
    """
    code, display = category
    resource: Resource = {
        "resourceType": "ServiceRequest",
        "status": "active",
        "intent": "order",
        "category": [{"coding": [{"system": _SNOMED, "code": code, "display": display}], "text": display}],
        "priority": call.args.get("priority") or "routine",
        "code": dict(concept),
        "subject": {"reference": call.args["patient"]},
        "authoredOn": record_time(call.hospital, call.ctx),
        "requester": await person(call.hospital, call.ctx.principal),
    }
    return {**resource, "reasonCode": [{"text": why}]} if why else resource
