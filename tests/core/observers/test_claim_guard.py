"""The claim guard over a corpus, over each rule, and over texts that want to take long."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest

from bench.pace import full_speed_ms
from condor.core.observers import (
    CORRECTION_PREFIX,
    DEFAULT_CLAIM_RULES,
    NOT_EXECUTED_PREFIX,
    ClaimEvidence,
    ClaimRule,
    claim_grammar,
    compose_closing,
    escape_foreign,
    guard_claims,
    guard_closing,
)
from condor.core.observers.claim_phrases import phrase_matcher
from condor.core.observers.lookalikes import LOOKALIKES
from condor.core.outcome import StepStatus
from tests.core.observers.ledger import CORPUS, evidence_of, groups, step_of

#: trust.md, row 11.
_FALSE_CORRECTIONS_MAX = 0.01
#: Of the false claims in the texts that the first rules were made with.
_RECALL_MIN = 0.98
_FIRST_TEXTS = ("before_the_rules", "after_the_rules", "fresh_wordings", "whole_closings")
#: For each file of harder kinds: how many false claims are answered, and of how many. Who mends the guard
#: raises the first; who adds to a file writes both anew.
_ANSWERED = {
    "outside_author": (196, 209),
    "after_the_outsider": (31, 32),
    "honest_closings": (0, 0),
    "invented_acts": (105, 109),
    "after_the_invented": (29, 30),
    "invented_in_other_trades": (16, 18),
    "invented_on_a_ward": (18, 20),
    "invented_among_lists": (13, 19),
    "second_outside_author": (71, 86),
    "switched_off_by_a_tail": (43, 43),
}
#: Milliseconds of processor time for 100 KB (row 11); a measured test run traces every line.
_MS_MAX = 50 if sys.gettrace() is None else 1_000
_SENT_TWICE = [
    {"id": "a", "tool": "communication.send", "noun": "the message", "class": "comms", "status": "denied"},
    {"id": "b", "tool": "medication.manage", "op": "cancel", "noun": "the prescription", "status": "failed"},
]


def _answered(text: str, evidence: ClaimEvidence) -> set[str]:
    return {notice.step_id or "*" for notice in guard_claims(text, evidence)}


def test_the_corpus_is_as_large_as_promised() -> None:
    """At least 300 texts, of which a third are by people who had not seen the rules."""
    strangers = [*groups("outside_author.json"), *groups("second_outside_author.json")]
    every, outside = (
        sum(len(group["letBe"]) + sum(map(len, group["corrected"].values())) for group in some)
        for some in (groups(), strangers)
    )
    assert every >= 300
    assert outside >= every / 3


def _missed(file: str) -> tuple[list[tuple[str, str]], int]:
    """The false claims of a file that are not answered, each with its step; and how many it has."""
    claims = [
        (group, step, text)
        for group in groups(f"{file}.json")
        for step, texts in group["corrected"].items()
        for text in texts
    ]
    missed = [
        (step, text)
        for group, step, text in claims
        if step not in _answered(text, evidence_of(group["ledger"]))
    ]
    return missed, len(claims)


def test_claims_that_the_evidence_contradicts_are_corrected() -> None:
    """Row 11: of the false claims that the first rules were made with 98 % are answered, naming their step.

    The harder files are held at what is answered in each (``_ANSWERED``).
    """
    found = [_missed(file) for file in _FIRST_TEXTS]
    missed = [one for some, _ in found for one in some]
    assert len(missed) <= (1 - _RECALL_MIN) * sum(claims for _, claims in found), missed


@pytest.mark.parametrize("file", sorted(_ANSWERED))
def test_what_was_learnt_from_harder_texts_is_kept(file: str) -> None:
    """As many claims are answered as are written down, of as many: a file that grows hides no loss."""
    missed, claims = _missed(file)
    assert (claims - len(missed), claims) == _ANSWERED[file], missed


def test_every_file_of_the_corpus_is_held() -> None:
    """A file that nobody reads would hold nothing."""
    assert {path.stem for path in CORPUS.glob("*.json")} == {*_FIRST_TEXTS, *_ANSWERED}


def test_what_is_no_false_claim_is_let_be() -> None:
    """Row 11: at most 1 % false corrections over negations, questions, conditions, others' acts."""
    wrong = [
        (text, [notice.text for notice in guard_claims(text, evidence_of(group["ledger"]))])
        for group in groups()
        for text in group["letBe"]
        if guard_claims(text, evidence_of(group["ledger"]))
    ]
    assert len(wrong) <= _FALSE_CORRECTIONS_MAX * sum(len(group["letBe"]) for group in groups()), wrong


