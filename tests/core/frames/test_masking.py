"""Secrets are masked at any depth, and nothing else is changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor.core.frames.masking import MASK, is_bare, masked, masked_members
from condor.ports.encoding import decode, encode
from tests.core.strategies import json_values

#: What keys and texts with secrets in them are made of, and what looks like it.
_PIECES = (
    *("pass", "word", "Wd", "PHRASE", "pwd", "Secret", "token", "api", "private", "_", "-", "key", "KEY"),
    *("credential", "Authorization", "proxy", "bearer ", "basic ", "=", ":", " ", '"', "'", "\\", "\n", "x"),
    *("https", "://", "user", "@", "host", "/", "\u017f", "\u212a", "\u0131", "\u0130", "\u00e9"),
)
pieced = st.lists(st.sampled_from(_PIECES), max_size=6).map("".join)
with_secrets = st.recursive(
    st.one_of(st.integers(0, 9), st.none(), pieced),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(pieced, inner, max_size=3)),
    max_leaves=6,
)


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


@given(with_secrets)
def test_what_is_bare_has_nothing_to_mask(value: Any) -> None:
    """Where a look at its bytes finds no secret, masking changes nothing."""
    body = encode(value)
    assert not is_bare(body) or masked(decode(body)) == decode(body)


@pytest.mark.parametrize(
    ("value", "bare"),
    [
        ({"key": "k1", "amount": 42, "rapid": "insulin"}, False),
        ({"key": "k1", "amount": 42, "sha256": "ab"}, True),
        ({"dose": "5 mg", "passport": "seen"}, False),
        ({"drug": "insulin api-grade"}, True),
        ({"name": "Jos\u00e9"}, False),
        ({"X-API_Key": 1}, False),
    ],
)
def test_what_may_be_a_secret_is_not_bare(value: Any, bare: bool) -> None:
    """Most records are bare; what only looks like a secret is walked."""
    assert is_bare(encode(value)) is bare


def test_a_secret_in_escaped_letters_is_not_bare() -> None:
    """Whoever wrote the row, and however: its members are looked at."""
    assert not is_bare(rb'{"\u0070ass\u0077ord": "hunter2"}')
    assert not is_bare(rb'{"at": "redis:\/\/u:hunter2@h"}')


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
