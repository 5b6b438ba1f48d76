"""Names of what is derived from a run: the same run gives the same ids, so a repetition doubles nothing."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["derived_id", "references_in"]

_NAMESPACE = uuid.UUID("9d5b1c52-6f0e-4d0a-8a44-1d0b0f5a7c11")
_REFERENCE = re.compile(r"[A-Z][A-Za-z]{2,63}/[A-Za-z0-9\-.]{1,64}")


def derived_id(*parts: object) -> str:
    """The id of a derived resource; a UUID, so that it is a full URL too."""
    return str(uuid.uuid5(_NAMESPACE, "/".join(map(str, parts))))


def references_in(value: object) -> Iterator[str]:
    """Every `Type/id` among the arguments of a call, in order."""
    if isinstance(value, str):
        if _REFERENCE.fullmatch(value):
            yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from references_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from references_in(part)
