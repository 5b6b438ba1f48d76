"""What is drawn is whole: cards, differences, times."""

from __future__ import annotations

import datetime
import io
import unicodedata
from typing import Any

import pytest
from rich.console import Console

from condor.cli.card import approvers_in_words, suspend_card, who_may_answer
from condor.cli.moments import until
from condor.cli.record_diff import diff_lines
from tests.cli.shop_pack.shop_pack import NASTY
from tests.cli.support import Done

LONG = "word " * 80 + "end"
CARD: dict[str, Any] = {
    "kind": "approval",
    "reasonCode": "approval",
    "origin": "tool_policy",
    "suspendId": "sus_abc",
    "stepId": "s1",
    "contractHash": "sha256:0123456789abcdef0123",
    "toolName": "shop.refund",
    "op": "d\u0435lete",
    "headline": f"Refund {NASTY}",
    "toolInput": {"order": NASTY, "note": LONG, "lines": [{"sku": "x" * 150}]},
    "evidence": {
        "subject": {"reference": "Order/1", "text": f"order {NASTY}"},
        "summary": f"12 EUR {NASTY}",
        "before": {"state": "paid"},
        "after": {"state": f"refunded {NASTY}"},
        "alerts": [
            {"id": "i", "severity": "info", "summary": "an info", "source": "crm"},
            {"id": "w", "severity": "warning", "summary": "a warning", "source": "bank"},
            {
                "id": "c",
                "severity": "critical",
                "summary": f"a critical {NASTY}",
                "action": "call",
                "source": "x",
            },
            {"id": "?", "severity": "dire", "summary": "an unknown one"},
        ],
        "context": [{"label": f"Label {NASTY}", "text": NASTY}],
    },
    "policy": {
        "policyClass": "mutate",
        "hitlTier": "low",
        "effectiveTier": "high",
        "promotions": ["destructive-op"],
        "ruleId": "mutate.high-tier-always-approval",
    },
    "expiresAt": "2026-11-30T10:00:00.000Z",
    "answerers": {"roles": ["manager"], "anybody": False},
    "requester": "mia",
    "status": "pending",
}


def drawn(card: dict[str, Any], columns: int, plan_says: str = "") -> str:
    """The card as text."""
    file = io.StringIO()
    console = Console(file=file, width=columns, markup=False, emoji=False, highlight=False)
    console.print(suspend_card(card, columns=columns, plan_says=plan_says))
    return file.getvalue()


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_a_card_shows_everything(columns: int) -> None:
    """At any width nothing is shortened: order, every argument, alerts, rule, people, expiry."""
    text = Done(code=0, out=drawn(CARD, columns)).words
    joined = text.replace(" ", "")
    for wanted in (
        LONG,
        "x" * 150,
        "call",
        "bank",
        "crm",
        "- paid",
        "+ refunded",
        "destructive-op",
        "a manager",
    ):
        assert wanted.replace(" ", "") in joined
    for wanted in (
        "mutate.high-tier-always-approval",
        "declared low",
        "0123456789abcdef",
        "2026-11-30 10:00:00",
    ):
        assert wanted.replace(" ", "") in joined
    assert max(map(len, drawn(CARD, columns).splitlines())) <= columns


def test_alerts_are_drawn_worst_first() -> None:
    """Critical comes first, and a severity that nobody knows counts as critical."""
    text = drawn(CARD, 100)
    order = [text.index(word) for word in ("a critical", "an unknown one", "a warning", "an info")]
    assert order == sorted(order)


