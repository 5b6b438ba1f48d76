"""The configuration of each processor, and its schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

#: Characters that a detector reads; a longer message is refused, so that nothing slips by unread.
SCANNED_CHARS_MAX = 50_000


class _Configuration(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class UnicodeNormalizerConfiguration(_Configuration):
    """Composed characters, without what nobody sees."""

    form: Literal["NFC", "NFKC"] = Field(
        default="NFC", title="Form", description="NFC keeps how characters look; NFKC also folds full width."
    )
    remove_invisible: bool = Field(
        default=True,
        title="Remove invisible characters",
        description="Tag characters, bidi controls, and joiners outside of scripts that need them.",
    )


class LanguageDetectorConfiguration(_Configuration):
    """The language of a message."""

    allowed: tuple[Annotated[str, Field(pattern="^[a-z]{2,3}$")], ...] = Field(
        default=(),
        max_length=200,
        title="Allowed languages",
        description="ISO 639-1 codes; none: every language.",
    )
    letters_min: int = Field(
        default=24, ge=1, le=10_000, title="Shortest text", description="Letters below which none is told."
    )


class PromptInjectionDetectorConfiguration(_Configuration):
    """Text that tries to instruct the model against its rules."""

    action: Literal["note", "refuse"] = Field(default="refuse", title="What to do with it")
    strictness: Literal["lenient", "moderate", "strict"] = Field(default="moderate", title="Strictness")


class PiiDetectorConfiguration(_Configuration):
    """Identifying data of people."""

    action: Literal["note", "redact", "refuse"] = Field(default="note", title="What to do with it")
    regions: tuple[Annotated[str, Field(pattern="^[A-Z]{2}$")], ...] = Field(
        default=(),
        max_length=250,
        title="Regions",
        description="Where national telephone numbers are read, ISO 3166.",
    )


class ModerationConfiguration(_Configuration):
    """Offensive words."""

    action: Literal["note", "redact", "refuse"] = Field(default="note", title="What to do with them")
    languages: tuple[str, ...] = Field(
        default=("english",),
        min_length=1,
        max_length=50,
        title="Word lists",
        description="English names of languages.",
    )
    words: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(
        default=(), max_length=1_000, title="Own words", description="Offensive here, whatever the lists say."
    )


class SystemPromptScrubberConfiguration(_Configuration):
    """Sentences of the model's instructions in what it writes."""

    phrases: tuple[Annotated[str, Field(min_length=8, max_length=1_000)], ...] = Field(
        default=(),
        max_length=1_000,
        title="Phrases",
        description="Taken out beside the instructions themselves.",
    )


class TokenLimiterConfiguration(_Configuration):
    """How long a message and a text may be."""

    input_tokens_max: int = Field(default=8_000, ge=1, le=1_000_000, title="Tokens of a message")
    output_tokens_max: int = Field(default=2_000, ge=1, le=1_000_000, title="Tokens of a text")


class BatchPartsConfiguration(_Configuration):
    """How parts of a text are gathered before they are stored."""

    chars_min: int = Field(default=160, ge=1, le=10_000, title="Characters of a part")
    delay_s_max: float = Field(default=0.25, gt=0, le=10, title="Seconds a part is gathered for")


CONFIGURATIONS: dict[str, type[_Configuration]] = {
    "unicode-normalizer": UnicodeNormalizerConfiguration,
    "language-detector": LanguageDetectorConfiguration,
    "prompt-injection-detector": PromptInjectionDetectorConfiguration,
    "pii-detector": PiiDetectorConfiguration,
    "moderation": ModerationConfiguration,
    "system-prompt-scrubber": SystemPromptScrubberConfiguration,
    "token-limiter": TokenLimiterConfiguration,
    "batch-parts": BatchPartsConfiguration,
}
#: What is wired where nothing is configured: nothing that judges words.
DEFAULT_PROCESSORS: dict[str, dict[str, Any]] = {"unicode-normalizer": {}, "batch-parts": {}}
