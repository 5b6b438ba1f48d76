"""The processor catalog: display metadata from which forms are drawn. It is not the wiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from condor.core.values import dataclass
from condor.processors.configuration import CONFIGURATIONS, DEFAULT_PROCESSORS

if TYPE_CHECKING:
    from condor.core.ids import Json

Stage = Literal["input", "output"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """One processor as a form shows it."""

    id: str
    title: str
    description: str
    #: What it does not do, so that nobody relies on it.
    limits: str
    stages: tuple[Stage, ...]

    def to_json(self) -> dict[str, Json]:
        """The entry with the schema of its configuration."""
        schema: Json = CONFIGURATIONS[self.id].model_json_schema()
        return {
            "id": self.id,
            "title": self.title,
            "description": self.description,
            "limits": self.limits,
            "stages": list(self.stages),
            "isDefault": self.id in DEFAULT_PROCESSORS,
            "configurationSchema": schema,
        }


PROCESSOR_CATALOG: tuple[CatalogEntry, ...] = (
    CatalogEntry(
        id="unicode-normalizer",
        title="Unicode normalizer",
        description="Composes characters and removes those that nobody sees.",
        limits="Look-alike letters stay; the claim guard and tool names see through them on their own.",
        stages=("input",),
    ),
    CatalogEntry(
        id="language-detector",
        title="Language detector",
        description="Notes the language of a request, and refuses those that are not allowed.",
        limits="Short texts get no language; a text in two languages gets one.",
        stages=("input",),
    ),
    CatalogEntry(
        id="prompt-injection-detector",
        title="Prompt injection detector",
        description="Finds known phrases by which a text tries to instruct the model.",
        limits="Patterns only: new wordings pass. The policy, not this, keeps a write from running.",
        stages=("input",),
    ),
    CatalogEntry(
        id="pii-detector",
        title="Personal data detector",
        description="Finds e-mail addresses, telephone, card, account and identity numbers, dates of birth.",
        limits="Names and addresses are not found; numbers of most countries' identity cards are not known.",
        stages=("input", "output"),
    ),
    CatalogEntry(
        id="moderation",
        title="Moderation",
        description="Finds offensive words, also spelt with digits or signs.",
        limits="Word lists: meaning is not read, and what is offensive without such a word passes.",
        stages=("input", "output"),
    ),
    CatalogEntry(
        id="system-prompt-scrubber",
        title="System prompt scrubber",
        description="Takes sentences of the model's instructions out of what it writes.",
        limits="Verbatim sentences, also with look-alike letters; a paraphrase passes.",
        stages=("output",),
    ),
    CatalogEntry(
        id="token-limiter",
        title="Token limiter",
        description="Refuses a request, and cuts a text, that is too long for a model.",
        limits="Tokens are estimated from characters: vocabularies of models are not shipped.",
        stages=("input", "output"),
    ),
    CatalogEntry(
        id="batch-parts",
        title="Batch parts",
        description="Gathers the parts of a streamed text before they are stored.",
        limits="A part waits for at most its delay or the next one, whichever is later.",
        stages=("output",),
    ),
)
