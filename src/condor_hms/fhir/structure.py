"""Whether a resource has the shape of FHIR R4: JSON it may hold, elements it may have, types they have.

Rule 1: no empty object, array or string; no null but in a list of primitives with a companion.
Rule 2: element names, cardinalities and types are those of `fhir.resources` (its R4B models accept R4).
Rule 3: what R4 says of a data type holds wherever it stands (`datatypes`).
Rule 4: a JSON type is never converted: `"100"` is not the number 100 and `"true"` is not true.

The models load per type at first use (about half a second for the first, some 30 ms for each further one), so
that whoever only reads never pays for them; `preload` pays early.
"""

from __future__ import annotations

import importlib
import math
import re
from decimal import Decimal
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from condor_hms.fhir.datatypes import datatype_issues, field_names
from condor_hms.fhir.errors import Issue, Unavailable
from condor_hms.fhir.references import iter_references

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from condor_hms.fhir.port import Resource

__all__ = ["preload", "shape_issues", "structure_issues"]

#: Nesting of a resource. R4 resources stay under 15; deeper data is an attack or a bug.
_DEPTH_MAX = 30
#: Characters of one string. A scanned document is a Binary elsewhere; a note is far shorter.
_STRING_CHARS_MAX = 1_000_000
#: R4: a string has no character below U+0020 but tab and line breaks.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
#: Halves of UTF-16 pairs: JSON can spell them, no text can hold them.
_SURROGATE = re.compile(r"[\ud800-\udfff]")
#: Issues reported for one resource; a person corrects a few at a time.
_ISSUES_MAX = 20


def preload(resource_types: Iterable[str]) -> None:
    """Load the models of these types now; a server does it in a thread after it has started."""
    for resource_type in resource_types:
        _model(resource_type)


def shape_issues(resource: Resource) -> list[Issue]:
    """Issues of JSON content, without regard to the type."""
    issues: list[Issue] = []
    for issue in _shape(resource, str(resource.get("resourceType", ""))[:64], depth=0):
        issues.append(issue)
        if len(issues) == _ISSUES_MAX:
            break
    return issues


def _shape(element: Any, path: str, *, depth: int) -> Iterator[Issue]:
    if depth > _DEPTH_MAX:
        yield Issue(path=path, rule="shape", message=f"nested more than {_DEPTH_MAX} deep")
    elif isinstance(element, dict):
        yield from _object_shape(element, path, depth=depth)
    elif isinstance(element, list):
        yield from _array_shape(element, path, depth=depth)
    else:
        fault = _primitive_fault(element)
        if fault is not None:
            yield Issue(path=path, rule=fault[0], message=fault[1])


def _array_shape(element: list[Any], path: str, *, depth: int) -> Iterator[Issue]:
    if not element:
        yield Issue(path=path, rule="empty", message="an empty array: leave the element out or give a value")
    for index, item in enumerate(element):
        if isinstance(item, list):
            yield Issue(path=f"{path}[{index}]", rule="shape", message="an array directly in an array")
        else:
            yield from _shape(item, f"{path}[{index}]", depth=depth + 1)


def _primitive_fault(value: Any) -> tuple[str, str] | None:
    """The rule a primitive breaks and what to do, or None."""
    match value:
        case None:
            return "empty", "null: leave the element out or give a value"
        case bool():
            return None
        case str() if not value.strip():
            return "empty", "a blank string: leave the element out or give a value"
        case str() if _SURROGATE.search(value):
            return "shape", "it holds half of a character (a lone surrogate)"
        case str() if _CONTROL.search(value):
            return "shape", "it holds a control character: only line breaks and tabs may stand in a text"
        case str() if len(value) > _STRING_CHARS_MAX:
            return "shape", f"longer than {_STRING_CHARS_MAX} characters"
        case float() if not math.isfinite(value):
            return "shape", "not a finite number"
        case int() if abs(value) >= 2**63:
            return "shape", "a number beyond 64 bits"
        case str() | int() | float():
            return None
        case _:
            return "shape", f"{type(value).__name__} is not JSON"


