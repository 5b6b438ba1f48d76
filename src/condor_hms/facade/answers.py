"""Answers of the facade: JSON of FHIR, what a caller accepts, and refusals as OperationOutcome."""

from __future__ import annotations

import datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import orjson

from condor.ports.mounts import MountAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = [
    "JSON",
    "Refusal",
    "accepts",
    "chosen",
    "etag",
    "json_answer",
    "last_modified",
    "outcome",
    "refusal_answer",
    "version_headers",
]

JSON = "application/fhir+json"
#: What `_format` may say; a plus sign that was not escaped arrives as a space.
_FORMATS = frozenset({"json", "application/json", "text/json", JSON, "application/fhir json"})
_RANGES = frozenset({"*/*", "application/*", "application/json", JSON})
#: `fhirVersion` of a media type, where somebody asks for one.
_VERSIONS = ("4.0", "4.0.1")


class Refusal(Exception):
    """The request cannot be answered: HTTP status, FHIR issue type, and what to do."""

    def __init__(self, status: int, code: str, message: str, *, headers: Mapping[str, str] | None = None):
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})


def accepts(header: str, given_format: str) -> bool:
    """Whether the caller takes JSON of FHIR R4; ``_format`` counts more than the Accept header."""
    if given_format:
        return given_format.partition(";")[0].strip().lower() in _FORMATS
    return not header.strip() or any(map(_takes_json, header.split(",")))


def _takes_json(wanted: str) -> bool:
    media_type, *rest = (part.strip().lower() for part in wanted.split(";"))
    said = dict(part.partition("=")[::2] for part in rest)
    if said.get("fhirversion", _VERSIONS[0]).strip('"') not in _VERSIONS:
        return False
    try:
        quality = float(said.get("q", "1"))
    except ValueError:
        quality = 1.0
    return media_type in _RANGES and quality > 0


def outcome(severity: str, code: str, message: str) -> Resource:
    """An OperationOutcome of one issue."""
    issue: dict[str, Any] = {"severity": severity, "code": code, "diagnostics": message}
    return {"resourceType": "OperationOutcome", "issue": [issue]}


def json_answer(
    resource: Resource,
    status: int = 200,
    *,
    headers: Mapping[str, str] | None = None,
    is_pretty: bool = False,
) -> MountAnswer:
    """A resource as it is sent."""
    body = orjson.dumps(resource, option=orjson.OPT_INDENT_2 if is_pretty else None)
    return MountAnswer(status=status, body=body, headers={"content-type": JSON, **(headers or {})})


def refusal_answer(refusal: Refusal) -> MountAnswer:
    """A refusal as it is sent."""
    return json_answer(
        outcome("error", refusal.code, _printable(str(refusal))), refusal.status, headers=refusal.headers
    )


def _printable(text: str) -> str:
    """Whatever a caller sent, as text that JSON can hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def etag(resource: Resource) -> str:
    """The version as a weak ETag."""
    return f'W/"{(resource.get("meta") or {}).get("versionId", "")}"'


def last_modified(resource: Resource) -> datetime.datetime | None:
    """When this version was written, to the second; None where the record does not say."""
    said = str((resource.get("meta") or {}).get("lastUpdated", ""))
    try:
        moment = datetime.datetime.fromisoformat(said)
    except ValueError:
        return None
    return moment.astimezone(datetime.UTC).replace(microsecond=0) if moment.tzinfo else None


def version_headers(resource: Resource) -> dict[str, str]:
    """ETag and Last-Modified of a version."""
    moment = last_modified(resource)
    headers = {"etag": etag(resource)}
    return headers if moment is None else {**headers, "last-modified": format_datetime(moment, usegmt=True)}


def chosen(pairs: Sequence[tuple[str, str]], name: str) -> str:
    """The last value of a parameter; empty where there is none."""
    return next((value for key, value in reversed(pairs) if key == name), "")
