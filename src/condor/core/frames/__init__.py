"""Frames: what a client is shown, projected from events and payloads. No frame decides anything."""
