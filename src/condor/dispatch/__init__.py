"""Where segments run: in this process (``local``)."""

from condor.dispatch.local import LocalDispatcher

__all__ = ["LocalDispatcher"]
