"""`condor run` in a terminal: cards are shown and answered, or left; and what happens around that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.support import Terminal

if TYPE_CHECKING:
    from tests.cli.support import Shell

PROMPT = "leave parked >"


def the_run(shell: Shell) -> dict[str, object]:
    """The only run of a home."""
    (run,) = shell.run("runs", "--json").json
    return run  # type: ignore[no-any-return]


def test_an_approval_is_asked_for_and_given(shell: Shell) -> None:
    """The card, a wrong key, [a]: the write happens once and the closing says so."""
    terminal = Terminal(shell, "run", "refund A-1", "--as", "mia")
    shown = terminal.expect(PROMPT)
    assert "APPROVAL NEEDED" in shown
    assert "As Mia:" in shown
    terminal.type("q\n")
    assert "Type one of a (approve), d (deny), l (leave), e (edit)." in terminal.expect(PROMPT)
    assert shell.ledger == []
    terminal.type("a\n")
    done = terminal.end()
    assert done.code == 0
    assert "Refunded 1200 cents." in done.words
    assert [entry["by"] for entry in shell.ledger] == ["mia"]


def test_a_call_is_edited_before_it_is_approved(shell: Shell) -> None:
    """[e] changes what may be changed and says what may not; the new card is asked about and runs."""
    terminal = Terminal(shell, "run", "refund A-1", "--as", "mia")
    assert "May be edited before it is approved: cents" in terminal.expect(PROMPT)
    terminal.type("e\n")
    terminal.expect("argument=value >")
    terminal.type("order=B-2\n\n")
    terminal.expect("may not be edited on this card; take cents")
    terminal.type("cents=much\n\n")
    terminal.expect("cannot be read: type a whole number")
    terminal.type("cents=900\n\n")
    shown = terminal.expect(PROMPT)
    assert "Edited by Mia" in shown
    assert "1200 → 900" in shown
    assert shell.ledger == []
    terminal.type("a\n")
    done = terminal.end()
    assert done.code == 0
    assert "Refunded 900 cents. (Edited by Mia before it was approved.)" in done.words
    assert [entry["cents"] for entry in shell.ledger] == [900]


def test_an_edit_can_be_given_up(shell: Shell) -> None:
    """An empty line goes back to the same card."""
    terminal = Terminal(shell, "run", "refund A-1", "--as", "mia")
    terminal.expect(PROMPT)
    terminal.type("e\n")
    terminal.expect("argument=value >")
    terminal.type("\n")
    terminal.expect(PROMPT)
    terminal.type("l\n")
    assert terminal.end().code == 3


def test_a_denial_asks_why(shell: Shell) -> None:
    """[d] wants a reason; it stands in the closing, and nothing was written."""
    terminal = Terminal(shell, "run", "refund A-1", "--as", "mia")
    terminal.expect(PROMPT)
    terminal.type("d\n")
    terminal.expect("Why? >")
    terminal.type("\n")
    terminal.expect("Say why in a few words")
    terminal.expect("Why? >")
    terminal.type("not her \u202eorder\n")
    done = terminal.end()
    assert done.code == 5
    assert "⚠ Not completed: the refund was declined by Mia (not her <U+202E>order)" in done.words
    assert shell.ledger == []


@pytest.mark.parametrize("keys", ["l\n", "\x03", "\x04"], ids=["leave", "ctrl-c", "end of input"])
def test_leaving_parks_the_run(shell: Shell, keys: str) -> None:
    """Leave, Ctrl-C and the end of input are the same: exit 3, the card stays, and how to answer is said."""
    terminal = Terminal(shell, "run", "refund A-1", "--as", "mia")
    terminal.expect(PROMPT)
    terminal.type(keys)
    done = terminal.end()
    assert done.code == 3
    assert "Left parked" in done.words
    assert "Traceback" not in done.out
    (card,) = shell.run("pending", "--json").json
    assert f"condor approve {card['suspendId']}" in done.words


def test_another_terminal_can_answer_while_one_asks(shell: Shell) -> None:
    """The home is free while a person thinks; the late answer is told whose counted."""
    terminal = Terminal(shell, "run", "refund A-1", "--as", "mia")
    terminal.expect(PROMPT)
    (card,) = shell.run("pending", "--json").json
    assert shell.run("approve", card["suspendId"], "--as", "max").code == 0
    terminal.type("d\n")
    terminal.expect("Why? >")
    terminal.type("no\n")
    done = terminal.end()
    assert done.code == 0
    assert "already approved by Max" in done.words
    assert "Refunded 1200 cents." in done.words
    assert [entry["by"] for entry in shell.ledger] == ["max"]


def test_leaving_what_was_answered_meanwhile_says_so(shell: Shell) -> None:
    """[l] looks at the run as it is now."""
    terminal = Terminal(shell, "run", "refund A-1", "--as", "mia")
    terminal.expect(PROMPT)
    (card,) = shell.run("pending", "--json").json
    shell.run("deny", card["suspendId"], "--reason", "no", "--as", "max")
    terminal.type("l\n")
    done = terminal.end()
    assert done.code == 5
    assert "It was denied by Max meanwhile." in done.words


def test_who_may_not_answer_is_not_asked(shell: Shell) -> None:
    """A clerk sees the card and who decides; the run waits."""
    terminal = Terminal(shell, "run", "refund A-1", "--as", "cleo")
    done = terminal.end()
    assert done.code == 3
    assert "You are Cleo; this card takes a manager. It stays parked." in done.words
    assert shell.run("audit", "--decision", "decision-rejected", "--json").json == []


def test_a_form_is_asked_field_by_field(shell: Shell) -> None:
    """Each kind of field takes what it should and asks again for anything else."""
    plan = shell.plan({"steps": [{"id": "q", "tool": "shop.survey"}]})
    terminal = Terminal(shell, "run", "--plan", plan, "--as", "mia")
    turns = [
        ("number >", "3", "Type a number from 1 to 2."),
        ("number >", "2", ""),
        ("separated by commas >", "1,1", "One of them stands twice"),
        ("separated by commas >", "1, cold", ""),
        (
            "date, as 2026-11-30, from 2026-01-01 to 2026-12-31 >",
            "2025-12-31",
            "The day is before 2026-01-01",
        ),
        ("to 2026-12-31 >", "30.11.2026", "That is no date; write it as 2026-11-30"),
        ("to 2026-12-31 >", "2026-02-28", ""),
        ("number, from 0.5 to 30 >", "heavy", "Type a number"),
        ("number, from 0.5 to 30 >", "31", "The number is above 30"),
        ("number, from 0.5 to 30 >", "2.5", ""),
        ("whole number, from 1 to 9 >", "2.5", "Type a whole number"),
        ("whole number, from 1 to 9 >", "2", ""),
        ("yes or no >", "maybe", "Type yes or no"),
        ("yes or no >", "y", ""),
        ("│", "two lines", ""),
        ("│", "of text", ""),
        ("│", "", ""),
    ]
    terminal.expect(PROMPT)
    terminal.type("a\n")
    terminal.expect("(Ctrl-C leaves it parked.)")
    for prompt, keys, complaint in turns:
        terminal.expect(prompt)
        terminal.type(f"{keys}\n")
        if complaint:
            terminal.expect(complaint)
    assert terminal.end().code == 0
    run = shell.run("show", str(the_run(shell)["runId"]), "--json").json
    assert run["steps"][0]["result"] == {
        "carrier": "ups",
        "marks": ["fragile", "cold"],
        "day": "2026-02-28",
        "weight": 2.5,
        "count": 2,
        "insured": True,
        "note": "two lines\nof text",
    }


def test_a_question_can_be_given_up(shell: Shell) -> None:
    """[s] asks why and stops the run; the reason stands in the closing."""
    plan = shell.plan({"steps": [{"id": "q", "tool": "shop.survey"}]})
    terminal = Terminal(shell, "run", "--plan", plan, "--as", "mia")
    assert "As Mia: [a] answer  [s] stop the run  [l] leave parked >" in terminal.expect(PROMPT)
    terminal.type("s\n")
    terminal.expect("Why? >")
    terminal.type("wrong parcel\n")
    done = terminal.end()
    assert done.code == 5
    assert "wrong parcel" in done.words.split("Why?")[-1]
    assert the_run(shell)["status"] == "aborted"


def test_a_question_can_be_left(shell: Shell) -> None:
    """[l] parks it, and says how to answer it and how to end the run, as whoever asked."""
    plan = shell.plan({"steps": [{"id": "q", "tool": "shop.survey"}]})
    terminal = Terminal(shell, "run", "--plan", plan, "--as", "mia", columns=200)
    terminal.expect(PROMPT)
    terminal.type("l\n")
    done = terminal.end()
    assert done.code == 3
    assert f"condor stop {the_run(shell)['runId']} --reason … --as mia" in done.words
    assert the_run(shell)["status"] == "suspended"


def test_an_unknown_outcome_is_asked_about(shell: Shell) -> None:
    """A person who has looked says whether it happened and how they know."""
    plan = shell.plan({"steps": [{"id": "p", "tool": "shop.post", "args": {"order": "C-1"}}]})
    terminal = Terminal(shell, "run", "--plan", plan, "--as", "mia", "--autonomy", "autonomous")
    assert "DID IT HAPPEN?" in terminal.expect(PROMPT)
    terminal.type("s\n")
    terminal.expect("Did it happen? [y] yes  [n] no >")
    terminal.type("y\n")
    terminal.expect("How do you know? >")
    terminal.type("it was delivered\n")
    assert terminal.end().code == 0
    assert len(shell.ledger) == 1


def test_several_cards_are_asked_one_after_the_other(shell: Shell) -> None:
    """One is left, the next is still asked."""
    steps = [
        {"id": name, "tool": "shop.refund", "args": {"order": name, "cents": 5}, "onDeny": "skip"}
        for name in ("a", "b")
    ]
    terminal = Terminal(shell, "run", "--plan", shell.plan({"steps": steps}), "--as", "mia")
    terminal.expect(PROMPT)
    terminal.type("l\n")
    terminal.expect("Left parked")
    terminal.expect(PROMPT)
    terminal.type("a\n")
    assert terminal.end().code == 3
    assert len(shell.ledger) == 1
    assert len(shell.run("pending", "--json").json) == 1


@pytest.mark.parametrize("columns", [60, 100])
def test_a_narrow_terminal_is_filled_and_not_overrun(shell: Shell, columns: int) -> None:
    """No line of the card is wider than the terminal; nothing is lost."""
    terminal = Terminal(shell, "run", "refund A-1", "--as", "mia", columns=columns)
    shown = terminal.expect(PROMPT)
    frame = [line.rstrip("\r") for line in shown.splitlines() if line.startswith(("╭", "│", "╰"))]
    assert max(map(len, frame)) == columns
    terminal.type("l\n")
    terminal.end()


def test_colours_are_off_where_they_are_not_wanted(shell: Shell) -> None:
    """NO_COLOR takes the colours; a dumb terminal gets no escape at all, and is still asked."""
    terminal = Terminal(shell, "run", "refund A-1", "--as", "mia", TERM="dumb")
    terminal.expect(PROMPT)
    terminal.type("l\n")
    done = terminal.end()
    assert "\x1b" not in done.out
    terminal = Terminal(shell, "run", "refund A-2", "--as", "mia", NO_COLOR="1")
    terminal.expect(PROMPT)
    terminal.type("l\n")
    assert "\x1b[3" not in terminal.end().out


def test_json_never_asks(shell: Shell) -> None:
    """In a terminal too, --json is for a program."""
    done = Terminal(shell, "run", "refund A-1", "--as", "mia", "--json").end()
    assert done.code == 3
    assert PROMPT not in done.out
