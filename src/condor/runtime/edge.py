"""What a caller may hand in, checked before anything is stored.

Law: one line says what is wrong and what to do; a refused input changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.errors import RefusedInput, show
from condor.core.ids import SessionId
from condor.core.outcome import is_json
from condor.core.suspend.approval_schema import REASON_CHARS_MAX
from condor.ports.encoding import BODY_BYTES_MAX

if TYPE_CHECKING:
    from condor.core.run import Principal

#: Longest session id, in characters: chat clients make ids of 16 to 64.
_SESSION_CHARS_MAX = 200


def check_request(request: str | None, plan: object) -> None:
    """Exactly one of a request in words and a plan; a request that can be kept.

    Raises:
        RefusedInput: what is wrong.
    """
    if (request is None) == (plan is None):
        raise RefusedInput("give a request or a plan: exactly one of the two")
    if request is None:
        return
    if not isinstance(request, str) or not request.strip():
        raise RefusedInput("the request is empty; say what should be done")
    if len(request.encode("utf-8", "replace")) > BODY_BYTES_MAX:
        raise RefusedInput(f"the request has more than {BODY_BYTES_MAX} bytes", code="too_large")
    if not is_json(request):
        raise RefusedInput("the request holds a lone surrogate, which is no character")


def session_of(given: str | None) -> SessionId | None:
    """The session that is to own a run; None where it gets its own.

    Raises:
        RefusedInput: it cannot be kept.
    """
    if not given:
        return None
    if not isinstance(given, str) or len(given) > _SESSION_CHARS_MAX or not given.isprintable():
        raise RefusedInput(
            f"session id {show(given)} cannot be kept: take 1 to {_SESSION_CHARS_MAX} printable characters"
        )
    return SessionId(given)


def allowed_autonomy(autonomy: object, principal: Principal) -> str:
    """The autonomy a run gets: a known word, and never autonomous for a program.

    Raises:
        RefusedInput: the word is unknown.
    """
    if not isinstance(autonomy, str) or autonomy not in ("autonomous", "guarded", "ambient"):
        raise RefusedInput(
            f"autonomy {show(autonomy)} is unknown; take autonomous, guarded or ambient",
            code="unknown_autonomy",
        )
    return "guarded" if autonomy == "autonomous" and principal.kind != "person" else autonomy


def check_reason(reason: str) -> None:
    """The reason for a stop: text that can be kept, no longer than one of an answer.

    Raises:
        RefusedInput: what is wrong.
    """
    if not isinstance(reason, str) or not is_json(reason):
        raise RefusedInput("the reason is no text that can be kept")
    if len(reason) > REASON_CHARS_MAX:
        raise RefusedInput(f"the reason has {len(reason)} characters; at most {REASON_CHARS_MAX}")
