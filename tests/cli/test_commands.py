"""Every command: what it prints, what it changes, how it exits. The main job in processes of its own."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import time
from typing import TYPE_CHECKING, get_args

import pytest

from condor.cli import inbox_options
from condor.core.suspend import Origin, ReasonCode
from condor.ports.cards import CardOrder
from condor.runtime.inbox import TIERS
from tests.cli.support import REFUND

if TYPE_CHECKING:
    from tests.cli.support import Shell


def test_a_request_parks_is_approved_once_and_is_told(shell: Shell) -> None:
    """The main job: words, a plan, a card, one approval, one write, an honest closing, a whole chain."""
    parked = shell.process("run", "refund A-7", "--as", "cleo", "--autonomy", "autonomous")
    assert parked.code == 3
    assert "APPROVAL NEEDED" in parked.out
    assert shell.ledger == []

    (card,) = shell.process("pending", "--json").json
    assert (card["toolName"], card["requester"]) == ("shop.refund", "cleo")
    assert card["suspendId"] in shell.process("pending").out

    approved = shell.process("approve", card["suspendId"], "--as", "mia")
    assert approved.code == 0
    assert "Refunded 1200 cents." in approved.out
    assert shell.ledger == [{"order": "A-7", "cents": 1200, "by": "mia"}]

    late = shell.process("approve", card["suspendId"], "--as", "max")
    assert late.code == 7
    assert "already approved by Mia" in late.err
    assert len(shell.ledger) == 1
    assert shell.process("pending").out == "Nothing waits for a person.\n"
    assert shell.process("audit", "verify").code == 0


def test_pending_is_narrowed(shell: Shell) -> None:
    """Filters, order and a place to go on from; in words and as JSON; a wrong word names the right ones."""
    first, second = shell.parked(), shell.parked(user="cleo")
    asked = shell.parked({"steps": [{"id": "q", "tool": "shop.survey"}]})
    cards = [run["suspensions"][0]["suspendId"] for run in (first, second, asked)]

    def listed(*words: str) -> list[str]:
        return [card["suspendId"] for card in shell.run("pending", "--json", *words).json]

    assert listed() == cards
    assert listed("--order", "newest") == cards[::-1]
    assert listed("--tool", "shop.refund") == listed("--tier", "high") == cards[:2]
    assert listed("--requester", "cleo") == listed("--run", second["runId"]) == cards[1:2]
    assert listed("--kind", "clarification") == cards[2:]
    assert listed("--origin", "tool_policy", "--subject", "Order/A-1") == cards[:2]
    assert listed("--older-than", "1h") == []
    assert listed("--newer-than", "1h", "--after", cards[0], "--limit", "1") == cards[1:2]
    text = shell.run("pending", "--requester", "cleo").words
    assert cards[1] in text
    assert cards[0] not in text
    assert "about Order/A-1" in text
    assert shell.run("pending", "--older-than", "9d").out == "Nothing of this kind waits for a person.\n"
    assert (
        "'tomorrow' is no age; write it as 45s, 90m" in shell.run("pending", "--newer-than", "tomorrow").err
    )
    assert shell.run("pending", "--after", "sus_nobody").code == 2
    unknown = shell.run("pending", "--run", "run_x")
    assert (unknown.code, "no run 'run_x'" in unknown.err) == (2, True)
    assert shell.run("pending", "--tier", "medium").code == 2


def test_the_words_of_the_filters_are_those_that_cards_have() -> None:
    """They are spelt out on the command line, so that it starts quickly."""
    assert tuple(ReasonCode) == inbox_options.KINDS
    assert tuple(Origin) == inbox_options.ORIGINS
    assert inbox_options.TIERS == TIERS
    assert get_args(CardOrder) == inbox_options.ORDERS


def test_a_denial_writes_nothing_and_is_named(shell: Shell) -> None:
    """Deny exits with 0 because it took effect; the run is aborted and the closing says who and why."""
    run = shell.parked()
    for empty in ("", "  "):
        refused = shell.run("deny", run["suspensions"][0]["suspendId"], "--reason", empty, "--as", "mia")
        assert (refused.code, "the reason is empty" in refused.err) == (2, True)
    denied = shell.run("deny", run["suspensions"][0]["suspendId"], "--reason", "too much", "--as", "mia")
    assert denied.code == 0
    assert "⚠ Not completed: the refund was declined by Mia (too much)" in denied.out
    assert shell.run("show", run["runId"], "--json").json["status"] == "aborted"
    assert shell.ledger == []


def test_a_call_is_edited_by_command(shell: Shell) -> None:
    """A new card, nothing run, exit 0; the old card is refused by name; bad edits are refused whole."""
    run = shell.parked()
    old = run["suspensions"][0]["suspendId"]
    for words, code, said in (
        (("order=B",), 2, "'order' may not be edited on this card; take cents"),
        (("cents",), 2, "write argument=value"),
        (("cents=many",), 2, "type a whole number"),
        (("cents=",), 2, "cents is needed"),
        (("--data", '{"cents": "900"}'), 2, "a text stands where a whole number belongs"),
        ((), 2, "as --data JSON"),
    ):
        refused = shell.run("edit", old, *words, "--as", "mia")
        assert (refused.code, refused.out) == (code, "")
        assert said in refused.err
    assert shell.run("edit", old, "cents=900", "--as", "cleo").code == 7
    assert shell.run("show", run["runId"], "--json").json["suspensions"][0]["status"] == "pending"
    edited = shell.run("edit", old, "cents=900", "--as", "mia", "--json")
    assert edited.code == 0, edited
    new = edited.json
    assert (new["toolInput"]["cents"], new["edits"][0]["byDisplay"], shell.ledger) == (900, "Mia", [])
    late = shell.run("approve", old, "--as", "max")
    assert (late.code, f"answer the new card {new['suspendId']}" in late.err) == (7, True)
    for words in (("order=B",), ("cents=many",), ("--data", '{"cents": "900"}')):
        late = shell.run("edit", old, *words, "--as", "mia")
        assert (late.code, "the card stays open" in late.err) == (7, False)
        assert "the card is stale: Mia edited the call" in late.err
    late = shell.run("answer", old, "--data", "[]", "--as", "mia")
    assert (late.code, "the card is stale" in late.err) == (7, True)
    drawn = shell.run("edit", new["suspendId"], "--data", '{"cents": 800}', "--as", "max")
    assert drawn.code == 0
    assert "Edited by Mia" in drawn.words
    assert "Edited by Max" in drawn.words
    assert "900 → 800" in drawn.words
    (card,) = shell.run("pending", "--json").json
    assert shell.run("approve", card["suspendId"], "--as", "max").code == 0
    assert [entry["cents"] for entry in shell.ledger] == [800]


def test_stop_withdraws_the_card(shell: Shell) -> None:
    """Stop exits with 0, ends the run as aborted, and cannot be done twice."""
    run = shell.parked()
    stopped = shell.run("stop", run["runId"], "--reason", "wrong order", "--as", "mia", "--json")
    assert stopped.code == 0
    snapshot = stopped.lines[-1]["run"]
    assert (snapshot["status"], snapshot["suspensions"][0]["status"]) == ("aborted", "withdrawn")
    assert shell.run("stop", run["runId"], "--as", "mia").code == 7
    assert shell.ledger == []


@pytest.mark.parametrize(("user", "code"), [("ada", 7), ("cleo", 2)])
def test_who_may_not_stop_a_run_does_not_with_no_server_either(shell: Shell, user: str, code: int) -> None:
    """An auditor looks only; to who is of another role the run is not there. Nothing is changed."""
    run = shell.parked()
    refused = shell.run("stop", run["runId"], "--as", user)
    assert refused.code == code, refused.err
    kept = shell.run("show", run["runId"], "--json").json
    assert (kept["status"], kept["suspensions"][0]["status"]) == ("suspended", "pending")


def test_run_json_is_one_event_a_line_and_the_snapshot_last(shell: Shell) -> None:
    """A program reads events in order, then the same snapshot that show gives; stderr has no progress."""
    done = shell.run("run", "refund B-1", "--as", "mia", "--json")
    *events, last = done.lines
    assert done.code == 3
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["type"] == "run.started"
    assert events[-1]["type"] == "approval.required"
    assert last["type"] == "run.snapshot"
    assert last["run"] == shell.run("show", last["run"]["runId"], "--json").json
    assert done.err.count("\n") <= 2


def test_answers_continue_the_events_where_they_stood(shell: Shell) -> None:
    """`approve --json` prints only what happened since, and ends with the snapshot."""
    run = shell.parked()
    done = shell.run("approve", run["suspensions"][0]["suspendId"], "--as", "mia", "--json")
    *events, last = done.lines
    assert events[0]["seq"] == run["seq"] + 1
    assert events[0]["type"] == "suspension.closed"
    assert events[-1]["type"] == "run.ended"
    assert last["run"]["status"] == "succeeded"


def test_a_question_is_answered_with_data(shell: Shell) -> None:
    """`answer` takes exactly the form's shape; a bad answer leaves the card as it is."""
    run = shell.parked({"steps": [{"id": "q", "tool": "shop.survey"}]})
    card = run["suspensions"][0]["suspendId"]
    answer = {
        "carrier": "ups",
        "marks": ["cold"],
        "day": "2026-05-01",
        "weight": 2.5,
        "count": 3,
        "insured": True,
        "note": "by hand",
    }
    before = shell.database()
    for bad in ("[]", "{}", json.dumps(answer | {"carrier": "pigeon"}), json.dumps(answer | {"more": 1})):
        refused = shell.run("answer", card, "--data", bad, "--as", "mia")
        assert (refused.code, refused.err.count("\n")) == (2, 1), refused
        assert "the card stays open" in refused.err
    edited = shell.run("edit", card, "count=4", "--as", "mia")
    assert (edited.code, "no approval but a clarification; use: condor answer" in edited.err) == (2, True)
    assert shell.database() == before
    done = shell.run(
        "answer", card, "--data", "-", "--as", "mia", "--json", stdin=json.dumps(answer).encode()
    )
    assert done.code == 0
    assert done.lines[-1]["run"]["steps"][0]["result"] == answer


