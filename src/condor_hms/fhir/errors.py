"""What a FHIR store can answer instead of doing what it was asked.

One tree, split by whose fault it is::

    FhirError
    ├── RequestRefused      the request itself is wrong: a bare id, an unknown search parameter, a DELETE
    ├── ValidationRefused   the request is right but a resource in it is not: issues with element paths
    ├── NotFound            the reference is well formed but no such resource (or version) is kept
    │   └── Gone            it was, and was deleted; only another server says so
    ├── VersionConflict     the resource moved since the version the caller saw
    ├── DuplicateMatch      a conditional create matches more than one resource: nobody can say which is meant
    └── Unavailable         the store could not answer; whether a write was applied is NOT known

Rule: for every error but ``Unavailable`` nothing at all was applied.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "DuplicateMatch",
    "FhirError",
    "Gone",
    "Issue",
    "NotFound",
    "RequestRefused",
    "Unavailable",
    "ValidationRefused",
    "VersionConflict",
]

#: Issues quoted in one message; the rest are counted. Precedent: compilers stop at a handful too.
_ISSUES_IN_MESSAGE_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One thing wrong with one element of a request."""

    #: Element path from the resource type, `AllergyIntolerance.reaction[0].manifestation`.
    path: str
    #: The rule that was broken, a short slug: `value-set`, `required`, `reference`, `structure`, `ait-1` …
    rule: str
    #: What is wrong and what to do, one lower-case line without the path.
    message: str
    #: Index of the Bundle entry that holds the resource; None outside a Bundle.
    entry: int | None = None

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class FhirError(Exception):
    """the record store refused or failed."""


class RequestRefused(FhirError):
    """The request itself is wrong, unlike `ValidationRefused`, where a resource inside it is.

    `where` is the part of the request at fault (a parameter, a reference, a bundle entry).
    """

    def __init__(self, where: str, message: str) -> None:
        self.where = where
        super().__init__(f"{where}: {message}")


class ValidationRefused(FhirError):
    """A resource of the request breaks a rule; `issues` says which, where, and is never empty."""

    def __init__(self, issues: tuple[Issue, ...]) -> None:
        assert issues, "INVARIANT: a refusal names at least one issue"
        self.issues = issues
        quoted = "; ".join(str(issue) for issue in issues[:_ISSUES_IN_MESSAGE_MAX])
        more = len(issues) - _ISSUES_IN_MESSAGE_MAX
        super().__init__(f"refused: {quoted}" + (f"; and {more} more" if more > 0 else ""))


class NotFound(FhirError):
    """No such resource, or no such version of it; unlike `RequestRefused` the reference is well formed."""

    def __init__(self, reference: str, version: str | None = None) -> None:
        self.reference = reference
        self.version = version
        what = reference if version is None else f"{reference} version {version!r}"
        super().__init__(f"{what} is not in the record: check the reference")


class Gone(NotFound):
    """It was there and was deleted; unlike `NotFound` the server knows of it. Nothing here ever deletes."""


class VersionConflict(FhirError):
    """The resource moved: `expected` is the version the caller saw, `current` the one now kept.

    After a crash this is ambiguous: if the current version carries the caller's own `meta.tag`, the write had
    been applied; otherwise somebody else changed the resource and a person must look again.
    """

    def __init__(self, reference: str, *, expected: str, current: str) -> None:
        self.reference = reference
        self.expected = expected
        self.current = current
        super().__init__(
            f"{reference} was changed since it was read: expected version {expected!r}, now {current!r}; "
            "read it again and decide on the difference"
        )


class DuplicateMatch(FhirError):
    """A conditional create found more than one resource; unlike `VersionConflict` none of them moved."""

    def __init__(self, criteria: str, matches: tuple[str, ...]) -> None:
        self.criteria = criteria
        self.matches = matches
        super().__init__(
            f"{criteria!r} matches {len(matches)} resources ({', '.join(matches[:3])}): "
            "merge or correct them before writing"
        )


class Unavailable(FhirError):
    """The store could not answer. A write in flight may or may not have been applied: look first."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the record store did not answer: {reason}; look before repeating a write")
