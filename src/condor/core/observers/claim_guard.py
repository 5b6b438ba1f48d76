"""The claim guard: what a text claims, compared with what the run can prove. It only adds.

Law 1: a claim needs a ``succeeded`` entry of the run's own evidence, of its kind and on the same entity;
``degraded`` does not bear it.
Law 2: what did not happen is named by the closing's notices whatever the text says (``closing``); a rule can
only add a correction, so that a claim that no rule knows hides nothing.
Law 3: linear time; the text is never changed.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from condor.core.observers import claim_grammar as grammar
from condor.core.observers.claim_elsewhere import is_elsewhere
from condor.core.observers.claim_invented import is_made_up, is_not_read, speaks_of_changes
from condor.core.observers.claim_known import (
    OBJECTS_OF,
    Known,
    kinds_of,
    known_of,
    objects_of,
    own_rules,
)
from condor.core.observers.claim_likeness import is_like
from condor.core.observers.claim_phrases import Matcher, both, phrase_matcher
from condor.core.observers.claim_rules import DEFAULT_CLAIM_RULES, Bears, ClaimRule
from condor.core.observers.claim_things import IMPLIED
from condor.core.observers.claim_words import root
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from condor.core.observers.claim_evidence import ClaimEvidence

#: Corrections of one text; who claims more is not read for more.
CORRECTIONS_MAX = 20
#: Claims compared in one text: many more than any closing makes.
CLAIMS_MAX = 200
#: Characters of a quoted sentence.
_QUOTE_CHARS_MAX = 160
#: Characters of it that are read for those: white space takes some.
_READ_CHARS_MAX = 4 * _QUOTE_CHARS_MAX
#: Ends of a step that say that no person approved it.
_UNAPPROVED = frozenset({"denied", "denied_before", "expired"})


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
    own = own_rules(evidence.steps, rules)
    guard = _Guard(evidence, (*rules, *own), author)
    find = both(matcher or phrase_matcher(rules), phrase_matcher(own)) if own else matcher
    for number, claim in enumerate(read_claims(text, find or phrase_matcher(rules))):
        if claim is None or number >= CLAIMS_MAX or len(guard.notices) >= CORRECTIONS_MAX:
            guard.give_up()
            break
        guard.compare(claim)
    return tuple(guard.notices)


class _Guard:
    """One text beside one run."""

    def __init__(self, evidence: ClaimEvidence, rules: tuple[ClaimRule, ...], author: str) -> None:
        self._known = [known_of(step, rules) for step in evidence.steps]
        self._rules = rules
        self._author = next((known for known in self._known if author and known.step.step_id == author), None)
        #: Words by which the entries cannot be told apart: the patient of all of them.
        self._shared = frozenset(
            word for word, times in Counter(chain(*(k.persons for k in self._known))).items() if times > 1
        )
        self._owns = {known.step.step_id: known.names - self._shared for known in self._known}
        self._words = frozenset().union(*(known.words | known.names for known in self._known))
        self._vocabulary = frozenset(word for known in self._known for word in known.objects)
        #: What sorts of thing the last statement named.
        self._objects_said: dict[tuple[str, ...], frozenset[str]] = {}
        #: Steps of which the text has told already.
        self._told: set[str] = set()
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
            if speaks_of_changes(claim) and not self._effects():
                self._unplanned(claim)
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

    def _may_be_false(self, claim: Claim, author: Known) -> bool:
        """Whether a tool's own sentence says more than its own success bears."""
        if not author.step.effectful:
            return claim.first_person and _bears(claim) == "effect"
        of_its_kind = any(rule.id in author.kinds or rule.bears != "effect" for rule in claim.rules)
        return bool(author.kinds) and not of_its_kind

    def _effects(self) -> list[Known]:
        return [known for known in self._known if known.step.effectful]

    def _effect(self, claim: Claim) -> None:
        kinds = self._kinds(claim) if _bears(claim) == "any" else frozenset()
        if self._is_of_no_effect(claim, kinds):
            return
        if claim.strong and _bears(claim) == "effect" and self._is_foreign(claim):
            self._unplanned(claim)
            return
        candidates = self._about(claim, kinds)
        unborne = self._unborne(claim, candidates)
        if unborne is None:
            if not self._is_elsewhere(claim, candidates):
                self._told |= self._told_of(claim, candidates)
            elif claim.strong or is_not_read(claim, self._reads()):
                self._unplanned(claim)
            return
        if not unborne and not candidates and (claim.strong or claim.plain_past):
            # Another verb for what was to happen to the same thing: "the referral was sent".
            same = [known for known in self._effects() if known.objects & self._objects(claim)]
            if any(known.succeeded and is_like(claim, known) for known in same):
                return
            unborne = [] if any(known.succeeded for known in same) else same
        if unborne:
            self._contradict(claim, unborne)
        elif (_bears(claim) == "effect" and claim.strong) or is_made_up(claim, self._reads()):
            self._unplanned(claim)

    def _is_open(self, claim: Claim) -> bool:
        """Whether it says that nobody heard how a step went, and nobody did."""
        return claim.unconfirmed and any(
            known.step.status is StepStatus.UNKNOWN
            and (self._names_it(claim, known) or not known.words.isdisjoint(map(root, claim.thing)))
            for known in self._effects()
        )

    @staticmethod
    def _is_elsewhere(claim: Claim, candidates: Sequence[Known]) -> bool:
        borne = [known for known in candidates if known.succeeded]
        return bool(borne) and (claim.strong or claim.plain_past) and is_elsewhere(claim, borne)

    def _reads(self) -> list[Known]:
        return [known for known in self._known if not known.step.effectful and known.succeeded]

    def _is_of_no_effect(self, claim: Claim, kinds: frozenset[str]) -> bool:
        """Whether it names nothing that an effect was for, or is about a read."""
        if _bears(claim) == "any" and not (kinds or self._objects(claim) or self._mentions(claim)):
            return True
        if not kinds and self._is_of_a_read(claim):
            return True
        return claim.rules[0].stands and not any(self._names_it(claim, known) for known in self._effects())

    def _kinds(self, claim: Claim) -> frozenset[str]:
        """The kinds of effect that its nouns name: "the cancellation went through"."""
        effects = tuple(rule for rule in self._rules if rule.bears == "effect")
        rest = (word for word in claim.words if word not in claim.phrase)
        return kinds_of(rest, effects) or kinds_of(claim.phrase, effects)

    def _told_of(self, claim: Claim, candidates: Sequence[Known]) -> set[str]:
        """The steps that a borne claim tells of: those that it names, or the only one that bears it."""
        bearing = [known for known in candidates if known.succeeded]
        named = self._named(bearing, _spoken(claim)) or (bearing if len(bearing) == 1 else [])
        return {known.step.step_id for known in named}

    def _is_foreign(self, claim: Claim) -> bool:
        """Whether it names a new thing, and one that no step of the run has to do with.

        "The blood thinner" is one that was spoken of; "a copy", "transport" and "also the dose" are new. "An
        antibiotic" may be what a step prescribed, until the text has told of that.
        """
        if not claim.by_verb or any(rule.id == "sent" for rule in claim.rules):
            return False
        ids = frozenset(rule.id for rule in claim.rules)
        done = [known for known in self._effects() if known.succeeded and known.kinds & ids]
        if _ADDS.isdisjoint(claim.words) and not all(known.step.step_id in self._told for known in done):
            return False
        first = next((word for word in claim.thing if word not in _BESIDES), "")
        if not _DEFINITE.isdisjoint((first, *claim.thing[:1])) and _ADDS.isdisjoint(claim.words):
            return False
        words = [root(word) for word in claim.thing if _is_content(word) and word not in claim.names]
        return bool(words) and self._words.isdisjoint(words)

    def _is_of_a_read(self, claim: Claim) -> bool:
        """Whether it says that a read of the run is done: "Lab search: done"."""
        looks = tuple(rule for rule in self._rules if rule.bears == "look")
        if not kinds_of(claim.thing, looks):
            return False
        return any(not known.step.effectful and self._names_it(claim, known) for known in self._known)

    def _mentions(self, claim: Claim) -> bool:
        spoken = _spoken(claim)
        return any(not known.names.isdisjoint(spoken) for known in self._effects())

    def _about(self, claim: Claim, kinds: frozenset[str] = frozenset()) -> list[Known]:
        """Entries of the claim's kind: those that it names, else those of the sort of thing that it names."""
        ids = kinds or frozenset(rule.id for rule in claim.rules)
        every = _bears(claim) == "any" and not kinds
        of_kind = [known for known in self._known if known.kinds & ids or (every and known.step.effectful)]
        of_none = [known for known in self._effects() if not known.kinds] if not every else []
        spoken = _spoken(claim)
        implied = frozenset(IMPLIED[word] for word in claim.phrase if word in IMPLIED)
        things = (implied, self._objects(claim))
        if named := self._named(of_kind, spoken):
            return [known for known in named if known.objects & implied] or named
        for objects in things:
            if same := [known for known in of_kind if known.objects & objects]:
                return same
        if same := [known for known in of_kind if known.of_objects & self._objects(claim)]:
            return same
        of_thing = self._named(self._effects(), _with_roots(claim.thing))
        if of_thing and not claim.dated and not any(known.succeeded for known in of_thing):
            return of_thing
        if named := self._named(of_none, spoken):
            return named
        pool = of_kind or of_none
        if not of_kind:
            for objects in things:
                if same := [known for known in of_none if known.objects & objects]:
                    return same
        return [known for known in pool if not known.objects] if self._objects(claim) else pool

    def _named(self, pool: Sequence[Known], spoken: frozenset[str]) -> list[Known]:
        return [known for known in pool if not self._own(known).isdisjoint(spoken)]

    def _own(self, known: Known) -> frozenset[str]:
        """What names this entry and not the whole run."""
        return self._owns[known.step.step_id]

    def _objects(self, claim: Claim) -> frozenset[str]:
        if (kept := self._objects_said.get(claim.words)) is not None:
            return kept
        found: set[str] = set()
        for word in claim.words:
            if objects := objects_of(word):
                found |= objects
            elif root(word) in self._vocabulary:
                found.add(root(word))
        self._objects_said = {claim.words: frozenset(found)}
        return self._objects_said[claim.words]

    def _names_it(self, claim: Claim, known: Known) -> bool:
        return not (
            self._objects(claim).isdisjoint(known.objects) and self._own(known).isdisjoint(_spoken(claim))
        )

    def _unborne(self, claim: Claim, candidates: Sequence[Known]) -> list[Known] | None:
        """Entries that should bear the claim and do not; None: it is borne; empty: there are none."""
        if not candidates:
            return []
        shared = frozenset.intersection(*(known.names for known in candidates))
        spoken = _spoken(claim)
        mentioned = frozenset().union(*(known.names & spoken for known in candidates)) - shared
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
            return None
        return list(candidates)

    @staticmethod
    def _speaks_of_all(claim: Claim) -> bool:
        if any(word in ("some", "most", "one", "few", "a", "an") for word in claim.words):
            return False
        return claim.plural or any(
            root(word) != word and root(word) in OBJECTS_OF and word not in OBJECTS_OF for word in claim.words
        )

    def _unapproved(self, claim: Claim) -> list[Known]:
        gated = [known for known in self._known if known.step.gated or known.step.code in _UNAPPROVED]
        objects = self._objects(claim)
        about = [known for known in gated if not objects or known.objects & objects] or (
            gated if not objects else []
        )
        refused = [known for known in about if known.step.code in _UNAPPROVED or known.step.waiting]
        return refused if len(refused) == len(about) else []

    def _contradict(self, claim: Claim, unborne: Iterable[Known]) -> None:
        for known in unborne:
            step = known.step
            if claim.unconfirmed and step.status is StepStatus.UNKNOWN:
                continue
            if (claim.said, step.step_id) in self._said or len(self.notices) >= CORRECTIONS_MAX:
                continue
            self._said.add((claim.said, step.step_id))
            text = f"{CORRECTION_PREFIX} {_quoted(claim)} is not so: {one_line(explained(step)[1])}"
            self.notices.append(Notice(kind="correction", step_id=step.step_id, text=escaped(text)))

    def _unplanned(self, claim: Claim) -> None:
        if claim.sourced or self._is_open(claim) or (claim.said, "") in self._said:
            return
        self._said.add((claim.said, ""))
        text = f"{NOT_EXECUTED_PREFIX} {_quoted(claim)}: no step of this run did that."
        self.notices.append(Notice(kind="not-executed", step_id="", text=escaped(text)))