def test_an_unknown_outcome_is_told_apart_and_answered(shell: Shell) -> None:
    """A lost answer of the outside system waits for a person who looks; it is never called failed or done."""
    plan = {"steps": [{"id": "p", "tool": "shop.post", "args": {"order": "C-1"}}]}
    name = shell.plan(plan)
    done = shell.run("run", "--plan", name, "--as", "mia", "--autonomy", "autonomous", "--json")
    assert done.code == 3
    run = done.lines[-1]["run"]
    assert run["steps"][0]["status"] == "unknown"
    card = run["suspensions"][0]
    assert card["reasonCode"] == "reconcile"
    wrong = shell.run("approve", card["suspendId"], "--as", "mia")
    assert wrong.code == 2
    assert "condor answer" in wrong.err
    data = json.dumps({"happened": True, "reason": "the parcel is on its way"})
    assert shell.run("answer", card["suspendId"], "--data", data, "--as", "mia").code == 0
    assert len(shell.ledger) == 1
    shown = shell.run("show", run["runId"]).words
    assert "whether it happened was not known (tool_error)" in shown
    assert "reconciled by mia" in shown


def test_a_run_in_part_exits_with_six(shell: Shell) -> None:
    """A step that was skipped by a denial leaves the rest done, and the exit code says in part."""
    plan = {
        "steps": [
            {"id": "r", "tool": "shop.refund", "args": {"order": "A-1", "cents": 1}, "onDeny": "skip"},
            {"id": "l", "tool": "shop.lookup", "args": {"order": "A-1"}},
        ]
    }
    run = shell.parked(plan)
    card = run["suspensions"][0]["suspendId"]
    data = json.dumps({"approved": False, "reason": "no"})
    done = shell.run("answer", card, "--data", data, "--as", "mia")
    assert done.code == 6
    assert "⚠ Not completed:" in done.out