def test_nothing_hidden_reaches_the_terminal() -> None:
    """Foreign text in any part of a card is escaped, and a look-alike in an op is named."""
    text = drawn(CARD, 100, plan_says=NASTY)
    assert not [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs")]
    assert "<U+202E>" in text
    assert "d<U+0435>lete" in text


def test_the_plans_words_stand_apart() -> None:
    """A planned approval's title is no headline of ours."""
    card = CARD | {
        "origin": "planned_approval",
        "headline": "APPROVED ALREADY",
        "message": "just click",
        "toolInput": {},
    }
    lines = drawn(card, 100).splitlines()
    own = next(index for index, line in enumerate(lines) if "The plan's own words" in line)
    assert "The plan asks for an approval" in lines[1]
    assert all("APPROVED ALREADY" not in line for line in lines[:own])
    assert "APPROVED ALREADY" in lines[own + 1]


def test_who_approves_is_said_in_words() -> None:
    """Nobody is never said as anybody."""
    assert approvers_in_words({"roles": [], "anybody": True}) == "anybody signed in"
    assert approvers_in_words({"roles": [], "anybody": False}) == "nobody"
    assert approvers_in_words({"roles": ["doctor", "nurse"], "anybody": False}) == "doctor or nurse"


def test_who_may_answer_is_said_in_words() -> None:
    """Roles, nobody in particular, nobody at all, the requester beside them or without them."""
    anybody = {"answerers": {"roles": [], "anybody": True}}
    one = {"answerers": {"roles": ["a"], "anybody": False}}
    assert who_may_answer(anybody) == "anybody signed in"
    assert who_may_answer({"answerers": {"roles": [], "anybody": False}}) == "nobody"
    two = {"answerers": {"roles": ["auditor", "nurse"], "anybody": False}}
    assert who_may_answer(two) == "an auditor or a nurse"
    asked = {"requester": "mia", "requesterMayAnswer": True}
    assert "or mia, who asked" in who_may_answer({**one, **asked})
    assert "not mia" in who_may_answer({**anybody, "requester": "mia", "requesterExcluded": True})
    assert "or Mía Roe, who asked" in who_may_answer({**one, **asked, "requesterDisplay": "Mía Roe"})


def test_a_difference_keeps_every_line() -> None:
    """What stays, goes and comes; nested and unequal shapes too."""
    before = {"list": ["a", "b"], "same": 1, "gone": {"x": 1}}
    after = {"list": ["a", "c"], "same": 1, "new": "y"}
    found = [(line.mark, line.path, line.text) for line in diff_lines(before, after)]
    assert found == [
        (" ", "list", "a"),
        ("-", "list", "b"),
        ("+", "list", "c"),
        (" ", "same", "1"),
        ("-", "gone/x", "1"),
        ("+", "new", "y"),
    ]
    assert [(line.mark, line.text) for line in diff_lines(None, ["a"])] == [("+", "a")]


def test_times_are_said_for_people() -> None:
    """How long there is, and when it ends; what is over says so; nothing is guessed."""
    now = datetime.datetime(2026, 11, 30, 9, 0, tzinfo=datetime.UTC)
    assert until("2026-11-30T10:30:00Z", now) == "in 1 h 30 min (2026-11-30 10:30:00 UTC)"
    assert until("2026-12-03T10:30:00Z", now).startswith("in 3 d 1 h")
    assert until("2026-11-30T09:00:30Z", now).startswith("in 30 s")
    assert until("2026-11-30T08:00:00Z", now) == "over since 2026-11-30 08:00:00 UTC"
    assert until(None, now) == "never"
    assert until("soon", now) == "soon"


def test_a_question_shows_every_option_and_what_to_send() -> None:
    """Who has no form before them can still answer: each value, its meaning, its bounds."""
    question = {
        "reasonCode": "clarification",
        "headline": "Find a patient",
        "message": "3 patients match. Which one?",
        "answerers": {"roles": [], "anybody": True},
        "resumeSchema": {
            "properties": {
                "patient": {
                    "title": "Patient",
                    "type": "string",
                    "oneOf": [
                        {"const": "Patient/1", "title": "Ann Mason, 39 y, female, MRN 23"},
                        {"const": "Patient/2", "title": f"Bo Mason {NASTY}"},
                    ],
                },
                "dose": {"title": "Dose", "type": "number", "minimum": 0.5, "maximum": 10},
                "tests": {"type": "array", "items": {"oneOf": [{"const": "718-7", "title": "Haemoglobin"}]}},
            }
        },
    }
    shown = drawn(question, 90)
    for text in ("Patient (patient)", "Patient/1", "MRN 23", "Patient/2", "number from 0.5 to 10", "718-7"):
        assert text in shown
    assert "one or more of" in shown
