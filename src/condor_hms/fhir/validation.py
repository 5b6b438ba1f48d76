"""Whether a resource may be written: what it is (`check_content`), where it would stand (`check_in_record`).

Rule 1: both run for every entry of every transaction, whoever sends it.
Rule 2: a refusal names the element's path and what to do; all issues of a resource are told at once.
Rule 3: `check_content` needs the resource and the day alone; `check_in_record` runs under the write lock.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

from condor_hms.fhir.course_rules import course_issues
from condor_hms.fhir.elements import concept_code, elements_at, unindexed
from condor_hms.fhir.errors import Issue
from condor_hms.fhir.profile_rules import CREATE_RULES, RULES, says_something
from condor_hms.fhir.profiles import PROFILES, Profile
from condor_hms.fhir.references import is_local, iter_references, versionless
from condor_hms.fhir.search_values import patients_of
from condor_hms.fhir.structure import preload, shape_issues, structure_issues
from condor_hms.fhir.value_sets import VALUE_SETS, ValueSet

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping
    from datetime import date, datetime

    from condor_hms.fhir.port import Resource

__all__ = ["check_content", "check_in_record", "day_of", "preload"]


def check_content(resource: Resource, *, today: date, entry: int | None = None) -> list[Issue]:
    """Issues of JSON shape, R4 structure and write profile; empty if there are none.

    Later checks stand on earlier ones, so the first kind that finds something ends the check.

    Args:
        today: the day on which it is written.
        entry: index of its Bundle entry.
    """
    issues = shape_issues(resource) or structure_issues(resource)
    profile = PROFILES.get(resource["resourceType"])
    if not issues and profile is not None:
        issues = list(_profile_issues(resource, profile))
    if not issues:
        issues = list(course_issues(resource, today))
    return [_at(issue, entry) for issue in issues]


def day_of(now: datetime, stands: date | None) -> date:
    """The day on which something is written: the clock's (UTC), or a later one on which the record stands."""
    today = now.astimezone(UTC).date()
    return today if stands is None else max(today, stands)


def check_in_record(
    resource: Resource,
    *,
    before: Resource | None,
    known: Mapping[str, frozenset[str]],
    entry: int | None = None,
) -> list[Issue]:
    """Issues of the resource among the others; its content has been checked.

    Args:
        resource: with references between entries resolved.
        before: the version it supersedes, None for a create.
        known: every `Type/id` that it mentions and that exists, in the record or in the same Bundle, with
            the patients that it is about.
        entry: index of its Bundle entry.
    """
    profile = PROFILES.get(resource["resourceType"])
    issues = list(_unresolved(resource))
    if profile is not None:
        issues.extend(_reference_issues(resource, profile, known))
        if before is None or patients_of(before) == patients_of(resource):
            issues.extend(_strangers(resource, profile, known))
        if before is None:
            for rule in CREATE_RULES.get(resource["resourceType"], ()):
                issues.extend(rule(resource))
        else:
            issues.extend(_change_issues(resource, before, profile))
    return [_at(issue, entry) for issue in issues]


def _at(issue: Issue, entry: int | None) -> Issue:
    return Issue(path=issue.path, rule=issue.rule, message=issue.message, entry=entry)


def _profile_issues(resource: Resource, profile: Profile) -> Iterator[Issue]:
    for path, name in profile.codes.items():
        for place, code in elements_at(resource, path):
            if code not in VALUE_SETS[name].codes:
                yield Issue(path=place, rule="value-set", message=_not_in_set(code, VALUE_SETS[name]))
    for path, name in profile.concepts.items():
        for place, concept in elements_at(resource, path):
            yield from _concept_issues(place, concept, VALUE_SETS[name])
    for path in profile.spoken:
        yield from _silent(resource, path)
    for rule in RULES.get(resource["resourceType"], ()):
        yield from rule(resource)


def _concept_issues(place: str, concept: Any, value_set: ValueSet) -> Iterator[Issue]:
    code = concept_code(concept, value_set.system)
    if code is None:
        yield Issue(
            path=f"{place}.coding",
            rule="value-set",
            message=f"it needs a coding of system {value_set.system}",
        )
    elif code not in value_set.codes:
        yield Issue(path=f"{place}.coding", rule="value-set", message=_not_in_set(code, value_set))