def test_a_request_that_is_not_understood_fails_honestly(shell: Shell) -> None:
    """The answer says what can be done; nothing is guessed; the exit code is 4."""
    done = shell.run("run", "make me rich", "--as", "mia")
    assert done.code == 4
    assert "I can refund an order: refund ORDER" in done.out


def test_show_tells_everything_and_why_tells_the_wait(shell: Shell) -> None:
    """Steps, arguments, results, cards, closing; and which rule asks, who may answer, until when."""
    run = shell.parked()
    shown = shell.run("show", run["runId"]).words
    for wanted in (run["runId"], "suspended", "shop.refund", "APPROVAL NEEDED", "Mia (mia), guarded"):
        assert wanted in shown
    why = shell.run("show", run["runId"], "--why").words
    for wanted in ("mutate.high-tier-always-approval", "a manager", "expires in 23 h", "condor approve sus_"):
        assert wanted in why
    assert shell.run("show", run["runId"], "--why", "--json").json == run["why"]
    shell.run("deny", run["suspensions"][0]["suspendId"], "--reason", "no", "--as", "max")
    shown = shell.run("show", run["runId"]).words
    assert "denied by Max at" in shown
    assert "reason: no" in shown
    assert "waits for nobody: it is aborted" in shell.run("show", run["runId"], "--why").words


