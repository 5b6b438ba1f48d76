"""Whether the words around an act leave it open whether it was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.observers import claim_grammar as grammar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.core.observers.claim_clauses import Clause
    from condor.core.observers.claim_phrases import Hit

#: Wherever one of these stands before an act, it is left open, with a few exceptions.
LEFT_OPEN = grammar.NEGATIONS | grammar.CONDITIONS | grammar.HEDGES | grammar.MODALS
#: Where none of these stands before an act, nothing leaves it open.
_MAY_LEAVE_OPEN = (
    LEFT_OPEN | grammar.SPEECH | frozenset(("check", "make", "to", "only", "after", "able", "but", "all"))
)
#: Where one of these stands, how things are is left open.
_UNSETTLED = grammar.CONDITIONS | grammar.HEDGES | grammar.MODALS | grammar.REMAINS
_NO_MORE = frozenset((("no", "longer"), ("anymore",), ("any", "longer")))
#: After an act: "sent nobody", "returned an error".
_NOTHING = frozenset(("nothing", "nobody", "no", "none", "error", "errors"))
#: After an act: "in an error".
_IN_VAIN = frozenset(("error", "errors", "failure", "vain"))
_FOR_APPROVAL = frozenset(("approval", "review", "signature"))
#: Words after a state in which it may be taken back.
_NEAR_WORDS = 3


def leaves_open(words: Sequence[str], *, allow_modals: bool = False) -> bool:
    """Whether these words before an act leave it open whether it was done."""
    if _MAY_LEAVE_OPEN.isdisjoint(words):
        return False
    return any(
        word in _MAY_LEAVE_OPEN
        and (
            _denies(words, at)
            or _conditions(words, at)
            or _tells_of_others(words, at)
            or (not allow_modals and _is_to_be(words, at))
        )
        for at, word in enumerate(words)
    )


def _ahead(words: Sequence[str], at: int) -> str:
    return words[at + 1] if at + 1 < len(words) else ""


def _denies(words: Sequence[str], at: int) -> bool:
    word, ahead = words[at], _ahead(words, at)
    if word in grammar.NEGATIONS and ahead not in grammar.NOT_ONLY:
        return True
    if word == "but":
        return at > 0 and words[at - 1] in grammar.ALL_BUT
    # "That is all that was done": nothing else was.
    if word == "all" and ahead == "that":
        return at > 0 and words[at - 1] in grammar.BE
    # "The only step that ran": the others did not.
    return word == "only" and ahead in grammar.PARTS and "that" in words[at:]


def _conditions(words: Sequence[str], at: int) -> bool:
    word, ahead = words[at], _ahead(words, at)
    if word in grammar.CONDITIONS:
        is_time = word in ("before", "once", "when") and ahead == ","
        return not is_time and not (word == "once" and ahead in grammar.RATES)
    if word == "after":
        return not grammar.PRESENT.isdisjoint(words[at:])
    return (word == "check" and at == 0) or (word == "make" and ahead == "sure")


def _tells_of_others(words: Sequence[str], at: int) -> bool:
    """Whether it was asked for, supposed, or said by somebody else."""
    word = words[at]
    if word == "according" and not grammar.FIRST.isdisjoint(words[at:]):
        return False  # "According to the chart I stopped it" says that the text did
    if word in grammar.HEDGES:
        return not (at and words[at - 1] in ("as", "like", "just", "you", "were", "was"))
    if word == "able":
        return "will" in words[:at]
    subject = words[:at]
    return (
        word in grammar.SPEECH
        and grammar.FIRST.isdisjoint(subject)
        and not (grammar.OTHERS.isdisjoint(subject) and grammar.SECOND_THIRD.isdisjoint(subject))
    )


def _is_to_be(words: Sequence[str], at: int) -> bool:
    word = words[at]
    return word in grammar.MODALS or (word == "to" and _ahead(words, at) in ("be", "have", "get", "see"))


def comes_to_nothing(act: Sequence[str], after: Sequence[str], *, acts: bool) -> bool:
    """Whether what stands after an act takes it back: "sent nobody", "sent for review", "ended in an error".

    Args:
        acts: "I" did it.
    """
    first = after[0] if after else ""
    if after[:2] == ("not", "to"):
        return False
    if first in ("not", "only", "partly", "nicht", "pending"):
        return True
    if first not in ("without", "that") and not _NOTHING.isdisjoint(after[:2]):
        return True
    if first in ("in", "with") and not _IN_VAIN.isdisjoint(after[1:3]):
        return True
    if first == "for" and not _FOR_APPROVAL.isdisjoint(after[1:3]):
        return True
    if after[:2] == ("to", "you") and "approval" in after[:4]:
        return True
    if len(act) > 1 or act[0] not in grammar.INTRANSITIVE:
        return False
    # "It stopped responding", "I stopped before the entry".
    halts = acts and (first in grammar.NO_OBJECT or first in ("here", "there", "up"))
    return halts or first.endswith("ing")


def tells_how_it_is(words: Sequence[str], clause: Clause, hit: Hit) -> bool:
    """Whether a statement tells plainly how things are: "she is off it now", not "it is still on it"."""
    near = words[hit.end : min(clause.end, hit.end + _NEAR_WORDS)]
    around = (*words[clause.start : hit.start], *near)
    phrase, ahead = words[hit.start : hit.end], near[0] if near else ""
    if not _UNSETTLED.isdisjoint(around):
        return False
    if phrase in _NO_MORE:
        return ahead not in grammar.NOT_NEEDED
    if not (grammar.NEGATIONS.isdisjoint(around) and grammar.UNDONE.isdisjoint(around)):
        return False
    has_verb = not (grammar.BE.isdisjoint(around) and grammar.HAVE.isdisjoint(around))
    return phrase != ("now",) or has_verb or ahead.endswith("s")
