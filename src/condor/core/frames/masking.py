"""Secrets are masked wherever a call is shown: on cards, in streams, in listings.

Law: a key that names a secret hides its value at any depth. What is stored, hashed and run stays raw.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from condor.core.ids import Json

MASK = "•••"
_SECRET = re.compile(r"pass(word|wd|phrase)|secret|token|api_?key|credential|private_?key", re.IGNORECASE)


def masked(value: Json) -> Json:
    """``value`` with every member whose key names a secret replaced, at any depth."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {
            key: MASK if isinstance(key, str) and _SECRET.search(key) and item is not None else masked(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [masked(item) for item in value]
    return value
