"""Stores: what makes a unit of work durable. Chosen in ``bootstrap`` only."""

from condor.store.sqlite import SqliteStore

__all__ = ["SqliteStore"]