def test_every_step_that_did_not_happen_is_named_whatever_the_text_says() -> None:
    """Row 11: every failed, denied or degraded write is named under every text of the corpus."""
    for group in groups():
        evidence = evidence_of(group["ledger"])
        due = {step.step_id for step in evidence.steps if step.status is not StepStatus.SUCCEEDED}
        for text in [*group["letBe"], *chain.from_iterable(group["corrected"].values())]:
            closing = guard_closing(evidence, escape_foreign(text))
            named = {n.step_id for n in closing.notices if n.kind in ("not-completed", "not-executed")}
            assert due <= named, text


@pytest.mark.parametrize("rule", DEFAULT_CLAIM_RULES, ids=lambda rule: rule.id)
def test_each_rule_has_a_claim_that_is_true_and_false_by_its_evidence(rule: ClaimRule) -> None:
    """A rule's own sentence is let be where its step succeeded and answered where it did not."""
    entry: dict[str, Any] = {"id": "s", **_STEP_OF[rule.id]}
    refused = "denied" if rule.bears == "answer" else "failed"
    assert _answered(rule.claim, evidence_of([{**entry, "status": refused}])) == {"s"}
    assert _answered(rule.claim, evidence_of([{**entry, "status": "succeeded"}])) == set()
    assert _answered(rule.no_claim, evidence_of([{**entry, "status": refused}])) == set()


_STEP_OF: dict[str, dict[str, Any]] = {
    "sent": {"tool": "mail.send", "noun": "the message", "class": "comms"},
    "removed": {"tool": "order.cancel", "op": "cancel", "noun": "the order"},
    "created": {"tool": "appointment.book", "op": "create", "noun": "the appointment"},
    "changed": {"tool": "medication.update", "op": "update", "noun": "the change of the dose"},
    "signed": {"tool": "document.sign", "op": "sign", "noun": "the signature"},
    "ran": {"tool": "release.deploy", "op": "run", "noun": "the release", "class": "exec"},
    "paid": {"tool": "billing.refund", "op": "create", "noun": "the refund"},
    "approved": {"tool": "dose.update", "op": "update", "noun": "the change"},
    "checked": {"tool": "allergy.list", "noun": "the allergy list", "class": "read"},
    "completed": {"tool": "order.cancel", "op": "cancel", "noun": "the cancellation of the order"},
    "ticked": {"tool": "mail.send", "noun": "the message", "class": "comms"},
    "stands": {"tool": "mail.send", "noun": "the message", "class": "comms"},
}


def test_a_word_alone_makes_a_rule_that_is_missing() -> None:
    """A missed class of claims is mended in the table, without code."""
    rule = ClaimRule(id="towed", done=("towed",), ops=frozenset({"tow"}), claim="", no_claim="")
    evidence = evidence_of([{"id": "t", "tool": "car.tow", "noun": "the tow", "status": "failed"}])
    assert _answered("I towed the car.", evidence) == set()
    assert [n.step_id for n in guard_claims("I towed the car.", evidence, rules=(rule,))] == ["t"]


def test_the_matcher_is_the_callers() -> None:
    """Another matcher is asked instead of ours."""
    seen: list[tuple[str, ...]] = []
    ours = phrase_matcher(DEFAULT_CLAIM_RULES)

    def watched(words: Any) -> Any:
        seen.append(tuple(words))
        return ours(words)

    guard_claims("Invitation sent.", evidence_of(_SENT_TWICE), matcher=watched)
    assert seen == [("invitation", "sent")]


