"""The HTTP edge: the same runs for browsers and programs.

``app`` wires it; ``routes`` say what can be asked; ``auth`` who asks; ``access`` what they may see; ``live``
tells many streams of one run; ``problems`` and ``reading`` are the one way errors go out and bodies come in.

Law: nothing is decided here. A request becomes one of the verbs of ``condor.bootstrap.Condor``.

Names are loaded when they are first asked for: a command looks for a running server without its libraries.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from condor.server.app import create_app
    from condor.server.auth import AuthSettings
else:
    _HOME_OF = {"AuthSettings": "condor.server.auth", "create_app": "condor.server.app"}

    def __getattr__(name: str) -> object:
        """Load a public name at its first use."""
        if name not in _HOME_OF:
            raise AttributeError(f"module 'condor.server' has no attribute {name!r}")
        found = globals()[name] = getattr(_import_module(_HOME_OF[name]), name)
        return found


__all__ = ["AuthSettings", "create_app"]
