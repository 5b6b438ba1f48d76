"""What a model is asked and what it answers, without the library that carries it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from condor.core.errors import RefusedInput
from condor.ports.encoding import read_strict_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor.config import Settings

#: A provider's word for its refusal, fit to be repeated.
_WORD = re.compile(r"[a-z][a-z0-9_.-]{0,47}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One answer that a model may give: a name and its JSON schema."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a model is asked."""

    #: What it is asked for, as an error names it: "a plan".
    about: str
    #: Ours alone.
    instructions: str
    #: The person's words and marked data.
    text: str
    #: The forms of an answer, one of which it takes; none: it answers in words.
    forms: Sequence[Form] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered."""

    #: The form that it took; empty where it took none.
    form: str = ""
    #: What stands in the form; JSON.
    body: Any = None
    #: What it said beside or instead of a form.
    text: str = ""
    #: What its provider or itself said when it would not answer; empty where it did.
    refusal: str = ""
    #: It ran into its limit in mid-answer.
    cut: bool = False
    tokens: int = 0
    cost_usd: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a question cost."""

    tokens: int
    cost_usd: float


def address_of(settings: Settings) -> str:
    """Scheme, host and port of the endpoint; nothing else of its address, which may hold a token."""
    if not settings.model_base_url:
        return settings.model_provider
    read = urlsplit(settings.model_base_url)
    return f"{read.scheme}://{read.netloc}"


def of_status(status: int, retry_after: float | None, word: str) -> str:
    """What an HTTP status means, after the endpoint's name; with the setting to look at."""
    match status:
        case 401 | 403:
            return f"refuses the key ({status}): look at CONDOR_MODEL_KEY"
        case 404:
            return "is not there (404): look at CONDOR_MODEL_NAME and CONDOR_MODEL_BASE_URL"
        case 429:
            later = f", and asks to come back in {retry_after:g} s" if retry_after else ""
            return f"is busy or its quota is used up (429){later}"
        case _ if status >= 500:
            return f"has a fault of its own ({status})"
        case _:
            return f"refuses what it was asked ({status}{f', {word}' if word else ''})"


def word_of(code: object, kind: object) -> str:
    """The endpoint's own word for a refusal, where it is one that can be repeated."""
    for word in (code, kind):
        if isinstance(word, str) and _WORD.fullmatch(word):
            return word
    return ""


def json_of(given: object) -> Any:
    """JSON that a model wrote; what is none comes back as the text it is."""
    if not isinstance(given, str):
        return given
    try:
        return read_strict_json(given)
    except RefusedInput:
        return given


def unfenced(text: str) -> str:
    """A text without the fence that some models put around JSON."""
    found = re.fullmatch(r"\s*```(?:json)?\s*\n(.*?)\n\s*```\s*", text, re.DOTALL)
    return found[1] if found else text


def union_of(forms: Sequence[Form]) -> dict[str, Any]:
    """An object with one of the forms in it."""
    return {
        "type": "object",
        "properties": {form.name: {"description": form.description, **form.schema} for form in forms},
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }


__all__ = [
    "Form",
    "Question",
    "Reply",
    "Spent",
    "address_of",
    "json_of",
    "of_status",
    "unfenced",
    "union_of",
    "word_of",
]
