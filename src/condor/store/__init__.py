"""Stores: what makes a unit of work durable. Chosen in ``bootstrap`` only."""