def _not_in_set(code: Any, value_set: ValueSet) -> str:
    known = ", ".join(sorted(value_set.codes))
    return f"{code!r:.80} is not in the R4 value set {value_set.name}: give one of {known}"


def _silent(resource: Resource, path: str) -> Iterator[Issue]:
    found = list(elements_at(resource, path))
    if not found and path == "code":
        yield Issue(
            path=f"{resource['resourceType']}.{path}",
            rule="required",
            message="say what it is: give a text or a coding",
        )
    for place, concept in found:
        if not says_something(concept):
            yield Issue(
                path=place, rule="required", message="it says nothing: give a text, a code or a display"
            )


def _unresolved(resource: Resource) -> Iterator[Issue]:
    for place, target in iter_references(resource, resource["resourceType"]):
        if target.startswith("urn:"):
            message = f"{target[:80]!r} is the fullUrl of no entry of this Bundle"
            yield Issue(path=f"{place}.reference", rule="reference", message=message)


def _reference_issues(resource: Resource, profile: Profile, known: Container[str]) -> Iterator[Issue]:
    contained = {f"#{item.get('id')}" for item in resource.get("contained", [])}
    for place, target in iter_references(resource, resource["resourceType"]):
        message = _reference_fault(versionless(target), unindexed(place), profile, known, contained)
        if message is not None:
            yield Issue(path=f"{place}.reference", rule="reference", message=message)
    for path in profile.literal:
        for place, element in elements_at(resource, path):
            if "reference" not in element:
                message = "an identifier or a display is not enough here: give Type/id"
                yield Issue(path=f"{place}.reference", rule="reference", message=message)


def _reference_fault(
    target: str, path: str, profile: Profile, known: Container[str], contained: Container[str]
) -> str | None:
    """What is wrong with one reference, or None."""
    if target.startswith("urn:"):
        return None  # told by _unresolved
    if target.startswith("#"):
        if path in profile.literal:
            return "it must stand in the record by itself: give Type/id"
        return None if target in contained else f"{target[:80]!r} is not contained in this resource"
    if not is_local(target):
        return f"{target[:80]!r} is not of this record: give Type/id, such as Patient/pt-1"
    target_type = target.partition("/")[0]
    allowed = profile.targets.get(path, ("Resource",))
    if "Resource" not in allowed and target_type not in allowed:
        return f"it may point at {' or '.join(allowed)}, not at {target_type}"
    return None if target in known else f"{target} is not in the record: check the reference"


def _strangers(resource: Resource, profile: Profile, known: Mapping[str, frozenset[str]]) -> Iterator[Issue]:
    """Ours: what a resource of one patient points at is not another patient's."""
    own = patients_of(resource)
    if len(own) != 1:
        return
    for place, target in iter_references(resource, resource["resourceType"]):
        others = known.get(versionless(target), frozenset())
        if others and not others & own and unindexed(place) not in profile.others:
            message = f"{target} is of {', '.join(sorted(others))}, this is of {', '.join(own)}"
            yield Issue(path=f"{place}.reference", rule="patient", message=message)


def _change_issues(resource: Resource, before: Resource, profile: Profile) -> Iterator[Issue]:
    """What an update may not do to the version it supersedes."""
    resource_type = resource["resourceType"]
    if profile.append_only:
        yield Issue(
            path=resource_type, rule="append-only", message="it is never changed: write a further one"
        )
        return
    for path, advice in profile.fixed.items():
        old = [element for _, element in elements_at(before, path)]
        new = [element for _, element in elements_at(resource, path)]
        if old != new:
            yield Issue(path=f"{resource_type}.{path}", rule="fixed", message=advice)
    if profile.states is not None:
        old_state, new_state = (_state(version, profile) for version in (before, resource))
        moves = profile.states.moves
        if old_state in moves and new_state not in moves[old_state]:
            following = ", ".join(sorted(moves[old_state])) or "nothing: it is final"
            message = f"it cannot go from {old_state} to {new_state}: after {old_state} comes {following}"
            yield Issue(path=f"{resource_type}.{profile.states.path}", rule="transition", message=message)


def _state(resource: Resource, profile: Profile) -> str | None:
    assert profile.states is not None, "INVARIANT: asked only of types with states"
    state = resource.get(profile.states.path)
    if isinstance(state, dict):
        return concept_code(state, VALUE_SETS[profile.concepts[profile.states.path]].system)
    return state if isinstance(state, str) else None