def _object_shape(element: dict[Any, Any], path: str, *, depth: int) -> Iterator[Issue]:
    if not element:
        yield Issue(path=path, rule="empty", message="an empty object: leave the element out or give a value")
    for key, value in element.items():
        if not isinstance(key, str) or _SURROGATE.search(key):
            yield Issue(path=path, rule="shape", message=f"the key {key!r} is no text")
        elif key == "fhir_comments":
            message = "FHIR R4 has no comments: leave it out"
            yield Issue(path=f"{path}.{key}", rule="structure", message=message)
        elif key == "id" and "resourceType" in element and not _is_id(value):
            message = f"{value!r:.80} is no id: 1 to 64 letters, digits, - and ."
            yield Issue(path=f"{path}.{key}", rule="structure", message=message)
        elif isinstance(value, list) and None in value and _has_companion(element, key):
            present = [item for item in value if item is not None]
            yield from _shape(present or [True], f"{path}.{key}", depth=depth + 1)
        else:
            yield from _shape(value, f"{path}.{key}", depth=depth + 1)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9\-.]{1,64}", value) is not None


def _has_companion(element: Mapping[str, Any], key: str) -> bool:
    """FHIR JSON: nulls keep a list of primitives and its `_name` companion in step."""
    companion = key[1:] if key.startswith("_") else f"_{key}"
    return isinstance(element.get(companion), list)


def structure_issues(resource: Resource) -> list[Issue]:
    """Issues of elements, cardinalities and types; `Unavailable` if `fhir.resources` is not installed."""
    import pydantic

    resource_type = resource["resourceType"]
    model = _model(resource_type)
    if model is None:
        return [
            Issue(
                path="resourceType", rule="structure", message=f"{resource_type[:80]!r} is not a FHIR R4 type"
            )
        ]
    # The models fail on a contained type that they do not have.
    unknown = list(_unknown_contained(resource))
    if unknown:
        return unknown
    try:
        parsed = model.model_validate(resource)
    except pydantic.ValidationError as error:
        return [_issue(resource_type, details) for details in error.errors(include_url=False)[:_ISSUES_MAX]]
    except (AttributeError, KeyError, RecursionError, TypeError) as error:
        # The models break on some wrong types instead of refusing them.
        message = f"it holds an element of a wrong type ({type(error).__name__}: {str(error)[:80]})"
        return [Issue(path=resource_type, rule="structure", message=message)]
    converted = (
        list(_contained_issues(resource)) + list(_converted(resource, parsed, resource_type))[:_ISSUES_MAX]
    )
    return converted or list(datatype_issues(resource, parsed, resource_type))[:_ISSUES_MAX]


def _unknown_contained(resource: Resource) -> Iterator[Issue]:
    contained = resource.get("contained")
    for index, item in enumerate(contained if isinstance(contained, list) else ()):
        kind = item.get("resourceType") if isinstance(item, dict) else None
        if not isinstance(kind, str) or _model(kind) is None:
            path = f"{resource['resourceType']}.contained[{index}].resourceType"
            yield Issue(path=path, rule="structure", message=f"{kind!r:.80} is not a FHIR R4 type")


def _contained_issues(resource: Resource) -> Iterator[Issue]:
    """dom-2 to dom-5: what is contained is part of this resource alone, and used in it."""
    contained = resource.get("contained", [])
    if not contained:
        return
    used = {target for _, target in iter_references(resource, "")}
    for index, item in enumerate(contained):
        path = f"{resource['resourceType']}.contained[{index}]"
        if "contained" in item:
            yield Issue(path=f"{path}.contained", rule="dom-2", message="what is contained contains nothing")
        points_out = any(target == "#" for _, target in iter_references(item, ""))
        if f"#{item.get('id')}" not in used and not points_out:
            yield Issue(path=path, rule="dom-3", message="nothing here refers to it: leave it out")
        for name in sorted({"versionId", "lastUpdated", "security"} & item.get("meta", {}).keys()):
            rule = "dom-5" if name == "security" else "dom-4"
            yield Issue(path=f"{path}.meta.{name}", rule=rule, message="what is contained has none")