def test_lists_are_whole_or_say_that_they_are_not(shell: Shell) -> None:
    """Runs newest first, cards oldest first; a limit is said on stderr."""
    first, second = shell.parked()["runId"], shell.parked()["runId"]
    assert [run["runId"] for run in shell.run("runs", "--json").json] == [second, first]
    assert [card["runId"] for card in shell.run("pending", "--json").json] == [first, second]
    cut = shell.run("pending", "--json", "--limit", "1")
    assert [card["runId"] for card in cut.json] == [first]
    assert "there are more" in cut.err
    assert "suspended" in shell.run("runs").out
    assert shell.run("runs", "--limit", "0", "--json").json == shell.run("runs", "--json").json


def test_the_audit_is_listed_filtered_and_exported(shell: Shell) -> None:
    """Filters are exact and combine; an exported row can be checked by anybody."""
    run = shell.parked()
    shell.run("approve", run["suspensions"][0]["suspendId"], "--as", "max")
    rows = shell.run("audit", "--json").json
    assert [row["decision"] for row in rows] == [
        "run-started",
        "suspended",
        "approved",
        "executed",
        "run-ended",
    ]
    assert [row["seq"] for row in rows] == [1, 2, 3, 4, 5]
    approved = shell.run(
        "audit", "--decision", "approved", "--actor", "max", "--tool", "shop.refund", "--json"
    ).json
    assert approved == [rows[2]]
    assert shell.run("audit", "--rule", "read.allow").out == "No row of the audit fits.\n"
    assert shell.run("audit", "--run", run["runId"], "--json").json == rows
    parked = rows[1]["at"]
    later = shell.run("audit", "--since", rows[2]["at"], "--json").json
    assert later == [row for row in rows if row["at"] >= rows[2]["at"]]
    assert rows[0] in shell.run("audit", "--until", parked, "--json").json
    refused = shell.run("audit", "--since", "today")
    assert (refused.code, "is no moment" in refused.err) == (2, True)
    assert "approved" in shell.run("audit").out

    exported = shell.run("audit", "--run", run["runId"], "export").lines
    assert exported == rows
    prev = ""
    for row in exported:
        body = {key: item for key, item in row.items() if key not in ("seq", "prevHash", "hash")}
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert row["prevHash"] == prev
        prev = hashlib.sha256(f"{prev}\n{row['seq']}\n{text}".encode()).hexdigest()
        assert prev == row["hash"]


def test_verify_names_the_row_that_was_changed(shell: Shell) -> None:
    """An edited row is found, named, and exits with 9, in verify and in the doctor's check."""
    run = shell.parked()
    good = shell.run("audit", "verify", "--json")
    assert (good.code, good.json["kept"], good.json["runs"]) == (0, True, 1)
    with sqlite3.connect(shell.home / "condor.db") as database:
        database.execute("UPDATE audit SET body = replace(body, 'mia', 'max') WHERE seq = 2")
    database.close()
    for words in (("audit", "verify"), ("audit", "verify", "--run", run["runId"]), ("doctor",)):
        found = shell.run(*words)
        assert found.code == 9
        assert run["runId"] in found.out
    bad = shell.run("audit", "verify", "--json").json["bad"]
    assert [(one["runId"], one["firstBadSeq"], one["what"]) for one in bad] == [(run["runId"], 2, "edited")]


def test_the_policy_explains_without_running(shell: Shell) -> None:
    """The matrix as it is asked; the verdict on a call by its arguments and dispatch; no home is made."""
    rules = shell.run("policy", "matrix", "--json").json
    assert [rule["ruleId"] for rule in rules][-1] == "unknown.fail-closed"
    args = json.dumps({"order": "A-1"})
    low = shell.run(
        "policy", "explain", "shop.post", "--args", args, "--autonomy", "autonomous", "--json"
    ).json
    assert (low["decision"], low["ruleId"]) == ("allow", "mutate.low-tier-autonomous-allow")
    asked = shell.run("policy", "explain", "shop.post", "--args", args, "--json").json
    assert (asked["decision"], asked["autonomy"]) == ("require-approval", "guarded")
    hidden = json.dumps({"order": {"op": "remove", "path": "/x"}})
    removal = shell.run(
        "policy", "explain", "shop.post", "--args", hidden, "--autonomy", "autonomous", "--json"
    ).json
    assert (removal["decision"], removal["promotions"]) == ("require-approval", ["destructive-content"])
    assert (
        "the arguments take something away"
        in shell.run("policy", "explain", "shop.post", "--args", hidden).words
    )
    assert "require-approval" in shell.run("policy", "matrix").out
    assert not shell.home.exists()


