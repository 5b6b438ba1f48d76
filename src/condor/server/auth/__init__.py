"""Who asks: people by a session cookie, programs by a bearer token, streams by a one-use ticket.

Law 1: a secret is kept as its hash, compared by it, shown once, and in no address or log.
Law 2: a program is at most guarded and answers nothing; nobody becomes another by naming them.
"""

from condor.server.auth.programs import SCOPES, TokenMade, make_token, token_json
from condor.server.auth.settings import AuthMode, AuthSettings, check_binding
from condor.server.auth.who import Caller, Gate

__all__ = [
    "SCOPES",
    "AuthMode",
    "AuthSettings",
    "Caller",
    "Gate",
    "TokenMade",
    "check_binding",
    "make_token",
    "token_json",
]
