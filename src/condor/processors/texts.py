"""The processors that need no library but one: normalizer, language, scrubber, limiter, batches."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

from condor.core.errors import RefusedInput
from condor.core.observers import readable_words
from condor.ports.messages import TextCut
from condor.processors.detecting import in_sentences, library

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.ports.messages import Message
    from condor.processors.configuration import (
        BatchPartsConfiguration,
        LanguageDetectorConfiguration,
        SystemPromptScrubberConfiguration,
        TokenLimiterConfiguration,
        UnicodeNormalizerConfiguration,
    )

#: Joiners that scripts of India, Persia and emoji need between their letters.
_JOINERS = "\u200c\u200d"
#: Letters that a language is told from.
_TOLD_FROM_CHARS = 4_000
#: Words of a sentence of the instructions that is worth taking out.
_SCRUBBED_WORDS_MIN = 4


class UnicodeNormalizer:
    """One form for every character, and none that nobody sees."""

    name = "unicode-normalizer"

    def __init__(self, configuration: UnicodeNormalizerConfiguration) -> None:
        self._form = configuration.form
        self._removes = configuration.remove_invisible

    def process(self, message: Message) -> Message:
        """The message in its form."""
        text = message.text if message.text.isascii() else unicodedata.normalize(self._form, message.text)
        kept = (
            "".join(char for at, char in enumerate(text) if self._stays(text, at)) if self._removes else text
        )
        removed = len(text) - len(kept)
        findings = {**message.findings, self.name: {"removed": removed}} if removed else message.findings
        return replace(message, text=kept, findings=findings)

    @staticmethod
    def _stays(text: str, at: int) -> bool:
        char = text[at]
        if unicodedata.category(char) != "Cf" or char == "\u00ad":
            return unicodedata.category(char) != "Cc" or char in "\n\t\r"
        return (
            char in _JOINERS
            and 0 < at < len(text) - 1
            and not (text[at - 1].isascii() and text[at + 1].isascii())
        )


class LanguageDetector:
    """The language of a message, by py3langid, which ships its model."""

    name = "language-detector"

    def __init__(self, configuration: LanguageDetectorConfiguration) -> None:
        self._allowed = frozenset(configuration.allowed)
        self._letters_min = configuration.letters_min
        self._classify = library("py3langid", self.name).classify

    def process(self, message: Message) -> Message:
        """The message with its language noted, or refused."""
        if sum(char.isalpha() for char in message.text) < self._letters_min:
            return message
        language = str(self._classify(message.text[:_TOLD_FROM_CHARS])[0])
        if self._allowed and language not in self._allowed:
            allowed = ", ".join(sorted(self._allowed))
            raise RefusedInput(
                f"the request reads like language {language}; allowed are {allowed}", code="message_refused"
            )
        return replace(message, findings={**message.findings, self.name: {"language": language}})


class SystemPromptScrubber:
    """Takes sentences of the instructions out of a text."""

    name = "system-prompt-scrubber"

    def __init__(self, configuration: SystemPromptScrubberConfiguration, texts: Sequence[str] = ()) -> None:
        phrases = [readable_words(phrase) for phrase in configuration.phrases]
        phrases += [
            words for text in texts for words in _sentences(text) if len(words) >= _SCRUBBED_WORDS_MIN
        ]
        self._phrases = [f" {' '.join(words)} " for words in phrases if words]
        self._held = ""

    def feed(self, part: str, *, now_s: float) -> Sequence[str]:
        """Whole sentences, without those of the instructions."""
        del now_s
        whole, self._held = in_sentences(self._held + part, ends=False)
        return [self._clean(whole)] if whole else []

    def end(self) -> Sequence[str]:
        """The rest."""
        held, self._held = self._held, ""
        return [self._clean(held)] if held else []

    def _clean(self, text: str) -> str:
        lines = text.split("\n")
        return "\n".join("".join(map(self._sentence, _split(line))) for line in lines)

    def _sentence(self, sentence: str) -> str:
        said = f" {' '.join(readable_words(sentence))} "
        hit = any(phrase in said for phrase in self._phrases)
        return "[instructions] " if hit else sentence


def _split(line: str) -> list[str]:
    parts, start = [], 0
    for at in range(1, len(line)):
        if line[at] == " " and line[at - 1] in ".!?":
            parts.append(line[start : at + 1])
            start = at + 1
    return [*parts, line[start:]]


def _sentences(text: str) -> list[tuple[str, ...]]:
    return [readable_words(sentence) for line in text.split("\n") for sentence in _split(line)]


class TokenLimiter:
    """Refuses a message, and cuts a text, of too many tokens."""

    name = "token-limiter"

    def __init__(self, configuration: TokenLimiterConfiguration) -> None:
        self._input_max = configuration.input_tokens_max
        self._output_max = configuration.output_tokens_max
        self._told = ""

    def process(self, message: Message) -> Message:
        """The message, unless it is too long."""
        tokens = estimated_tokens(message.text)
        if tokens > self._input_max:
            raise RefusedInput(
                f"the request has about {tokens} tokens; at most {self._input_max}", code="message_refused"
            )
        return message

    def feed(self, part: str, *, now_s: float) -> Sequence[str]:
        """The part, as long as it fits."""
        del now_s
        if estimated_tokens(self._told + part) <= self._output_max:
            self._told += part
            return [part]
        room, fits = len(part), part
        while room and estimated_tokens(self._told + fits) > self._output_max:
            room //= 2
            fits = part[:room]
        raise TextCut(f"more than about {self._output_max} tokens", [fits] if fits else [])

    def end(self) -> Sequence[str]:
        """Nothing is held back."""
        return []


def estimated_tokens(text: str) -> int:
    """About as many tokens as a model counts: four ASCII characters or one other are one, rounded up."""
    others = 0 if text.isascii() else sum(not char.isascii() for char in text)
    return -(-(len(text) - others) // 4) + others


class BatchParts:
    """Gathers parts until they are long enough or have waited."""

    name = "batch-parts"

    def __init__(self, configuration: BatchPartsConfiguration) -> None:
        self._chars_min = configuration.chars_min
        self._delay_s_max = configuration.delay_s_max
        self._gathered = ""
        self._since_s = 0.0

    def feed(self, part: str, *, now_s: float) -> Sequence[str]:
        """What was gathered, once it is enough."""
        if not self._gathered:
            self._since_s = now_s
        self._gathered += part
        waited = now_s - self._since_s >= self._delay_s_max
        return self.end() if len(self._gathered) >= self._chars_min or waited else []

    def end(self) -> Sequence[str]:
        """What was gathered."""
        gathered, self._gathered = self._gathered, ""
        return [gathered] if gathered else []
