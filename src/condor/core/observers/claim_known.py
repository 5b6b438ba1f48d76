"""One entry of a run's evidence in the words of the rules: its kinds, its things, what they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.observers.claim_grammar import PREPOSITIONS, UNITS
from condor.core.observers.claim_rules import ClaimRule
from condor.core.observers.claim_things import OBJECTS
from condor.core.observers.claim_words import readable_words, root, sentences
from condor.core.outcome import StepStatus
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from condor.core.observers.claim_evidence import StepEvidence

#: Longer words are also called by their beginning: "echo" for an echocardiogram.
_SHORTENED_CHARS_MIN = 8
#: Nobody says more of a word's beginning, or more initials.
_SHORT_CHARS_MAX = 12
#: An identifier has at least so many digits.
_ID_DIGITS_MIN = 3
OBJECTS_OF: dict[str, frozenset[str]] = {
    word: frozenset(line[0] for line in OBJECTS if word in line) for line in OBJECTS for word in line
}
#: Words of an entity that name nothing.
_NO_NAMES = frozenset(
    [
        "patient",
        "the",
        "and",
        "for",
        "with",
        "from",
        "of",
        "to",
        "mg",
        "ml",
        "eur",
        "usd",
        "daily",
        "twice",
        "once",
        "day",
        "per",
        "none",
        "null",
        "true",
        "false",
        "practitioner",
        "organization",
        "id",
        "mrs",
        "mr",
        "dr",
        "ms",
    ]
)


@dataclass(frozen=True, slots=True)
class Known:
    """One entry of the evidence, in the words of the rules."""

    step: StepEvidence
    kinds: frozenset[str]
    objects: frozenset[str]
    #: The same of what it was done to: the note of a signature.
    of_objects: frozenset[str]
    #: Words of the record, person or thing that it is about.
    names: frozenset[str]
    #: Those of them that are a person's.
    persons: frozenset[str]
    #: One of its entities is a person's name, as texts call people.
    is_person: bool
    ids: frozenset[str]
    #: Every word that a text may use for its thing.
    words: frozenset[str]
    #: The words of its entities, in their order.
    entity_words: tuple[str, ...]
    #: The same, and those of its noun.
    all_words: tuple[str, ...]

    @property
    def succeeded(self) -> bool:
        """It bears a claim."""
        return self.step.status is StepStatus.SUCCEEDED


def own_rules(steps: Iterable[StepEvidence], rules: tuple[ClaimRule, ...]) -> tuple[ClaimRule, ...]:
    """Rules for what the run's own tools are called and no rule knows: ``patient.admit``, "admitted"."""
    known = frozenset().union(*(rule.ops for rule in rules))
    verbs = dict.fromkeys(
        word
        for step in steps
        if step.effectful
        for word in (*words_of(step.op), *words_of(step.tool)[-1:])
        if len(word) > 3 and word.isalpha() and word not in known
    )
    return tuple(
        ClaimRule(id=f"own.{verb}", done=_done(verb), ops=frozenset((verb,)), claim="", no_claim="")
        for verb in verbs
    )


def _done(verb: str) -> tuple[str, ...]:
    """The past of a regular verb, and with its last letter doubled: "admitted", "applied"."""
    if verb.endswith("e"):
        return (f"{verb}d",)
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return (f"{verb[:-1]}ied",)
    return (f"{verb}ed", f"{verb}{verb[-1]}ed")


def known_of(step: StepEvidence, rules: tuple[ClaimRule, ...]) -> Known:
    """A step as the rules see it."""
    own_words = [
        *words_of(step.tool),
        *(word for part in (step.noun, step.instead_of) for word in words_of(part)),
    ]
    # What an op like "create" leaves open, the name says: appointment.invite.
    kinds = kinds_of([step.op, *own_words] if step.op else own_words, rules)
    if not step.effectful:
        kinds = frozenset(kinds & {rule.id for rule in rules if rule.bears == "look"})
    objects: set[str] = set()
    for word in own_words:
        if known := objects_of(word):
            objects |= known
        elif len(root(word)) > 3 and not any(word in rule.ops for rule in rules):
            objects.add(root(word))
    entities = {entity: words_of(entity) for entity in step.entities}
    called = {entity: _called(entity, words) for entity, words in entities.items()}
    entity_words = [word for words in entities.values() for word in words]
    persons = [called[entity] for entity in entities if _is_persons_name(entity)]
    return Known(
        step=step,
        kinds=kinds,
        objects=frozenset(objects),
        of_objects=frozenset().union(*map(objects_of, entity_words)),
        names=frozenset().union(*called.values()),
        persons=frozenset().union(*persons),
        is_person=bool(persons),
        ids=frozenset(filter(is_id, entity_words)),
        entity_words=tuple(entity_words),
        all_words=(*entity_words, *own_words),
        words=frozenset(map(root, (*own_words, *entity_words))).union(
            *(line for line in OBJECTS if line[0] in objects)
        ),
    )


def _called(entity: str, words: Sequence[str]) -> frozenset[str]:
    """What a text may call it: its words, one or many of each, their beginnings and their initials."""
    called: set[str] = set()
    # "orders-db" is also one word.
    for word in dict.fromkeys((*words, *readable_words(entity))) if "-" in entity else words:
        is_number = word.isdigit() and len(word) < _ID_DIGITS_MIN
        if len(word) < 2 or is_number or word in _NO_NAMES or word in PREPOSITIONS or objects_of(word):
            continue
        called |= {word, root(word)}
        if word.isalpha() and len(word) >= _SHORTENED_CHARS_MIN:
            called.update(word[:end] for end in range(4, min(len(word), _SHORT_CHARS_MAX)))
    initials = "".join(word[0] for word in words if word.isalpha())
    called.update(initials[:end] for end in range(3, min(len(initials), _SHORT_CHARS_MAX) + 1))
    return frozenset(called)


def objects_of(word: str) -> frozenset[str]:
    """What sorts of thing a word means; empty where it means none that is listed."""
    return OBJECTS_OF.get(word) or OBJECTS_OF.get(root(word)) or frozenset()


def kinds_of(words: Iterable[str], rules: tuple[ClaimRule, ...]) -> frozenset[str]:
    """The rules whose effect these words of an op, a name or a noun mean."""
    return frozenset(rule.id for word in words for rule in rules if word in rule.ops)


def is_id(word: str) -> bool:
    """Whether a word is an identifier: it has digits, and is no year and no dose."""
    if word.isalpha():
        return False
    digits = sum(char.isdigit() for char in word)
    if digits < _ID_DIGITS_MIN or (len(word) == 4 and word[:2] in ("19", "20") and word.isdigit()):
        return False
    return word.lstrip("0123456789") not in UNITS or word.isdigit()


def words_of(text: str) -> list[str]:
    """The words of an entity, a name of a tool or a sentence of one, in lower case."""
    spaced = "".join(
        char if char not in "._/-" or _inside_id(text, at) else " " for at, char in enumerate(text)
    )
    return [word for sentence in sentences(spaced) for word in sentence.words if word[0].isalnum()]


def _inside_id(text: str, at: int) -> bool:
    """Whether a sign joins an identifier or a version: "INV-1042", "2.4.1"."""
    after = text[at + 1 : at + 2].isdigit()
    return after and (text[at] == "-" or (text[at] == "." and text[at - 1 : at].isdigit()))


def _is_persons_name(entity: str) -> bool:
    words = entity.split()
    return 2 <= len(words) <= 4 and all(
        word[:1].isupper() and word.replace(".", "").isalpha() for word in words
    )