@lru_cache(maxsize=256)
def _model(resource_type: str) -> Any:
    """The pydantic model of a type; None if R4 has no such type."""
    if re.fullmatch(r"[A-Z][A-Za-z]{2,63}", resource_type) is None:
        return None
    try:
        base = importlib.import_module("fhir.resources.R4B.resource").Resource
        module = importlib.import_module(f"fhir.resources.R4B.{resource_type.lower()}")
    except ModuleNotFoundError as error:
        if error.name in ("fhir", "fhir.resources", "fhir.resources.R4B"):
            raise Unavailable("fhir.resources is not installed: install condor-runtime[hms]") from error
        return None
    model = getattr(module, resource_type, None)
    # Data types have models of the same kind, but only a Resource stands by itself.
    is_resource = isinstance(model, type) and issubclass(model, base) and resource_type not in _ABSTRACT
    return model if is_resource else None


_ABSTRACT = ("Resource", "DomainResource")


#: pydantic's error types in our words; other messages are taken over in lower case.
_WORDS = {
    "missing": "it is required: give it",
    "model_field_validation.missing": "it is required: give it",
    "extra_forbidden": "FHIR R4 has no such element here: leave it out",
    "string_pattern_mismatch": "the text is not in the form this element has",
    "string_type": "it must be a string",
    "list_type": "it must be an array",
    "json_invalid": "it must be an object",
}


def _issue(resource_type: str, details: Any) -> Issue:
    path = resource_type + "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in details["loc"]
    )
    text = " ".join(str(details["msg"]).removeprefix("Value error, ").split())
    choices = re.search(r"from this list \[([^\]]+)\]", text)
    if choices is not None and not details["loc"]:
        names = re.findall(r"'(\w+)'", choices.group(1))
        several = "multiple" in text
        message = f"give {'only one' if several else 'one'} of {', '.join(names)}"
        return Issue(path=f"{path}.{_common_start(names)}[x]", rule="structure", message=message)
    message = _WORDS.get(details["type"], text[:1].lower() + text[1:200])
    return Issue(path=path, rule="structure", message=message)


def _common_start(names: list[str]) -> str:
    """`medication` of medicationCodeableConcept and medicationReference."""
    columns = zip(*names, strict=False)
    return "".join(letters[0] for letters in takewhile(lambda letters: len(set(letters)) == 1, columns))


def _converted(given: Any, parsed: Any, path: str) -> Iterator[Issue]:
    """Elements whose JSON type the model changed: it is lax, FHIR JSON is not."""
    if given is None or parsed is None:
        return
    if hasattr(parsed, "model_fields_set") and isinstance(given, dict):
        kind: Any = type(parsed)
        names = field_names(kind)
        for key, value in given.items():
            if key in names:
                yield from _converted(value, getattr(parsed, names[key]), f"{path}.{key}")
    elif isinstance(parsed, list) and isinstance(given, list):
        for index, (value, item) in enumerate(zip(given, parsed, strict=False)):
            yield from _converted(value, item, f"{path}[{index}]")
    elif _json_type(given) != _json_type(parsed):
        message = f"it must be {_json_type(parsed)}, not {given!r:.80}"
        yield Issue(path=path, rule="structure", message=message)


def _json_type(value: Any) -> str:
    """The JSON type that a given value has, or that a parsed one stands for."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float | Decimal):
        return "a number"
    if isinstance(value, list):
        return "an array"
    return "an object" if isinstance(value, dict) or hasattr(value, "model_fields_set") else "a string"
