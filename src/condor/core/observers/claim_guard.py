"""The claim guard: what a text claims, compared with what the run can prove. It only adds.

Law 1: a claim needs a ``succeeded`` entry of the run's own evidence, of its kind and on the same entity;
``degraded`` does not bear it.
Law 2: what did not happen is named by the closing's notices whatever the text says (``closing``); a rule can
only add a correction, so that a claim that no rule knows hides nothing.
Law 3: linear time; the text is never changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.observers.claim_grammar import MONTHS, OTHERS, UNITS
from condor.core.observers.claim_phrases import Matcher, phrase_matcher
from condor.core.observers.claim_rules import DEFAULT_CLAIM_RULES, IMPLIED, OBJECTS, Bears, ClaimRule
from condor.core.observers.claim_words import root, sentences
from condor.core.observers.claims import Claim, read_claims
from condor.core.observers.notice import (
    CORRECTION_PREFIX,
    NOT_EXECUTED_PREFIX,
    Notice,
    escape_sign,
    explained,
    one_line,
)
from condor.core.outcome import StepStatus
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from condor.core.observers.claim_evidence import ClaimEvidence, StepEvidence

#: Corrections of one text; who claims more is not read for more.
CORRECTIONS_MAX = 20
#: Claims compared in one text: many more than any closing makes.
CLAIMS_MAX = 200
#: Characters of a quoted sentence.
_QUOTE_CHARS_MAX = 160
#: Characters of it that are read for those: white space takes some.
_READ_CHARS_MAX = 4 * _QUOTE_CHARS_MAX
#: An identifier has at least so many digits.
_ID_DIGITS_MIN = 3
_OBJECTS_OF: dict[str, frozenset[str]] = {
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
#: Ends of a step that say that no person approved it.
_UNAPPROVED = frozenset({"denied", "denied_before", "expired"})


@dataclass(frozen=True, slots=True)
class _Known:
    """One entry of the evidence, in the words of the rules."""

    step: StepEvidence
    kinds: frozenset[str]
    objects: frozenset[str]
    #: Words of the record, person or thing that it is about.
    names: frozenset[str]
    #: One of its entities is a person's name, as texts call people.
    is_person: bool
    ids: frozenset[str]

    @property
    def succeeded(self) -> bool:
        return self.step.status is StepStatus.SUCCEEDED


def guard_claims(
    text: str,
    evidence: ClaimEvidence,
    *,
    rules: tuple[ClaimRule, ...] = DEFAULT_CLAIM_RULES,
    matcher: Matcher | None = None,
    author: str = "",
) -> tuple[Notice, ...]:
    """What a text claims that the run cannot prove, in the order of the text.

    Args:
        matcher: finds the phrases of the rules; default: our own, which is linear.
        author: the step whose tool said the text of its own call. Its success bears what it says of its own
            kind; what a read says is read out, unless it speaks of itself.
    """
    guard = _Guard(evidence, rules, author)
    for number, claim in enumerate(read_claims(text, matcher or phrase_matcher(rules))):
        if claim is None or number >= CLAIMS_MAX or len(guard.notices) >= CORRECTIONS_MAX:
            guard.give_up()
            break
        guard.compare(claim)
    return tuple(guard.notices)


class _Guard:
    """One text beside one run."""

    def __init__(self, evidence: ClaimEvidence, rules: tuple[ClaimRule, ...], author: str) -> None:
        self._known = [_known(step, rules) for step in evidence.steps]
        self._rules = rules
        self._author = next((known for known in self._known if author and known.step.step_id == author), None)
        self._vocabulary = frozenset(word for known in self._known for word in known.objects)
        #: What sorts of thing the last statement named.
        self._objects_said: dict[tuple[str, ...], frozenset[str]] = {}
        self._said: set[tuple[str, str]] = set()
        self._seen: set[tuple[object, ...]] = set()
        self.notices: list[Notice] = []

    def give_up(self) -> None:
        """The text claims more than is compared."""
        text = f"{CORRECTION_PREFIX} the text makes more statements than are compared with the evidence."
        self.notices.append(Notice(kind="correction", step_id="", text=text))

    def compare(self, claim: Claim) -> None:
        """Add what the evidence says otherwise."""
        key = (claim.phrase, claim.words, claim.strong)
        if key in self._seen:
            return
        self._seen.add(key)
        if self._author is not None and not self._may_be_false(claim, self._author):
            return
        if claim.whole:
            self._contradict(claim, [known for known in self._effects() if not known.succeeded])
            return
        match _bears(claim):
            case "answer":
                self._contradict(claim, self._unapproved(claim))
            case "look":
                looked = [k for k in self._about(claim) if not k.step.effectful and self._names_it(claim, k)]
                if not any(known.succeeded for known in looked):
                    self._contradict(claim, looked)
            case "effect" | "any":
                self._effect(claim)

    def _may_be_false(self, claim: Claim, author: _Known) -> bool:
        """Whether a tool's own sentence says more than its own success bears."""
        if not author.step.effectful:
            return claim.first_person and _bears(claim) == "effect"
        of_its_kind = any(rule.id in author.kinds or rule.bears != "effect" for rule in claim.rules)
        return bool(author.kinds) and not of_its_kind

    def _effects(self) -> list[_Known]:
        return [known for known in self._known if known.step.effectful]

    def _effect(self, claim: Claim) -> None:
        kinds = _kinds(claim.words, self._rules) if _bears(claim) == "any" else frozenset()
        if _bears(claim) == "any" and not (kinds or self._objects(claim) or self._mentions(claim)):
            return
        candidates = self._about(claim, kinds)
        unborne = self._unborne(claim, candidates)
        if unborne is None:
            return
        if not unborne and not candidates and claim.strong:
            # Another verb for what was to happen to the same thing: "the referral was sent".
            unborne = self._same_things(claim)
        if unborne:
            self._contradict(claim, unborne)
        elif claim.strong and _bears(claim) == "effect":
            self._unplanned(claim)

    def _same_things(self, claim: Claim) -> list[_Known]:
        objects = self._objects(claim)
        same = [known for known in self._effects() if known.objects & objects]
        return [] if any(known.succeeded for known in same) else same

    def _mentions(self, claim: Claim) -> bool:
        return any(word in known.names for known in self._effects() for word in claim.words)

    def _about(self, claim: Claim, kinds: frozenset[str] = frozenset()) -> list[_Known]:
        """Entries of the claim's kind, and on the same sort of thing where it names one."""
        ids = kinds or frozenset(rule.id for rule in claim.rules)
        every = _bears(claim) == "any" and not kinds
        of_kind = [
            known
            for known in self._known
            if known.kinds & ids or (known.step.effectful and (every or not known.kinds))
        ]
        implied = frozenset(IMPLIED[word] for word in claim.phrase if word in IMPLIED)
        for objects in (implied, self._objects(claim)):
            if same := [known for known in of_kind if known.objects & objects]:
                return same
        if not self._objects(claim):
            return of_kind
        return [known for known in of_kind if not known.objects]

    def _objects(self, claim: Claim) -> frozenset[str]:
        if (kept := self._objects_said.get(claim.words)) is not None:
            return kept
        found: set[str] = set()
        for word in claim.words:
            if objects := _objects_of(word):
                found |= objects
            elif root(word) in self._vocabulary:
                found.add(root(word))
        self._objects_said = {claim.words: frozenset(found)}
        return self._objects_said[claim.words]

    def _names_it(self, claim: Claim, known: _Known) -> bool:
        return bool(self._objects(claim) & known.objects)

    def _unborne(self, claim: Claim, candidates: Sequence[_Known]) -> list[_Known] | None:
        """Entries that should bear the claim and do not; None: it is borne; empty: there are none."""
        if not candidates:
            return []
        shared = frozenset.intersection(*(known.names for known in candidates))
        mentioned = (
            frozenset().union(*(known.names.intersection(claim.words) for known in candidates)) - shared
        )
        if mentioned:
            open_ones = []
            for word in sorted(mentioned):
                named = [known for known in candidates if word in known.names]
                if not any(known.succeeded for known in named):
                    open_ones += [known for known in named if known not in open_ones]
            return open_ones or None
        if self._speaks_of_all(claim):
            return [known for known in candidates if not known.succeeded] or None
        if any(known.succeeded for known in candidates):
            return [] if claim.strong and self._is_elsewhere(claim, candidates) else None
        return list(candidates)

    @staticmethod
    def _speaks_of_all(claim: Claim) -> bool:
        if any(word in ("some", "most", "one", "few", "a", "an") for word in claim.words):
            return False
        return claim.plural or any(
            root(word) != word and root(word) in _OBJECTS_OF and word not in _OBJECTS_OF
            for word in claim.words
        )

    @staticmethod
    def _is_elsewhere(claim: Claim, candidates: Sequence[_Known]) -> bool:
        """Whether it is about another record or person than any that was written to."""
        borne = [known for known in candidates if known.succeeded]
        ids = frozenset(word for word in claim.words if _is_id(word))
        if ids and all(known.ids for known in borne):
            return not any(ids & known.ids for known in borne)
        to_whom = [
            name
            for at, word in enumerate(claim.words[:-1])
            if word in ("to", "for") and (name := claim.words[at + 1]) in claim.names
        ]
        strangers = [
            name for name in to_whom if name not in MONTHS and name not in OTHERS and name not in _DAYS
        ]
        if strangers and all(known.is_person for known in borne):
            return not any(name in known.names for name in claim.names for known in borne)
        return False

    def _unapproved(self, claim: Claim) -> list[_Known]:
        gated = [known for known in self._known if known.step.gated or known.step.code in _UNAPPROVED]
        objects = self._objects(claim)
        about = [known for known in gated if not objects or known.objects & objects] or (
            gated if not objects else []
        )
        refused = [known for known in about if known.step.code in _UNAPPROVED or known.step.waiting]
        return refused if len(refused) == len(about) else []

    def _contradict(self, claim: Claim, unborne: Iterable[_Known]) -> None:
        for known in unborne:
            step = known.step
            if (claim.said, step.step_id) in self._said or len(self.notices) >= CORRECTIONS_MAX:
                continue
            self._said.add((claim.said, step.step_id))
            text = f"{CORRECTION_PREFIX} {_quoted(claim)} is not so: {one_line(explained(step)[1])}"
            self.notices.append(Notice(kind="correction", step_id=step.step_id, text=escaped(text)))

    def _unplanned(self, claim: Claim) -> None:
        if (claim.said, "") in self._said:
            return
        self._said.add((claim.said, ""))
        text = f"{NOT_EXECUTED_PREFIX} {_quoted(claim)}: no step of this run did that."
        self.notices.append(Notice(kind="not-executed", step_id="", text=escaped(text)))


