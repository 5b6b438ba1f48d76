"""What arguments say they would do: removals are found wherever and however they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from condor.core.policy import DESTRUCTIVE_OPS, destructive_content
from condor.core.policy.content import TERMINAL_STATUSES
from tests.core.strategies import Liar, Thrower

CODED = {"coding": [{"system": "s", "code": "active"}, {"system": "s", "code": "entered-in-error"}]}

REMOVALS: dict[str, object] = {
    "bundle entry": {"request": {"method": "DELETE", "url": "AllergyIntolerance/7"}},
    "method in any case": {"method": "delete"},
    "method with spaces around": {"method": " DELETE\n"},
    "key in any case": {"Method": "DELETE"},
    "override header": {"headers": {"X-HTTP-Method-Override": "DELETE"}},
    "operation by URL": {"request": {"method": "POST", "url": "Patient/1/$expunge"}},
    "verb of an argument": {"op": "remove"},
    "verb under another name": {"action": "Void"},
    "verb in an object": {"operation": {"type": "delete"}},
    "verb in a list": {"op": ["update", "archive"]},
    "split verb": {"op": "de\u200blete"},
    "JSON Patch remove": {"op": "remove", "path": "/allergies/0"},
    "JSON Patch move": {"op": "move", "from": "/allergies/0", "path": "/old"},
    "JSON Patch replace by nothing": {"op": "replace", "path": "/allergies", "value": None},
    "JSON Patch at a status": {"op": "replace", "path": "/status", "value": "stopped"},
    "JSON Patch at a coded status": {
        "op": "replace",
        "path": "/verificationStatus/coding/0/code",
        "value": "refuted",
    },
    "FHIRPath at a status": {"op": "replace", "path": "Patient.status", "value": "inactive"},
    "FHIRPath Patch delete": {"name": "type", "valueCode": "delete"},
    "FHIRPath Patch status": {"name": "value", "valueCode": "stopped"},
    "plain status": {"status": "entered-in-error"},
    "status in any case": {"docStatus": "Entered-In-Error"},
    "status key by another name": {"doc_status": "superseded"},
    "status of something": {"order_status": "cancelled"},
    "status as other systems say it": {"status": "deleted"},
    "status with underscores": {"status": "entered_in_error"},
    "coded status, second coding": {"verificationStatus": CODED},
    "coded status, text only": {"verificationStatus": {"text": "Entered in Error"}},
    "coded status, display only": {"clinicalStatus": {"coding": [{"display": "Inactive"}]}},
    "status in a list": {"status": ["active", "revoked"]},
    "erased anywhere": {"whatever": "entered-in-error"},
    "JSON in a text": {"body": '  {"status": "stopped"}'},
    "JSON in JSON in a text": {"body": json.dumps([json.dumps({"op": "delete"})])},
    "JSON as a text in a text": {"body": json.dumps(json.dumps({"op": "delete"}))},
    "JSON in a text, said twice, last harmless": {"body": '{"method": "DELETE", "method": "GET"}'},
    "JSON in a text, said twice, first harmless": {"body": '{"method": "GET", "method": "DELETE"}'},
    "bytes": {"body": b'{"method": "DELETE"}'},
    "a set": {"ids": {1, 2}},
    "a key that is no text": {1: "x"},
    "an iterator": {"entries": iter([{"method": "DELETE"}])},
    "an object that lies": {"x": Liar()},
    "an object that throws": {"x": Thrower()},
}

HARMLESS: dict[str, object] = {
    "nothing": {},
    "scalars": {"a": None, "b": True, "c": 0, "d": 1.5, "e": "text"},
    "a status that is no word": {"status": 1, "op": None, "method": 2.5},
    "a status in use": {"status": "active", "docStatus": "final", "clinicalStatus": {"text": "Active"}},
    "a normal end": {"status": "completed", "clinicalStatus": "resolved"},
    "a bundle that writes": {"entry": [{"request": {"method": "PUT", "url": "Patient/1"}}]},
    "a patch that adds": {"op": "add", "path": "/note", "value": "x"},
    "a patch that tests for nothing": {"op": "add", "path": "/note"},
    "a patch at a status in use": {"op": "replace", "path": "/status", "value": "active"},
    "prose": {"text": "we cancelled nothing; the order was never stopped or entered in error, see note"},
    "a word elsewhere": {"reason": "stopped", "note": "delete", "cancel_reason": "pat"},
    "a text that only looks like JSON": {"text": "[1] see {this", "said": '"stop" was said'},
    "JSON in a text that is harmless": {"text": '{"status": "active", "n": [1, null]}'},
    "a URL": {"url": "Patient/1?name=x", "uri": "$x"},
    "an op that is no text": {"op": 1, "path": "/x"},
    "a path that is no text": {"op": "move", "path": 1},
}


@pytest.mark.parametrize("name", REMOVALS)
def test_a_removal_is_found(name: str) -> None:
    """Whatever a removal is called and wherever it hides, a person is asked."""
    assert destructive_content(REMOVALS[name])


@pytest.mark.parametrize("name", HARMLESS)
def test_what_removes_nothing_passes(name: str) -> None:
    """A routine write is not gated into uselessness by words that only look like a removal."""
    assert not destructive_content(HARMLESS[name])


@pytest.mark.parametrize("status", sorted(TERMINAL_STATUSES))
def test_every_terminal_status_is_found(status: str) -> None:
    """A code that takes a record out of use counts, in each spelling."""
    for written in (status, status.upper(), status.replace("-", " "), f" {status} "):
        assert destructive_content({"entry": [{"resource": {"status": written}}]})


@pytest.mark.parametrize("verb", sorted(DESTRUCTIVE_OPS))
def test_every_destructive_verb_is_found(verb: str) -> None:
    """The six verbs count under every key that says a verb."""
    for key in ("op", "operation", "action", "verb", "method", "httpMethod", "valueCode"):
        assert destructive_content([{key: verb}])


@pytest.mark.parametrize("at", [0, 1, 50, 51, 4999, 5000])
def test_every_entry_is_looked_at(at: int) -> None:
    """The 5,001st entry counts like the first: nothing is sampled (Claude Code stopped at 50)."""
    entries: list[dict[str, Any]] = [
        {"request": {"method": "POST", "url": "Observation"}, "resource": {"status": "final"}}
        for _ in range(5001)
    ]
    assert not destructive_content({"bundle": {"entry": entries}})
    entries[at] = {"request": {"method": "DELETE", "url": "Observation/1"}}
    assert destructive_content({"bundle": {"entry": entries}})


@pytest.mark.parametrize(("levels", "found"), [(31, False), (33, True), (20_000, True)])
def test_what_nests_without_end_counts_as_a_removal(levels: int, found: bool) -> None:
    """What is too deep to be looked at is not assumed to be harmless."""
    value: object = "x"
    for _ in range(levels):
        value = [value]
    assert destructive_content(value) is found


def test_a_deep_text_counts_as_a_removal() -> None:
    """JSON in a text cannot exhaust the scan either."""
    assert destructive_content({"body": "[" * 100_000 + "]" * 100_000})


def test_a_status_that_nests_without_end_counts_as_a_removal() -> None:
    """A status too deep to be read is not assumed to be in use."""
    value: object = "active"
    for _ in range(40):
        value = {"coding": value}
    assert destructive_content({"status": value})


class _Breaking(Mapping[str, object]):
    """An object that throws while it is looked at."""

    def __getitem__(self, key: str) -> object:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("no")

    def __len__(self) -> int:
        return 1


def test_what_breaks_the_scan_counts_as_a_removal() -> None:
    """The scan is total: a value that throws while it is looked at is asked about."""
    assert destructive_content({"x": _Breaking()})