_NO_CONTENT = (
    grammar.GENERIC
    | grammar.ADVERBS
    | grammar.DETERMINERS
    | grammar.OTHERS
    | grammar.SECOND_THIRD
    | grammar.BE
    | grammar.HAVE
    | grammar.PREPOSITIONS
    | grammar.MONTHS
    | grammar.LAST_WHAT
    | grammar.STATES
    | grammar.OBJECT_PRONOUNS
)
_BESIDES = grammar.ADVERBS | frozenset(("in", "addition", ",", "and"))
_DEFINITE = frozenset(
    ("the", "her", "his", "their", "your", "my", "our", "its", "this", "that", "these", "both", "all")
)
_ADDS = frozenset(("also", "too", "additionally", "addition", "another", "well"))


def escaped(notice: str) -> str:
    """Our own notice with foreign words in it: its own sign alone is left."""
    return notice[0] + escape_sign(notice[1:])


def _is_content(word: str) -> bool:
    return word.isalpha() and len(word) > 3 and word not in _NO_CONTENT


def _quoted(claim: Claim) -> str:
    said = one_line(claim.said[:_READ_CHARS_MAX])
    return f"“{said if len(said) <= _QUOTE_CHARS_MAX else said[:_QUOTE_CHARS_MAX].rstrip() + '…'}”"


def _spoken(claim: Claim) -> frozenset[str]:
    """The words of a claim, also as one of what they mean many of."""
    return _with_roots(claim.words)


@lru_cache(maxsize=2)
def _with_roots(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(words).union(map(root, words))


def _bears(claim: Claim) -> Bears:
    bears = {rule.bears for rule in claim.rules}
    return "any" if "any" in bears else claim.rules[0].bears