_DAYS = frozenset(
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "today", "tomorrow"]
)


def escaped(notice: str) -> str:
    """Our own notice with foreign words in it: its own sign alone is left."""
    return notice[0] + escape_sign(notice[1:])


def _quoted(claim: Claim) -> str:
    said = one_line(claim.said[:_READ_CHARS_MAX])
    return f"“{said if len(said) <= _QUOTE_CHARS_MAX else said[:_QUOTE_CHARS_MAX].rstrip() + '…'}”"


def _is_id(word: str) -> bool:
    if word.isalpha():
        return False
    digits = sum(char.isdigit() for char in word)
    if digits < _ID_DIGITS_MIN or (len(word) == 4 and word[:2] in ("19", "20") and word.isdigit()):
        return False
    return word.lstrip("0123456789") not in UNITS or word.isdigit()


def _known(step: StepEvidence, rules: tuple[ClaimRule, ...]) -> _Known:
    name_words = _split(step.tool)
    noun_words = [word for part in (step.noun, step.instead_of) for word in _split(part)]
    kinds = _kinds([step.op] if step.op else [], rules)
    # What an op like "create" leaves open, the name says: appointment.invite.
    kinds |= _kinds(name_words, rules) | _kinds(noun_words, rules)
    if not step.effectful:
        kinds = frozenset(kinds & {rule.id for rule in rules if rule.bears == "look"})
    objects: set[str] = set()
    for word in [*name_words, *noun_words]:
        if known := _objects_of(word):
            objects |= known
        elif len(root(word)) > 3 and not any(word in rule.ops for rule in rules):
            objects.add(root(word))
    names = [word for entity in step.entities for word in _split(entity)]
    return _Known(
        step=step,
        kinds=kinds,
        objects=frozenset(objects),
        names=frozenset(w for w in names if len(w) > 1 and w not in _NO_NAMES and not _objects_of(w)),
        is_person=any(_is_persons_name(entity) for entity in step.entities),
        ids=frozenset(word for word in names if _is_id(word)),
    )


def _bears(claim: Claim) -> Bears:
    bears = {rule.bears for rule in claim.rules}
    return "any" if "any" in bears else claim.rules[0].bears


def _objects_of(word: str) -> frozenset[str]:
    """What sorts of thing a word means; empty where it means none that is listed."""
    return _OBJECTS_OF.get(word) or _OBJECTS_OF.get(root(word)) or frozenset()


def _kinds(words: Iterable[str], rules: tuple[ClaimRule, ...]) -> frozenset[str]:
    return frozenset(rule.id for word in words for rule in rules if word in rule.ops)


def _split(text: str) -> list[str]:
    spaced = "".join(
        char if char not in "._/-" or _inside_id(text, at) else " " for at, char in enumerate(text)
    )
    return [word for sentence in sentences(spaced) for word in sentence.words if word[0].isalnum()]


def _inside_id(text: str, at: int) -> bool:
    """Whether a hyphen joins an identifier: "INV-1042"."""
    return text[at] == "-" and at + 1 < len(text) and text[at + 1].isdigit()


def _is_persons_name(entity: str) -> bool:
    words = entity.split()
    return 2 <= len(words) <= 4 and all(
        word[:1].isupper() and word.replace(".", "").isalpha() for word in words
    )