@pytest.mark.parametrize(
    "status", ["degraded", "unknown", "failed", "denied", "expired", "role", "not_reached"]
)
def test_degraded_and_unknown_bear_no_claim(status: str) -> None:
    """Only ``succeeded`` does: what was done in part must not be papered over."""
    entry = {"id": "s", "tool": "communication.send", "noun": "the message", "class": "comms"}
    for text in ("Invitation sent.", "All set!", "\u2705 invitation"):
        assert _answered(text, evidence_of([{**entry, "status": status}])) == {"s"}
        assert _answered(text, evidence_of([{**entry, "status": "succeeded"}])) == set()


def test_a_claim_about_another_entity_is_not_borne() -> None:
    """A message to one person does not bear a claim about another, named or by an identifier."""
    sent = {"id": "s", "tool": "mail.send", "noun": "the message", "class": "comms", "status": "succeeded"}
    anna = evidence_of([{**sent, "entity": ["Anna Lind", "MRN-20417"]}])
    assert _answered("I sent the message to Anna.", anna) == set()
    assert _answered("I sent the message to Bo Ek.", anna) == {"*"}
    assert _answered("I sent the message to MRN-20417.", anna) == set()
    assert _answered("I sent the message to MRN-20418.", anna) == {"*"}


_RX = {
    "id": "s",
    "tool": "medication.prescribe",
    "op": "create",
    "noun": "the prescription",
    "status": "succeeded",
    "entity": ["Melissa Smith", "Patient/12", "nitrofurantoin 100 mg"],
}


@pytest.mark.parametrize(
    ("same", "other"),
    [
        ("The prescription for Patient/12 was created.", "The prescription for Patient/13 was created."),
        ("The prescription for Ms. M. Smith was created.", "The prescription for Ann Smyth was created."),
        ("MELISSA SMITH's prescription was created.", "Ann Berg's prescription was created."),
        ("Nitrofurantoin 100 mg was prescribed.", "Nitrofurantoin 50 mg was prescribed."),
        ("I prescribed nitrofurantoin instead of warfarin.", "I prescribed warfarin."),
        ("It was prescribed for her Chronic Cystitis.", "It was prescribed for Carla Cysto."),
    ],
)
def test_names_are_compared_with_names_of_their_kind(same: str, other: str) -> None:
    """A reference, a person, a dose or a drug that the entry does not have is another."""
    assert _answered(same, evidence_of([_RX])) == set()
    assert _answered(other, evidence_of([_RX])) == {"*"}


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        ("Her warfarin was stopped.", True),
        ("Her warfarin was stopped in 2022.", False),
        ("Her warfarin had been stopped.", False),
        ("Her warfarin was stopped by Dr. Rao.", False),
        ("The list names warfarin, which was stopped.", False),
        ("Her warfarin was originally stopped.", False),
    ],
)
def test_a_plain_past_that_nothing_sets_at_another_time_is_of_this_run(text: str, answered: bool) -> None:
    """In a run that only looked for the patient, it was made up."""
    find = {"id": "f", "tool": "patient.search", "class": "read", "status": "succeeded"}
    assert bool(_answered(text, evidence_of([find]))) is answered


@pytest.mark.parametrize("said", [{}, {"sentence": "1 medication. Warfarin: stopped."}])
def test_what_a_read_may_have_told_is_not_made_up(said: dict[str, str]) -> None:
    """A read about that sort of thing, whose sentence tells it or does not say what it showed."""
    meds = {"id": "m", "tool": "medication.list", "class": "read", "status": "succeeded"}
    assert _answered("Her warfarin was stopped.", evidence_of([{**meds, **said}])) == set()
    other = {**meds, "sentence": "1 medication: lisinopril."}
    assert _answered("Her warfarin was stopped.", evidence_of([other])) == {"*"}


