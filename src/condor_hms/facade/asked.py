"""What a search or a history is asked for: parameters of the record, parameters of the answer, and the rest.

Law 1: what is not understood is left out and told, or refused where the caller says ``handling=strict``.
Law 2: a modifier, a chain or a value that is not understood is refused always, as R4 says of modifiers: read
without it, the parameter would ask something else.
Law 3: a reference may be given as R4 allows (bare where the type is certain, absolute on this server); to the
record it goes as ``Type/id``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote

from condor_hms.facade.answers import Refusal
from condor_hms.fhir.search_table import params_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.search_table import Param

__all__ = ["Asked", "Page", "asked_of", "pairs_of"]

#: Entries of a page where nobody says, and at most.
_PAGE_DEFAULT = 50
_PAGE_MAX = 500
#: Parameters of one request.
_PAIRS_MAX = 200
#: Of every request; they say how it is answered.
_FORM = frozenset({"_format", "_pretty"})
_CURSOR = re.compile(r"(\d{1,9})\.([A-Za-z0-9\-.]{1,64})")
_ID = re.compile(r"[A-Za-z0-9\-.]{1,64}")
#: Unescaped in links: they stand in FHIR's own examples so.
_PLAIN = ":|,/$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which part of the matches is wanted."""

    size: int = _PAGE_DEFAULT
    #: How many were given before, and the last of them; 0 and "" for the first page.
    given: int = 0
    last: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A search or a history, understood."""

    #: For the record, `_sort` among them.
    params: Mapping[str, Sequence[str]]
    page: Page
    #: Only how many there are.
    is_count: bool = False
    #: Names of parameters that were left out.
    left_out: tuple[str, ...] = ()
    #: Beside the record's parameters, as they go into links.
    kept: tuple[tuple[str, str], ...] = field(default=())

    def query(self, page: Page | None = None) -> str:
        """The query of this request as it was understood, or of another page of it."""
        pairs = [(name, value) for name, values in self.params.items() for value in values]
        pairs += self.kept
        at = page or self.page
        pairs.append(("_count", "0" if self.is_count else str(at.size)))
        if at.given:
            pairs.append(("_page", f"{at.given}.{at.last}"))
        return "&".join(f"{quote(name, safe=_PLAIN)}={quote(value, safe=_PLAIN)}" for name, value in pairs)


def pairs_of(query: str, form: str = "") -> list[tuple[str, str]]:
    """Names and values of a query and a posted form.

    Raises:
        Refusal: there are too many.
    """
    text = "&".join(part for part in (query, form) if part)
    if text.count("&") >= _PAIRS_MAX:
        raise Refusal(400, "too-costly", f"more than {_PAIRS_MAX} parameters: ask for less at once")
    return parse_qsl(text, keep_blank_values=True, errors="backslashreplace")


def asked_of(
    resource_type: str,
    pairs: Sequence[tuple[str, str]],
    *,
    base_url: str,
    is_strict: bool,
    known: Mapping[str, Param] | None = None,
) -> Asked:
    """Understand the parameters of a search, or of a history where ``known`` is empty.

    Raises:
        Refusal: with what is wrong.
    """
    table = params_of(resource_type) if known is None else known
    own = ("_sort",) if known is None else ("_since",)
    params: dict[str, list[str]] = {}
    kept: list[tuple[str, str]] = []
    left_out: dict[str, None] = {}
    size, cursor = "", ""
    for name, value in pairs:
        if name in _FORM:
            continue
        if name == "_count":
            size = value
        elif name == "_page":
            cursor = value
        elif name in own and value:
            (kept.append((name, value)) if name == "_since" else params.setdefault(name, []).append(value))
        elif name in table and value.strip():
            params.setdefault(name, []).append(_as_the_record_asks(table[name], value, base_url))
        else:
            _check_left_out(name, table)
            left_out[name] = None
    if left_out and is_strict:
        names = ", ".join(f"{name[:80]!a}" for name in left_out)
        can = ", ".join([*sorted(table), *own, "_count", "_format"])
        raise Refusal(400, "not-supported", f"not known here, or without a value: {names}; known are {can}")
    return Asked(
        params=params,
        page=_page_of(size, cursor),
        is_count=size == "0",
        left_out=tuple(left_out),
        kept=tuple(kept),
    )


def _check_left_out(name: str, table: Mapping[str, Param]) -> None:
    """A name with a mark narrows the search, whoever it begins with (``_has:Observation:patient:code``)."""
    for mark, what in ((":", "modifier"), (".", "chain")):
        base, found, _ = name.partition(mark)
        if found and base in table:
            raise Refusal(400, "not-supported", f"{base} takes no {what} here: leave it out")
        if found:
            raise Refusal(400, "not-supported", f"{name[:80]!a} is a {what} that is not served: leave it out")


def _as_the_record_asks(param: Param, value: str, base_url: str) -> str:
    if param.kind != "reference":
        return value
    return ",".join(_reference(param, part.strip(), base_url) for part in value.split(","))


def _reference(param: Param, given: str, base_url: str) -> str:
    given = given.removeprefix(f"{base_url}/")
    if param.target is not None and _ID.fullmatch(given):
        return f"{param.target}/{given}"
    return given


def _page_of(size: str, cursor: str) -> Page:
    if size and not re.fullmatch(r"\d{1,6}", size, re.ASCII):
        raise Refusal(400, "invalid", f"_count is a whole number from 0; a page has at most {_PAGE_MAX}")
    wanted = min(int(size), _PAGE_MAX) if size and int(size) else _PAGE_DEFAULT
    if not cursor:
        return Page(size=wanted)
    place = _CURSOR.fullmatch(cursor)
    if place is None or not place[1].isascii():
        raise Refusal(400, "invalid", "_page comes from a next link of this server: follow the link as it is")
    return Page(size=wanted, given=int(place[1]), last=place[2])