def test_tools_are_listed_and_checked(shell: Shell) -> None:
    """A descriptor that leaves a person in the dark is an error, and exits with 9."""
    tools = {tool["name"]: tool for tool in shell.run("tools", "list", "--json").json}
    assert tools["shop.refund"]["approverRoles"] == ["manager"]
    assert "Refund an order" in shell.run("tools", "list").out
    checked = shell.run("tools", "check", "--json")
    assert checked.code == 9
    errors = {(one["tool"], one["code"]) for one in checked.json if one["level"] == "error"}
    assert errors == {("shop.lax", "roles-missing"), ("shop.lax", "preview-missing")}


def test_the_doctor_says_what_is_there(shell: Shell) -> None:
    """Installation, packs, home, schema, chains; a missing home is no fault."""
    without = shell.run("doctor", "--json")
    assert without.code == 0
    shell.parked()
    checks = {check["check"]: check for check in shell.run("doctor", "--json").json}
    assert {
        "condor",
        "python",
        "sqlite",
        "pack",
        "home",
        "modes",
        "schema",
        "owner",
        "cards",
        "audit",
    } <= set(checks)
    assert checks["cards"]["message"].startswith("1 open")
    shell.home.chmod(0o755)
    wide = shell.run("doctor")
    assert wide.code == 9
    assert "chmod 700" in wide.out


@pytest.mark.parametrize(
    "words", [(), ("--help",), ("-h",), ("run", "--help"), ("audit", "verify", "--help")]
)
def test_help_is_given(shell: Shell, words: tuple[str, ...]) -> None:
    """Help is a result: on stdout, exit 0."""
    done = shell.run(*words)
    assert done.code == 0
    assert done.out.startswith("Usage: condor")


def test_who_acts_is_said(shell: Shell) -> None:
    """Where nobody is named, the command says as whom it acts and whom one could name."""
    name = shell.plan({"steps": [{"id": "l", "tool": "shop.lookup", "args": {"order": "1"}}]})
    done = shell.run("run", "--plan", name)
    assert done.code == 0
    assert "acting as the local operator (local); others: --as mia, max, cleo, ada" in done.err


def test_a_plan_comes_from_standard_input(shell: Shell) -> None:
    """`--plan -` reads the plan from a pipe."""
    done = shell.run("run", "--plan", "-", "--as", "mia", "--json", stdin=json.dumps(REFUND).encode())
    assert done.code == 3
    assert done.lines[-1]["run"]["plan"] == REFUND


def test_a_shown_command_acts_as_the_same_person(shell: Shell) -> None:
    """What is to be typed names who acts and the home, where a command would not find them by itself."""
    question = shell.plan({"steps": [{"id": "q", "tool": "shop.survey"}]})
    hints = [line for line in shell.run("run", "--plan", question).out.splitlines() if line[:7] == "condor "]
    assert len(hints) == 2
    assert not any("--as" in line or "--home" in line for line in hints)
    done = shell.run("run", "--plan", shell.plan(REFUND), "--as", "cleo", "--home", "my home")
    (run,) = shell.run("runs", "--json", "--home", "my home").json
    for shown in (done, shell.run("show", run["runId"], "--why", "--home", "my home")):
        assert re.search(r"condor approve sus_\w+ --as cleo --home 'my home'", shown.words)
        assert re.search(r"condor deny sus_\w+ --reason … --as cleo --home 'my home'", shown.words)


def test_a_question_says_how_to_end_its_run(shell: Shell) -> None:
    """Who will not answer is told of `condor stop`: beside the card, and by `deny`, which is no answer."""
    plan = shell.plan({"steps": [{"id": "q", "tool": "shop.survey"}]})
    done = shell.run("run", "--plan", plan, "--as", "mia")
    (run,) = shell.run("runs", "--json").json
    stop = f"condor stop {run['runId']} --reason … --as mia"
    assert done.code == 3
    assert stop in done.words
    (card,) = shell.run("pending", "--json").json
    denied = shell.run("deny", card["suspendId"], "--reason", "no", "--as", "mia")
    assert denied.code == 2
    assert f"(to end the run instead: {stop})" in denied.err
    assert denied.err.count("\n") == 1
    assert shell.run("stop", run["runId"], "--reason", "no", "--as", "mia").code == 0
    assert shell.run("show", run["runId"], "--json").json["status"] == "aborted"


