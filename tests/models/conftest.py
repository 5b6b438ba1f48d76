"""Ledgers for runs whose plans a model makes."""

from pathlib import Path

import pytest

from condor.testing import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """An outside system that counts its effects."""
    return Ledger(tmp_path / "ledger.db")
