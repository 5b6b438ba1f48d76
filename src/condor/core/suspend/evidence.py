"""What a card shows beside the call, read from the live record by the gate, never by a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from condor.core.ids import Digest, Json, digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.outcome import InputField


@dataclass(frozen=True, slots=True, kw_only=True)
class CardEvidence:
    """What a tool's ``preview`` returns: the state of the record that a person should see."""

    #: Who or what it is about: ``{"reference", "text", …}`` (name, age, sex, record number).
    subject: Mapping[str, Json] = field(default_factory=dict)
    #: The exact order in words.
    summary: str = ""
    #: The record before and after, as far as it changes.
    before: Json = None
    after: Json = None
    #: ``{"id", "severity": info|warning|critical, "summary", "action", "source"}``, worst first.
    alerts: tuple[Mapping[str, Json], ...] = ()
    #: Other facts worth seeing: ``{"label", "text"}``.
    context: tuple[Mapping[str, Json], ...] = ()
    #: ``Type/id`` of every record the call would write → its version as shown.
    versions: Mapping[str, str] = field(default_factory=dict)
    #: What this state of the record makes necessary (a critical alert's reason): names of arguments, or
    #: fields for what the tool takes no argument for, whose answers stand in ``ToolContext.answers``.
    requires: tuple[str | InputField, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The evidence as the card carries it; empty parts are left out."""
        parts: dict[str, Json] = {
            "subject": self.subject,
            "summary": self.summary,
            "before": self.before,
            "after": self.after,
            "alerts": list(self.alerts),
            "context": list(self.context),
            "versions": self.versions,
        }
        return {key: part for key, part in parts.items() if part not in (None, "", [], {})}

    @property
    def digest(self) -> Digest:
        """Digest of what was shown; versions of write targets are in the contract instead."""
        if not (self.alerts or self.context):
            return _NOTHING_SHOWN
        return digest_of([list(self.alerts), list(self.context)])


_NOTHING_SHOWN = digest_of([[], []])
#: Of a record that nobody reads for the card.
NO_EVIDENCE = CardEvidence()