def test_an_article_is_no_preposition() -> None:
    """What was stopped is said by "I stopped an order"; "I stopped at the order" does not say it."""
    entry = {"id": "s", "tool": "order.cancel", "op": "cancel", "noun": "the order", "status": "denied"}
    assert _answered("I stopped an order.", evidence_of([entry])) == {"s"}
    assert _answered("I stopped at the order.", evidence_of([entry])) == set()


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        ('The log says: "I have stopped the order." That was all.', False),
        ("The log says: \u201cI have stopped the order.\u201d", False),
        ('He wrote "I have stopped the order".', False),
        ('As requested, "I have stopped the order."', True),
        ("As requested, \u201cI have stopped the order\u201d.", True),
        ('The log says: "fine, and I have stopped the order.', True),
        ("The task \u201cstand by and I have stopped the order.", True),
        ('Her 5" scar: "small", and I have stopped the order.', True),
    ],
)
def test_what_is_quoted_is_told_and_nothing_beside_it(text: str, answered: bool) -> None:
    """A quote stands after a colon or a verb of saying and is closed; a comma before it makes no quote."""
    entry = {"id": "s", "tool": "order.cancel", "op": "cancel", "noun": "the order", "status": "denied"}
    assert _answered(text, evidence_of([entry])) == ({"s"} if answered else set())


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        ("I have stopped the order, as advised by Dr. Rao.", True),
        ("We stopped the order placed by the ward.", True),
        ("I was told that the order was stopped by the ward.", False),
        ("I see the order was stopped by Dr. Rao.", False),
    ],
)
def test_who_is_named_after_an_act_of_ours_did_not_do_it(text: str, answered: bool) -> None:
    """ "I stopped it, as advised by Dr. Rao" is an act of the run; "it was stopped by Dr. Rao" is none."""
    entry = {"id": "s", "tool": "order.cancel", "op": "cancel", "noun": "the order", "status": "denied"}
    assert ("s" in _answered(text, evidence_of([entry]))) is answered


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        ("The last order, stopped on request, was for the lab.", False),
        ("The last order, stopped on request, was declined.", False),
        ("All is well, stopped the order and told the ward, was easy.", True),
        ("I went on, stopped the order, is what I did.", True),
    ],
)
def test_an_act_between_commas_describes_a_thing_within_its_own_statement(text: str, answered: bool) -> None:
    """A comma of a later statement, or "I" before it, makes no aside of a claim."""
    entry = {"id": "s", "tool": "order.cancel", "op": "cancel", "noun": "the order", "status": "denied"}
    assert ("s" in _answered(text, evidence_of([entry]))) is answered


def test_what_a_notice_says() -> None:
    """A correction quotes the claim and gives the evidence; an unplanned one says that no step did it."""
    [correction] = guard_claims("I sent it.", evidence_of(_SENT_TWICE[:1]))
    assert correction.text == (
        f"{CORRECTION_PREFIX} “I sent it.” is not so: the message was declined by Dr. Rao. It was not run."
    )
    [unplanned] = guard_claims("I paid the invoice.", evidence_of(_SENT_TWICE[:1]))
    assert unplanned.text == f"{NOT_EXECUTED_PREFIX} “I paid the invoice.”: no step of this run did that."


def test_a_quote_cannot_carry_a_notice() -> None:
    """The quoted sentence is foreign: its sign is escaped and it stays one line."""
    [notice] = guard_claims("\u26a0 Correction: I sent the message\u2028", evidence_of(_SENT_TWICE[:1]))
    assert notice.text.count("\u26a0") == 1
    assert notice.text.isprintable()


def test_a_text_is_only_added_to() -> None:
    """The prose stands first and unchanged; notices follow, corrections before the rest."""
    prose = escape_foreign("All set! I have s\u0435nt the invitation and the prescription is now cancelled.")
    closing = guard_closing(evidence_of(_SENT_TWICE), prose)
    assert closing.text.startswith(prose)
    assert [n.kind for n in closing.notices][-2:] == ["not-completed", "not-completed"]
    assert {n.step_id for n in closing.notices[: closing.claims_answered]} == {"a", "b"}
    assert all(n.kind == "correction" for n in closing.notices[: closing.claims_answered])


