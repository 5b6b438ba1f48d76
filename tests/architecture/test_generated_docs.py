"""The generated pages are what the code says today."""

from __future__ import annotations

import pytest

from docs.generate import PAGES, REFERENCE


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_current(name: str) -> None:
    """A table that changed shows in the documentation: run `make docs`."""
    assert PAGES[name]() == (REFERENCE / name).read_text(encoding="utf-8")


def test_nothing_else_claims_to_be_generated() -> None:
    """A page without its generator would rot."""
    assert {path.name for path in REFERENCE.iterdir()} == set(PAGES)
