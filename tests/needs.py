"""What a test needs of its machine: without it the test is skipped, or fails where nothing may be missing."""

from __future__ import annotations

import os

import pytest

#: With this set nothing may be missing.
EVERYTHING = "CI"


def needs(missing: str | None, *also_required_by: str) -> None:
    """Go on only with what is needed.

    Args:
        missing: what is not here, and how to get it; None or empty where all of it is.
        also_required_by: variables that require it too, beside ``CI``.
    """
    if not missing:
        return
    if any(os.environ.get(name) for name in (EVERYTHING, *also_required_by)):
        pytest.fail(f"{missing}; CI has to have it")
    pytest.skip(missing)
