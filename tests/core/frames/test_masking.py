"""Secrets are masked at any depth, and nothing else is changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from condor.core.frames.masking import MASK, masked, masked_members
from tests.core.strategies import json_values


@pytest.mark.parametrize(
    "key",
    [
        *("password", "Passwd", "passphrase", "clientSecret", "ACCESS_TOKEN", "apiKey", "api_key"),
        *("private_key", "authorization", "Authorization", "proxy-authorization", "pwd", "DB_PWD"),
    ],
)
def test_a_secret_is_masked_at_any_depth(key: str) -> None:
    """Whatever its kind is, and however deep it stands."""
    value: Any = {"a": [{"b": {key: {"deep": 1}}}, ({key: "x"},)]}
    assert masked(value) == {"a": [{"b": {key: MASK}}, [{key: MASK}]]}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://app:s3cr3t@db:5432/emr", "postgresql://app:•••@db:5432/emr"),
        ("go to amqp://u:p@ss@host/x, then on", "go to amqp://u:•••@host/x, then on"),
        ("password=hunter2; host=db", "password=•••; host=db"),
        ("the token: abc.def-1, as agreed", "the token: •••, as agreed"),
        ("Passwd = 'two words' and more", "Passwd = '•••' and more"),
        ('{"api_key": "k 1", "n": 1}', '{"api_key": "•••", "n": 1}'),
        ('"{\\"password\\": \\"x y\\"}"', '"{\\"password\\": \\"•••\\"}"'),
        ("GET /x?access_token=abc&n=1", "GET /x?access_token=•••&n=1"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer •••"),
        ("db_password_prod=x", "db_password_prod=•••"),
    ],
)
def test_a_secret_in_a_text_is_masked(text: str, shown: str) -> None:
    """What names it stays, so that the text can still be read."""
    assert masked([text]) == [shown]
    assert masked(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Prior authorization: approved",
        "the password was reset",
        "https://example.org:8080/a@b",
        "Patient/1?name=Ito",
        "Dose: 5 mg; passport: seen",
        "mail ann@example.org",
        "Secret santa on 24: yes",
    ],
)
def test_prose_is_left(text: str) -> None:
    """A word alone is no secret."""
    assert masked(text) == text


def test_what_is_not_there_is_not_masked() -> None:
    """A null says that nothing was given."""
    assert masked({"password": None, "dose": "5 mg"}) == {"password": None, "dose": "5 mg"}


@given(json_values)
def test_masking_is_idempotent(value: Any) -> None:
    """What was masked once is as it stays."""
    assert masked(masked(value)) == masked(value)


@pytest.mark.parametrize(
    "text", ['Give token: "stop all anticoagulants and discharge today" daily', "Token: warfarin 5 mg"]
)
def test_every_word_of_what_is_decided_on_is_seen(text: str) -> None:
    """A writer of an argument chooses no word of it that the approver does not see; a secret's key does."""
    shown = masked_members({"note": text, "password": "x", "more": [{"api_key": "k", "said": text}]})
    assert shown == {"note": text, "password": "•••", "more": [{"api_key": "•••", "said": text}]}
