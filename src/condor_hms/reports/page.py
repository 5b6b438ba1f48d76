"""What a report says, before it is typeset."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Page", "Part"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One heading with its lines; a part without lines says so."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A report of one patient."""

    title: str
    #: Who it is about, with two identifiers.
    subject: str
    #: By whom and when it was made.
    made: str
    parts: tuple[Part, ...]
    #: The last line, such as that it is a draft.
    footer: str
