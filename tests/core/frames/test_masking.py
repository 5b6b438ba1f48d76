"""Secrets are masked at any depth, and nothing else is changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from condor.core.frames.masking import MASK, masked
from tests.core.strategies import json_values


@pytest.mark.parametrize(
    "key",
    ["password", "Passwd", "passphrase", "clientSecret", "ACCESS_TOKEN", "apiKey", "api_key", "private_key"],
)
def test_a_secret_is_masked_at_any_depth(key: str) -> None:
    """Whatever its kind is, and however deep it stands."""
    value: Any = {"a": [{"b": {key: {"deep": 1}}}, ({key: "x"},)]}
    assert masked(value) == {"a": [{"b": {key: MASK}}, [{key: MASK}]]}


def test_what_is_not_there_is_not_masked() -> None:
    """A null says that nothing was given."""
    assert masked({"password": None, "dose": "5 mg"}) == {"password": None, "dose": "5 mg"}


@given(json_values)
def test_masking_is_idempotent(value: Any) -> None:
    """What was masked once is as it stays."""
    assert masked(masked(value)) == masked(value)
