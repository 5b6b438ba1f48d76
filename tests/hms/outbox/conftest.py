"""The hospital of the catalogue's tests."""

from tests.hms.catalogue.conftest import demo_record, desk

__all__ = ["demo_record", "desk"]