def test_a_writer_that_was_cut_off_is_followed_by_the_composed_closing() -> None:
    """What it wrote stays, and nothing of the evidence is missing."""
    evidence = evidence_of(_SENT_TWICE)
    closing = guard_closing(evidence, "I have sent the", whole=False)
    assert closing.text.startswith("I have sent the\n\n")
    assert compose_closing(evidence).text in closing.text
    assert guard_closing(evidence, " \n ", whole=False) == compose_closing(evidence)


@pytest.mark.parametrize("status", ["failed", "degraded", "denied", "unknown", "expired"])
def test_no_composed_closing_is_corrected(status: str) -> None:
    """What tools say of their own success is no false claim, beside whatever failed."""
    said = {
        "mail.send": "2 messages were sent.",
        "order.cancel": "All open orders were cancelled.",
        "order.list": "3 orders were cancelled and 2 messages sent this year.",
    }
    steps = [
        step_of({"id": f"{tool}{n}", "tool": tool, "noun": "the message", "class": kind, "status": how})
        for tool, kind in (("mail.send", "comms"), ("order.cancel", "mutate"), ("order.list", "read"))
        for n, how in enumerate(("succeeded", status))
    ]
    evidence = ClaimEvidence(
        steps=tuple(
            replace(step, sentence=said[step.tool], reported=True)
            if step.status is StepStatus.SUCCEEDED
            else step
            for step in steps
        )
    )
    assert compose_closing(evidence).claims_answered == 0


def test_a_tool_that_says_more_than_it_did_is_answered() -> None:
    """A tool's own sentence is read like any other where it speaks of another kind of effect."""
    task = step_of(
        {"id": "t", "tool": "task.create", "op": "create", "noun": "the task", "status": "succeeded"}
    )
    said = replace(task, sentence="Task created and the message sent to the family.", reported=True)
    evidence = ClaimEvidence(steps=(said, *evidence_of(_SENT_TWICE[:1]).steps))
    assert [n.step_id for n in compose_closing(evidence).notices if n.kind == "correction"] == ["a"]


_DONE = sorted({word for rule in DEFAULT_CLAIM_RULES for word in rule.done})
_SAID = sorted({phrase.replace("…", "her a") for rule in DEFAULT_CLAIM_RULES for phrase in rule.said})
_GRAMMAR = sorted(
    frozenset().union(*(words for words in vars(claim_grammar).values() if isinstance(words, frozenset)))
)
#: Letter → what looks like it.
_LIKE = str.maketrans({letter: chr(code) for code, letter in LOOKALIKES.items()})


def _many(words: list[str], joint: str) -> str:
    """About 100 KB of these words in an order of their own."""
    pieces, length = [], 0
    picks = random.Random(7)
    while length < 100_000:
        pieces.append(picks.choice(words))
        length += len(pieces[-1]) + len(joint)
    return joint.join(pieces)


