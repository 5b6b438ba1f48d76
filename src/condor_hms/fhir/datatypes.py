"""What holds of a FHIR R4 data type wherever it stands: invariants of the types, and forms of primitives.

Each rule's key is the official one (per-1, rng-2, att-1, …) where there is one. Source: the definitions of
FHIR R4 4.0.1 (https://hl7.org/fhir/R4/datatypes.html, …/narrative.html, …/references.html).
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from condor_hms.fhir.currencies import CURRENCIES
from condor_hms.fhir.errors import Issue
from condor_hms.fhir.narrative import narrative_fault
from condor_hms.fhir.search_values import date_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["datatype_issues", "field_names"]

#: (element below, rule, message); an empty element is the thing itself.
Fault: TypeAlias = "tuple[str, str, str]"

#: drt-1: an expression of time in UCUM.
_TIME_UNITS = frozenset({"ms", "s", "min", "h", "d", "wk", "mo", "a"})
_UCUM = "http://unitsofmeasure.org"
_COMPARATORS = ("<", "<=", ">=", ">")
#: UCUM codes of units as they are written; where unit and code differ, one is read and the other counted by.
_UNIT_CODES = {
    **{code: code for code in ("mg", "g", "kg", "ug", "ng", "mL", "dL", "mmol", "cm", "mm[Hg]", "%")},
    **{"mcg": "ug", "µg": "ug", "μg": "ug", "ml": "mL", "l": "L", "mmHg": "mm[Hg]"},
}
#: No UCUM code is a word of five letters or more: what is longer has brackets, braces, a dot or a slash.
_WORD = re.compile(r"[A-Za-z]{5,}")
_EVENT_NAMES = """
MORN MORN.early MORN.late NOON AFT AFT.early AFT.late EVE EVE.early EVE.late NIGHT PHS
HS WAKE C CM CD CV AC ACM ACD ACV PC PCM PCD PCV
"""
#: R4 value set event-timing.
_EVENTS = frozenset(_EVENT_NAMES.split())
#: RFC 6838: type/subtype, with parameters.
_MIME = re.compile(r"[\w.+-]+/[\w.+-]+(\s*;.*)?")
#: RFC 3986: what makes an address absolute; and what of that anybody can follow.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|/")
_REMOTE = re.compile(r"https?://|urn:", re.IGNORECASE)
#: BCP 47, as far as form goes: `en`, `de-CH`, `zh-Hans-CN`, `x-klingon`.
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


def datatype_issues(given: Any, parsed: Any, path: str) -> Iterator[Issue]:
    """Issues of every data type below an element.

    Args:
        given: the element as it was sent.
        parsed: the model of it, which knows the types.
        path: where it stands.
    """
    if isinstance(given, list) and isinstance(parsed, list):
        for index, (value, item) in enumerate(zip(given, parsed, strict=False)):
            yield from datatype_issues(value, item, f"{path}[{index}]")
    elif isinstance(given, dict) and hasattr(parsed, "model_fields_set"):
        kind: Any = type(parsed)
        for below, rule, message in _faults(kind.__name__, given):
            yield Issue(path=f"{path}.{below}" if below else path, rule=rule, message=message)
        names, forms = field_names(kind), _forms(kind)
        for key, value in given.items():
            if key in forms:
                yield from _form_issues(forms[key], value, f"{path}.{key}")
            elif key in names and isinstance(value, dict | list):
                yield from datatype_issues(value, getattr(parsed, names[key]), f"{path}.{key}")


def _faults(kind: str, given: Mapping[str, Any]) -> Iterator[Fault]:
    rule = _RULES.get(kind)
    if rule is not None:
        yield from rule(given)
    yield from _language(given)


def _period(given: Mapping[str, Any]) -> Iterator[Fault]:
    start, end = date_range(given.get("start", "")), date_range(given.get("end", ""))
    if start is not None and end is not None and end[1] < start[0]:
        yield "end", "per-1", "it is before the start"


def _quantity(given: Mapping[str, Any]) -> Iterator[Fault]:
    if "code" in given and "system" not in given:
        yield "system", "qty-3", "a unit code needs its system"
    if given.get("comparator", "<") not in _COMPARATORS:
        yield "comparator", "value-set", f"{given['comparator']!r:.80} is none of {', '.join(_COMPARATORS)}"
    if given.get("system") == _UCUM and _WORD.fullmatch(str(given.get("code", ""))):
        yield (
            "code",
            "ucum",
            f"{given['code']!r:.80} is a word and no UCUM code: give mg, mL, [iU], {{tbl}}, …",
        )
        return
    code, means = given.get("code"), _UNIT_CODES.get(str(given.get("unit")))
    is_known = code is not None and means is not None and given.get("system") == _UCUM
    if is_known and _UNIT_CODES.get(str(code), code) != means:
        said = f"the unit says {given['unit']!r} and the code {given['code']!r:.80}: they are another amount"
        yield "code", "unit", said


def _age(given: Mapping[str, Any]) -> Iterator[Fault]:
    yield from _duration(given)
    if given.get("value", 1) < 0:
        yield "value", "age-1", "an age is not negative"


def _duration(given: Mapping[str, Any]) -> Iterator[Fault]:
    yield from _quantity(given)
    if "code" in given and (given.get("system") != _UCUM or given["code"] not in _TIME_UNITS):
        units = ", ".join(sorted(_TIME_UNITS))
        yield "code", "drt-1", f"{given['code']!r:.80} is no unit of time of {_UCUM}: give one of {units}"


def _range(given: Mapping[str, Any]) -> Iterator[Fault]:
    low, high = given.get("low", {}), given.get("high", {})
    if low.get("code") != high.get("code") or low.get("unit") != high.get("unit"):
        return  # Only what is in one unit can be compared without a table of units.
    if "value" in low and "value" in high and low["value"] > high["value"]:
        yield "high", "rng-2", "it is below low"


def _contact_point(given: Mapping[str, Any]) -> Iterator[Fault]:
    if "value" in given and "system" not in given:
        yield "system", "cpt-2", "a value needs its system: phone, email, sms, …"


def _ratio(given: Mapping[str, Any]) -> Iterator[Fault]:
    if ("numerator" in given) != ("denominator" in given):
        yield "", "rat-1", "numerator and denominator go together"


def _money(given: Mapping[str, Any]) -> Iterator[Fault]:
    if "currency" in given and given["currency"] not in CURRENCIES:
        yield (
            "currency",
            "value-set",
            f"{given['currency']!r:.80} is no currency of ISO 4217: give USD, EUR, …",
        )


def _attachment(given: Mapping[str, Any]) -> Iterator[Fault]:
    if "data" in given and "contentType" not in given:
        yield "contentType", "att-1", "data needs its contentType"
    url = given.get("url")
    if isinstance(url, str) and _SCHEME.match(url) is not None and _REMOTE.match(url) is None:
        yield "url", "url", f"{url[:80]!r} is not http, https or urn: a file of one machine is nobody else's"
    kind = given.get("contentType")
    if isinstance(kind, str) and _MIME.fullmatch(kind) is None:
        yield (
            "contentType",
            "value-set",
            f"{kind[:80]!r} is no MIME type: give text/plain, application/pdf, …",
        )


def _language(given: Mapping[str, Any]) -> Iterator[Fault]:
    language = given.get("language")
    if isinstance(language, str) and _LANGUAGE.fullmatch(language) is None:
        yield "language", "language", f"{language[:80]!r} is no language of BCP 47: give en, de-CH, …"


def _extension(given: Mapping[str, Any]) -> Iterator[Fault]:
    has_value = any(key.removeprefix("_").startswith("value") for key in given)
    if has_value == ("extension" in given):
        yield "", "ext-1", "it has either a value or extensions of its own"


def _reference(given: Mapping[str, Any]) -> Iterator[Fault]:
    target, said = given.get("reference"), given.get("type")
    if isinstance(target, str) and isinstance(said, str) and re.match(r"[A-Z][A-Za-z]+/", target):
        kind = target.partition("/")[0]
        if said not in (kind, f"http://hl7.org/fhir/StructureDefinition/{kind}"):
            yield "type", "reference", f"it says {said[:80]!r}, and the reference is to a {kind}"


def _narrative(given: Mapping[str, Any]) -> Iterator[Fault]:
    div = given.get("div")
    fault = narrative_fault(div) if isinstance(div, str) else None
    if fault is not None:
        yield "div", *fault


def _repeat(given: Mapping[str, Any]) -> Iterator[Fault]:
    """The Timing invariants, and ours: a frequency is at least 1."""
    for rule, present, needed in (
        ("tim-1", "duration", "durationUnit"),
        ("tim-2", "period", "periodUnit"),
        ("tim-6", "periodMax", "period"),
        ("tim-7", "durationMax", "duration"),
        ("tim-8", "countMax", "count"),
    ):
        if present in given and needed not in given:
            yield needed, rule, f"it is required with {present}"
    for rule, name, least in (
        ("tim-4", "duration", 0),
        ("tim-5", "period", 0),
        ("frequency", "frequency", 1),
    ):
        if name in given and given[name] < least:
            yield name, rule, f"it must be at least {least}"
    for name, most in (("frequency", "frequencyMax"), ("period", "periodMax"), ("duration", "durationMax")):
        if name in given and most in given and given[most] < given[name]:
            yield most, "timing", f"it is below {name}"
    yield from _events(given)
    if "timeOfDay" in given and "when" in given:
        yield "when", "tim-10", "give either timeOfDay or when"


def _events(given: Mapping[str, Any]) -> Iterator[Fault]:
    for number, when in enumerate(given.get("when", [])):
        if when not in _EVENTS:
            events = ", ".join(sorted(_EVENTS))
            yield f"when[{number}]", "value-set", f"{when!r:.80} is no event of the day: give one of {events}"
    if "offset" in given and "when" not in given:
        yield "when", "tim-9", "it is required with offset"


_RULES: dict[str, Callable[[Mapping[str, Any]], Iterator[Fault]]] = {
    "Age": _age,
    "Attachment": _attachment,
    "ContactPoint": _contact_point,
    "Count": _quantity,
    "Distance": _quantity,
    "Duration": _duration,
    "Extension": _extension,
    "Money": _money,
    "Narrative": _narrative,
    "ObservationReferenceRange": _range,
    "Period": _period,
    "Quantity": _quantity,
    "Range": _range,
    "Ratio": _ratio,
    "Reference": _reference,
    "TimingRepeat": _repeat,
}


def _is_uri(text: str) -> str | None:
    return "it has spaces: a uri has none" if re.search(r"\s", text) else None


def _is_base64(text: str) -> str | None:
    try:
        base64.b64decode(re.sub(r"\s", "", text), validate=True)
    except (binascii.Error, ValueError):
        return "it must be base64"
    return None


#: What a model's primitive type does not look at itself.
_FORMS: dict[str, Callable[[str], str | None]] = {
    "Base64Binary": _is_base64,
    "Canonical": _is_uri,
    "Oid": _is_uri,
    "Uri": _is_uri,
    "Url": _is_uri,
    "Uuid": _is_uri,
}


def _form_issues(check: Callable[[str], str | None], value: Any, path: str) -> Iterator[Issue]:
    for place, text in [(path, value)] if isinstance(value, str) else _texts(value, path):
        message = check(text)
        if message is not None:
            yield Issue(path=place, rule="form", message=message)


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, str):
            yield f"{path}[{index}]", item


@lru_cache(maxsize=1024)
def _forms(model: Any) -> dict[str, Callable[[str], str | None]]:
    """The check of each primitive element of a model class that needs one, by its JSON name."""
    found = {}
    for name, attribute in field_names(model).items():
        primitive = _primitive(model.model_fields[attribute].annotation)
        if primitive in _FORMS:
            found[name] = _FORMS[primitive]
    return found


def _primitive(annotation: Any) -> str:
    """`Uri` of `Optional[List[Annotated[str, Uri()]]]`."""
    for inner in get_args(annotation):
        name = type(inner).__name__
        if name in _FORMS:
            return name
        below = _primitive(inner)
        if below:
            return below
    return ""


@lru_cache(maxsize=1024)
def field_names(model: Any) -> dict[str, str]:
    """Attribute name by JSON name of a model class; kept, since a write asks for the same dozen again."""
    return {field.alias or name: name for name, field in model.model_fields.items()}
