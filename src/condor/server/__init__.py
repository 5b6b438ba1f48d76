"""The HTTP edge: the same runs for browsers and programs.

``app`` wires it; ``routes`` say what can be asked; ``auth`` who asks; ``access`` what they may see; ``live``
tells many streams of one run; ``problems`` and ``reading`` are the one way errors go out and bodies come in.

Law: nothing is decided here. A request becomes one of the verbs of ``condor.bootstrap.Condor``.
"""

from condor.server.app import create_app
from condor.server.auth import AuthSettings

__all__ = ["AuthSettings", "create_app"]