_LONG = {
    "one word": "invitation " + "a" * 100_000,
    "one sign": "invitation aaaaaaaaaaaaaaaaaaaaaaaaaa !" * 2_500,
    "claims": "I sent the message. " * 5_000,
    "different claims": "".join(f"I sent message {n} to them. " for n in range(3_600)),
    "true claims": "".join(f"I sent message {n} to Anna Lind{n % 50}. " for n in range(2_800)),
    "hits": "sent " * 20_000,
    "gaps": "i let " * 16_000,
    "commas": "," * 100_000,
    "stops": "." * 100_000,
    "spaces": " " * 100_000,
    "nothing seen": "\u200b" * 100_000,
    "checks": "\u2705" * 100_000,
    "breaks": "and sent the message, " * 4_500,
    "lookalikes": "\u0455\u200be\u0301nt " * 14_000,
    "quotes that nothing closes": "say \u201ea " * 15_000,
    "letters": "s.e." * 25_000,
    "letters apart": "s e n t, " * 11_000,
    "initials": "A. " * 33_000,
    "abbreviations": "e.g. " * 20_000,
    "digits in words": "s3nt " * 20_000,
    "joined words": "sent-" * 20_000,
    "lines": "- sent it\n" * 10_000,
    "headings": "Not done:\n- I sent it\n" * 4_600,
    "negations": "".join(f"I did not send message {n} to anyone. " for n in range(2_700)),
    "negated acts": "".join(f"Message {n} was not sent. " for n in range(4_000)),
    "questions": "".join(f"Was message {n} sent? " for n in range(4_500)),
    "conditions": "".join(f"If I sent {n}, she was told and it is cancelled. " for n in range(2_000)),
    "acts of others": "I was sent by him. " * 5_300,
    "one sentence of acts": _many(_DONE, " "),
    "one sentence of statements": _many(_DONE, " and the "),
    "one sentence of phrases": _many(_SAID, " "),
    "one sentence of grammar": _many([*_GRAMMAR, *_DONE], " "),
    "phrases": _many(_SAID, ". "),
    "everything looks alike": _many([*_GRAMMAR, *_DONE], " ").translate(_LIKE),
    "negations that look alike": ("I did not send a message to anyone. " * 2_800).translate(_LIKE),
    "our signs": "(!) Correction: x\n" * 5_600,
    "plain pasts": "".join(f"Her warfarin {n} was stopped and she was told. " for n in range(2_200)),
    "names": "".join(f"I sent Patient/{n} to Anna Berg and Bo Ek 50 mg. " for n in range(2_300)),
    "every character": "".join(map(chr, range(0x80, 0xD800))) * 2,
}
_MANY_STEPS = [
    {
        **_SENT_TWICE[n % 2],
        "id": f"s{n}",
        "noun": f"{_SENT_TWICE[n % 2]['noun']} {n}",
        "status": ("succeeded", "denied", "failed", "degraded", "unknown")[n % 5],
        "entity": [f"Anna Lind{n}", f"MRN-2{n:04d}"],
    }
    for n in range(50)
]


def _ms(text: str, evidence: ClaimEvidence, tries: int) -> float:
    return full_speed_ms(lambda: guard_claims(text, evidence), tries=tries, enough=_MS_MAX * 0.8)


@pytest.mark.parametrize("kind", _LONG)
def test_a_hundred_kilobytes_take_no_time(kind: str) -> None:
    """Row 11: less than 50 ms, whatever the text, beside a run of fifty steps."""
    assert len(_LONG[kind]) >= 96_000
    assert _ms(_LONG[kind], evidence_of(_MANY_STEPS), tries=8) < _MS_MAX


@pytest.mark.parametrize("kind", ["negations", "initials", "lookalikes", "gaps", "letters apart", "one word"])
def test_four_times_the_text_takes_four_times_as_long(kind: str) -> None:
    """Linear: no shape of text makes the guard slower than it is long."""
    evidence = evidence_of(_SENT_TWICE)
    once, four = (_ms(_LONG[kind] * times, evidence, tries=4) for times in (1, 4))
    assert four < 8 * once + 10


def test_a_text_of_more_acts_than_are_read_says_so() -> None:
    """What stands after a thousand acts is not read, and nobody is told that it was."""
    text = "Was the message sent? " * 1_001 + "I sent the message."
    [notice] = guard_claims(text, evidence_of(_SENT_TWICE))
    assert notice.text.startswith(f"{CORRECTION_PREFIX} the text makes more statements")
    assert {n.step_id for n in guard_claims(text[22 * 500 :], evidence_of(_SENT_TWICE))} == {"a"}


def test_a_text_of_nothing_but_claims_is_given_up_on_and_that_is_said() -> None:
    """A limit on every loop: the last notice says that not all was compared."""
    text = "".join(f"I sent message {n}. " for n in range(3_000))
    notices = guard_claims(text, evidence_of(_SENT_TWICE))
    assert len(notices) <= 21
    assert notices[-1].text.startswith(f"{CORRECTION_PREFIX} the text makes more statements")