def test_a_card_shows_what_was_asked_and_by_whom(shell: Shell) -> None:
    """An approver can hold the request against the call, wherever the card is drawn; what hides is shown."""
    done = shell.run("run", "refund A-1\u202e", "--as", "cleo", env={"CONDOR_PROCESSORS": "{}"})
    (run,) = shell.run("runs", "--json").json
    for shown in (done, shell.run("show", run["runId"])):
        assert "The request, in the requester's words" in shown.words
        assert "refund A-1<U+202E> by Cleo (cleo)" in shown.words
    (card,) = shell.run("pending", "--json").json
    assert card["request"] == "refund A-1\u202e"
    assert "asked: refund A-1<U+202E>" in shell.run("pending").words
    assert (
        "a plan, no words, by Mia (mia)"
        in shell.run("run", "--plan", shell.plan(REFUND), "--as", "mia").words
    )


def test_the_doctor_finds_settings_that_cannot_be_used(shell: Shell) -> None:
    """Each bad variable is named with what to write; a good one is no finding."""
    bad = {
        "CONDOR_SUSPEND_TTL_S": "abc",
        "CONDOR_REPLANS_MAX": "99",
        "CONDOR_TOKENS_MAX": "many",
    }
    for name, value in bad.items():
        done = shell.run("doctor", env={name: value})
        assert done.code == 9
        assert f"settings: {name} is '{value}'" in done.words
        assert "; write " in done.words
    done = shell.run("doctor", env={"CONDOR_DATABASE_URL": "mysql://ann:hunter2@host/x"})
    assert done.code == 9
    assert "settings: CONDOR_DATABASE_URL cannot be used; write sqlite:///" in done.words
    assert "hunter2" not in done.words
    done = shell.run("doctor", env={"CONDOR_REPLANS_MAX": "2", "CONDOR_TOKENS_MAX": "1000"})
    assert done.code == 0
    assert "settings: each can be used" in done.words


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("CONDOR_PROCESSORS", "{", "settings: CONDOR_PROCESSORS is not JSON that can be kept"),
        (
            "CONDOR_PROCESSORS",
            '{"token-limiter": {"input_tokens_max": 0}}',
            "settings: CONDOR_PROCESSORS: token-limiter.input_tokens_max",
        ),
        (
            "CONDOR_PROCESSORS",
            '{"moderation": {"languages": ["klingon"]}}',
            "no word list for klingon",
        ),
        ("CONDOR_PACKS", "nope", "packs: no pack 'nope' is installed; there are"),
        ("CONDOR_SINK_URL", "https://audit.example:99999/hook", "settings: CONDOR_SINK_URL is not usable"),
        ("CONDOR_MODEL_BASE_URL", "http://127.0.0.1:0/v1", "settings: CONDOR_MODEL_BASE_URL is not usable"),
        ("CONDOR_MODEL_PROVIDER", "zzz", "model: CONDOR_MODEL_PROVIDER is 'zzz', which cannot be used"),
    ],
)
def test_the_doctor_makes_what_a_run_would_make(shell: Shell, name: str, value: str, said: str) -> None:
    """What a run would refuse is said before there is one, and nothing is reached for it."""
    done = shell.run("doctor", env={"CONDOR_MODEL_NAME": "m-1", "CONDOR_MODEL_KEY": "k", name: value})
    assert done.code == 9, done
    assert said in done.words


def test_one_is_no_plural(shell: Shell) -> None:
    """Counts are said as people say them."""
    shell.parked()
    assert "✓ 1 chain, 2 rows, unbroken" in shell.run("audit", "verify").words
    assert "audit: 1 chain, 2 rows, unbroken" in shell.run("doctor").words


def test_an_expired_card_is_listed_as_expired(shell: Shell) -> None:
    """It stands last, says since when, and names nobody who could answer it."""
    name = shell.plan(REFUND)
    shell.run("run", "--plan", name, "--as", "mia", env={"CONDOR_SUSPEND_TTL_S": "3"})
    shell.run("run", "--plan", name, "--as", "mia")
    old, fresh = shell.run("pending", "--json").json
    time.sleep(3)
    words = shell.run("pending").words
    assert words.index(fresh["suspendId"]) < words.index(old["suspendId"])
    late = words[words.index(old["suspendId"]) :]
    assert "expired, cannot be answered any more" in late
    assert "expired since 20" in late
    assert "may answer" not in late
