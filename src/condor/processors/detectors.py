"""The three detectors: personal data, offensive words, instructions to the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from condor.core.errors import RefusedInput
from condor.processors.detecting import Found, counted, in_pieces, in_sentences, library, redacted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.ports.messages import Message
    from condor.processors.configuration import (
        ModerationConfiguration,
        PiiDetectorConfiguration,
        PromptInjectionDetectorConfiguration,
    )


class _Detector:
    """Finds things; notes them, takes them out, or refuses the message."""

    name = ""
    _what = ""
    _action = "note"
    _held = ""

    def find(self, text: str) -> Sequence[Found]:
        """Everything it knows in a short text."""
        raise NotImplementedError

    def process(self, message: Message) -> Message:
        """The message, noted, redacted or refused."""
        found = in_pieces(message.text, self.find, self.name)
        if not found:
            return message
        if self._action == "refuse":
            kinds = ", ".join(counted(found))
            raise RefusedInput(f"the request holds {self._what} ({kinds})", code="message_refused")
        text = redacted(message.text, found) if self._action == "redact" else message.text
        return replace(message, text=text, findings={**message.findings, self.name: counted(found)})

    def feed(self, part: str, *, now_s: float) -> Sequence[str]:
        """Whole sentences, without what was found: on the way out nothing is refused."""
        del now_s
        if self._action == "note":
            return [part]
        whole, self._held = in_sentences(self._held + part, ends=False)
        return [self._clean(whole)] if whole else []

    def end(self) -> Sequence[str]:
        """The rest."""
        held, self._held = self._held, ""
        return [self._clean(held)] if held else []

    def _clean(self, text: str) -> str:
        return redacted(text, in_pieces(text, self.find, self.name))


class PiiDetector(_Detector):
    """Personal data, by glin-profanity's patterns and phonenumbers' plans of every country."""

    name = "pii-detector"
    _what = "personal data"

    def __init__(self, configuration: PiiDetectorConfiguration) -> None:
        self._action = configuration.action
        self._regions = tuple(dict.fromkeys(configuration.regions)) or (None,)
        self._scan = library("glin_profanity", self.name).scan_pii
        self._phones = library("phonenumbers", self.name).PhoneNumberMatcher

    def find(self, text: str) -> Sequence[Found]:
        """Numbers and addresses that identify somebody."""
        found = [
            Found(match.start_index, match.end_index, str(match.category).replace("_", "-"))
            for match in self._scan(text).matches
            if match.category != "phone"
        ]
        for region in self._regions:
            found += [Found(match.start, match.end, "phone") for match in self._phones(text, region)]
        return found


class Moderation(_Detector):
    """Offensive words, by glin-profanity's lists."""

    name = "moderation"
    _what = "offensive words"

    def __init__(self, configuration: ModerationConfiguration) -> None:
        self._action = configuration.action
        glin = library("glin_profanity", self.name)
        known = frozenset(get_args(glin.Language))
        if unknown := [one for one in configuration.languages if one not in known]:
            raise RefusedInput(
                f"moderation has no word list for {', '.join(unknown)}; there are {', '.join(sorted(known))}"
            )
        self._filter = glin.Filter(
            {
                "languages": list(dict.fromkeys(configuration.languages)),
                "custom_words": list(configuration.words),
            }
        )

    def find(self, text: str) -> Sequence[Found]:
        """Words of the lists."""
        return [
            Found(match["index"], match["index"] + len(match["word"]), "offensive")
            for match in self._filter.check_profanity(text).get("matches") or ()
        ]


class PromptInjectionDetector(_Detector):
    """Known phrases of prompt injection, by glin-profanity's patterns."""

    name = "prompt-injection-detector"
    _what = "instructions to the model"

    def __init__(self, configuration: PromptInjectionDetectorConfiguration) -> None:
        self._action = configuration.action
        glin = library("glin_profanity", self.name)
        self._scanner = glin.PromptInjectionScanner(strictness=configuration.strictness, block_at=0.5)

    def find(self, text: str) -> Sequence[Found]:
        """Phrases that score."""
        result = self._scanner.scan(text)
        if str(getattr(result.decision, "value", result.decision)) == "ALLOW":
            return []
        return [Found(m.start_index, m.end_index, str(m.category).replace("_", "-")) for m in result.matches]
