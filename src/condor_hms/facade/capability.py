"""The CapabilityStatement of the facade, made from the tables that it answers by.

Law: it lists what the caller may ask, no more; a test asks all of it, and something beside each.
"""

from __future__ import annotations

import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from condor_hms.facade.access import types_of
from condor_hms.facade.answers import JSON
from condor_hms.fhir.search_table import params_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor import Principal
    from condor_hms.fhir.port import Resource
    from condor_hms.fhir.search_table import Kind, Param

__all__ = ["FHIR_VERSION", "INTERACTIONS", "capability_statement"]

FHIR_VERSION = "4.0.1"
INTERACTIONS = ("read", "vread", "history-instance", "search-type")
#: The day the server began: what it can do is of its code, and that does not change while it runs.
_BEGUN_ON = datetime.datetime.now(datetime.UTC).date().isoformat()
#: How FHIR calls what a parameter is compared by.
_TYPES: Mapping[Kind, str] = {
    "id": "token",
    "token": "token",
    "folded": "token",
    "reference": "reference",
    "date": "date",
    "name": "string",
    "phone": "token",
}
_SAID: Mapping[Kind, str] = {
    "date": "prefixes eq, ge, le, gt, lt",
    "name": "words in any order, each the beginning of a word of the name; accents and case aside",
    "phone": "the digits; two numbers are one if the shorter is the end of the longer",
    "folded": "system|code or code, case aside",
    "token": "system|code or code",
}


def capability_statement(who: Principal, base_url: str) -> Resource:
    """What this caller may ask."""
    return {
        "resourceType": "CapabilityStatement",
        "status": "active",
        "date": _BEGUN_ON,
        "publisher": "Condor",
        "kind": "instance",
        "software": {"name": "Condor", "version": version("condor-runtime")},
        "implementation": {"description": "The patient record, to read", "url": base_url},
        "fhirVersion": FHIR_VERSION,
        "format": [JSON, "json"],
        "rest": [
            {
                "mode": "server",
                "documentation": (
                    "Reads only: a write is a run of Condor, where a person approves it. Searches "
                    "take GET and POST _search, _count (0: only the total), _sort by a date parameter (- for "
                    "newest first) and Prefer: handling=strict. Listed is what the caller's roles may read."
                ),
                "security": {
                    "cors": False,
                    "description": "Authorization: Bearer, a token with the scope record:read and roles",
                },
                **({"resource": [_resource(name) for name in types_of(who)]} if types_of(who) else {}),
            }
        ],
    }


def _resource(resource_type: str) -> dict[str, Any]:
    return {
        "type": resource_type,
        "interaction": [{"code": code} for code in INTERACTIONS],
        "versioning": "versioned",
        "readHistory": True,
        "updateCreate": False,
        "conditionalCreate": False,
        "conditionalRead": "full-support",
        "conditionalUpdate": False,
        "searchParam": [_param(name, param) for name, param in sorted(params_of(resource_type).items())],
    }


def _param(name: str, param: Param) -> dict[str, str]:
    said = [_SAID[param.kind]] if param.kind in _SAID else []
    if param.own:
        said.append("of this server, not of R4")
    found = {"name": name, "type": _TYPES[param.kind]}
    return {**found, "documentation": "; ".join(said)} if said else found
