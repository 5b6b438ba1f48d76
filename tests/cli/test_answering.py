"""`condor answer` in a terminal: the card is shown and its form asked; elsewhere it takes JSON alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from condor.cli import forms
from condor.core.outcome import InputField
from condor.core.suspend import clarification_resume_schema
from condor.testing import SeededClock
from tests.cli.support import Terminal

if TYPE_CHECKING:
    from tests.cli.support import Shell

PROMPT = "leave parked >"
#: What is typed for each field of the survey.
TYPED = ("2", "1, cold", "2026-02-28", "2.5", "2", "y", "two lines\nof text\n")


def card_of(shell: Shell, *words: str) -> str:
    """The one open card."""
    (card,) = shell.run("pending", "--json", *words).json
    return str(card["suspendId"])


@pytest.mark.slow
def test_a_question_is_answered_field_by_field(shell: Shell) -> None:
    """Every kind of field, from another terminal than the one that asked; only that card is asked about."""
    shell.parked({"steps": [{"id": "q", "tool": "shop.survey"}]})
    other = shell.parked()
    terminal = Terminal(shell, "answer", card_of(shell, "--kind", "clarification"), "--as", "mia")
    terminal.expect(PROMPT)
    terminal.type("a\n")
    for keys in TYPED:
        terminal.expect(">" if "\n" not in keys else "│")
        terminal.type(f"{keys}\n")
    done = terminal.end()
    assert done.code == 0, done.out
    assert shell.run("show", other["runId"], "--json").json["status"] == "suspended"


@pytest.mark.slow
def test_an_approval_is_asked_about_in_a_terminal(shell: Shell) -> None:
    """The whole card first; a yes runs it once, a card that is closed is refused with who decided."""
    run = shell.parked(user="cleo")
    card = card_of(shell)
    terminal = Terminal(shell, "answer", card, "--as", "mia")
    assert "APPROVAL NEEDED" in terminal.expect(PROMPT)
    terminal.type("a\n")
    assert terminal.end().code == 0
    assert [entry["by"] for entry in shell.ledger] == ["mia"]
    late = Terminal(shell, "answer", card, "--as", "max").end()
    assert late.code == 7
    assert "already approved by Mia" in late.words
    assert shell.run("show", run["runId"], "--json").json["status"] == "succeeded"


def test_elsewhere_it_takes_json_alone(shell: Shell) -> None:
    """Nobody is there to be asked: one line says what to give."""
    shell.parked()
    refused = shell.run("answer", card_of(shell), "--as", "mia")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "--data JSON" in refused.err


def test_a_looked_up_value_says_where_it_is_found() -> None:
    """A field that another tool can look up names the tool; what only a terminology knows is free text."""
    fields = [
        InputField(name="who", label="Who", hint={"lookup": {"tool": "patient.search"}}),
        InputField(name="what", label="What", hint={"lookup": {"terminology": "RxNorm"}}),
    ]
    form: Any = clarification_resume_schema(fields, SeededClock().now().date())
    shapes, ui = form[0]["properties"], form[1]
    prompts = [forms._prompt(shapes[name], [], ui.get(name) or {}) for name in ("who", "what")]
    assert prompts == ["text, as patient.search finds it >", "text >"]
