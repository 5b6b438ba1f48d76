"""Outside sinks of the audit: a file of JSON lines, and a webhook."""

from condor.sinks.opening import sinks_of

__all__ = ["sinks_of"]
