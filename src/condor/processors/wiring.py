"""The wiring: which processors a message and a text pass, in which order."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from condor.core.errors import RefusedInput, show
from condor.ports.encoding import encode, read_strict_json
from condor.ports.messages import InputProcessor, Message, OutputProcessor, TextCut
from condor.processors.configuration import CONFIGURATIONS, DEFAULT_PROCESSORS
from condor.processors.detectors import Moderation, PiiDetector, PromptInjectionDetector
from condor.processors.texts import (
    BatchParts,
    LanguageDetector,
    SystemPromptScrubber,
    TokenLimiter,
    UnicodeNormalizer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from condor.processors import configuration as configured

#: What a server reads them from.
SETTING = "CONDOR_PROCESSORS"
#: The order in which a message passes them: what is read is normalized, what is judged is short enough.
INPUT_ORDER = (
    "unicode-normalizer",
    "token-limiter",
    "language-detector",
    "prompt-injection-detector",
    "moderation",
    "pii-detector",
)
#: The order in which a text passes them: what is stored was read, counted and gathered.
OUTPUT_ORDER = ("system-prompt-scrubber", "pii-detector", "moderation", "token-limiter", "batch-parts")


def read_configuration(given: str | Mapping[str, Any]) -> dict[str, Any]:
    """Which processors are on, each with its configuration; empty: the default.

    Args:
        given: ``{"id": {…}, …}``, as JSON or read.

    Raises:
        RefusedInput: no such processor, or a configuration that does not fit; it says which and what.
    """
    if given == "":
        given = DEFAULT_PROCESSORS
    wanted = read_strict_json(given, SETTING) if isinstance(given, str) else dict(given)
    if not isinstance(wanted, dict):
        raise RefusedInput("CONDOR_PROCESSORS is no JSON object of processor ids")
    read = {}
    for name, values in wanted.items():
        if name not in CONFIGURATIONS:
            known = ", ".join(CONFIGURATIONS)
            raise RefusedInput(
                f"CONDOR_PROCESSORS names {show(name)}, which is no processor; there are {known}"
            )
        try:
            # As JSON: strictly, a list is a tuple there and `true` is no number.
            read[name] = CONFIGURATIONS[name].model_validate_json(encode(values), strict=True)
        except ValidationError as fault:
            first = fault.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise RefusedInput(
                f"CONDOR_PROCESSORS: {name}{'.' if where else ''}{where}: {first['msg']}"
            ) from None
    return read


def configurations_of(given: str | Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The configurations of the processors that are on, every value of each, as JSON.

    Raises:
        RefusedInput: as ``read_configuration``.
    """
    return {name: read.model_dump(mode="json") for name, read in read_configuration(given).items()}


def check_setting(given: Mapping[str, Any]) -> dict[str, Any]:
    """What ``CONDOR_PROCESSORS`` has to say for this, and in which order words pass what is on.

    Raises:
        RefusedInput: a server with it would not start.
    """
    every = read_configuration(given)
    _inputs(every)
    _outputs(every)
    # Short: what has its default is left out, so that a later Condor's better default counts.
    said = {name: read.model_dump(mode="json", exclude_defaults=True) for name, read in every.items()}
    value = json.dumps(said, ensure_ascii=True, sort_keys=True)
    return {
        "setting": SETTING,
        "value": value,
        #: As a line of a shell.
        "line": f"export {SETTING}={shlex.quote(value)}",
        "input": [name for name in INPUT_ORDER if name in said],
        "output": [name for name in OUTPUT_ORDER if name in said],
        "configuration": {name: read.model_dump(mode="json") for name, read in every.items()},
    }


class InputChain:
    """Everything a message passes."""

    def __init__(self, processors: Sequence[InputProcessor]) -> None:
        self.processors = tuple(processors)

    def process(self, text: str) -> Message:
        """The message as it is stored.

        Raises:
            RefusedInput: a processor refused it, or could not look at it.
        """
        message = Message(text=text, findings={})
        for processor in self.processors:
            try:
                message = processor.process(message)
            except RefusedInput:
                raise
            except Exception as fault:
                raise RefusedInput(
                    f"the request could not be looked at by {processor.name} ({type(fault).__name__})",
                    code="message_refused",
                ) from fault
        return message


class OutputChain:
    """Everything one text passes, as one processor."""

    name = "output"

    def __init__(self, processors: Sequence[OutputProcessor]) -> None:
        self.processors = tuple(processors)

    def feed(self, part: str, *, now_s: float) -> Sequence[str]:
        """What comes out of the last one."""
        return self._through([part], 0, now_s)

    def end(self) -> Sequence[str]:
        """What they held back, each through those after it."""
        out: list[str] = []
        for number, processor in enumerate(self.processors):
            out += self._through(list(processor.end()), number + 1, 0.0)
        return out

    def _through(self, parts: list[str], begin: int, now_s: float) -> list[str]:
        for number in range(begin, len(self.processors)):
            processor = self.processors[number]
            passed: list[str] = []
            for part in parts:
                try:
                    passed += processor.feed(part, now_s=now_s)
                except TextCut as cut:
                    rest = [*passed, *cut.parts]
                    self.processors = self.processors[number + 1 :]
                    raise TextCut(str(cut), [*self._through(rest, 0, now_s), *self.end()]) from None
            parts = passed
        return parts


def build_input_processors(given: str | Mapping[str, Any] = "") -> InputChain:
    """The way in.

    Raises:
        RefusedInput: the configuration does not fit, or a library is not installed.
    """
    return _inputs(read_configuration(given))


def _inputs(read: Mapping[str, Any]) -> InputChain:
    make: dict[str, Callable[[Any], InputProcessor]] = {
        "unicode-normalizer": UnicodeNormalizer,
        "language-detector": LanguageDetector,
        "prompt-injection-detector": PromptInjectionDetector,
        "pii-detector": PiiDetector,
        "moderation": Moderation,
        "token-limiter": TokenLimiter,
    }
    return InputChain([make[name](read[name]) for name in INPUT_ORDER if name in read])


def build_output_processors(
    given: str | Mapping[str, Any] = "", *, instructions: Sequence[str] = ()
) -> Callable[[], OutputChain | None]:
    """The way out: makes the processors of one text.

    Args:
        instructions: texts that the writing model was instructed with, for the scrubber.

    Raises:
        RefusedInput: the configuration does not fit, or a library is not installed.
    """
    return _outputs(read_configuration(given), instructions)


def _outputs(read: Mapping[str, Any], instructions: Sequence[str] = ()) -> Callable[[], OutputChain | None]:
    names = [name for name in OUTPUT_ORDER if name in read]

    def scrubber(values: configured.SystemPromptScrubberConfiguration) -> OutputProcessor:
        return SystemPromptScrubber(values, instructions)

    make: dict[str, Callable[[Any], OutputProcessor]] = {
        "system-prompt-scrubber": scrubber,
        "pii-detector": PiiDetector,
        "moderation": Moderation,
        "token-limiter": TokenLimiter,
        "batch-parts": BatchParts,
    }

    def chain() -> OutputChain | None:
        return OutputChain([make[name](read[name]) for name in names]) if names else None

    chain()  # what cannot be made is refused now, not at the first text
    return chain
