"""The sinks that the settings name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from condor.config import Settings
    from condor.ports.sinks import AuditSink


def sinks_of(settings: Settings) -> tuple[AuditSink, ...]:
    """None where nothing is set; nothing is opened or reached."""
    sinks: list[AuditSink] = []
    # Slow to load, and most processes have none.
    if settings.sink_file:
        from condor.sinks.lines import JsonLines

        sinks.append(JsonLines(Path(settings.sink_file)))
    if settings.sink_url:
        from condor.sinks.webhook import Webhook

        sinks.append(Webhook(settings.sink_url, settings.sink_key.get_secret_value()))
    return tuple(sinks)


__all__ = ["sinks_of"]
