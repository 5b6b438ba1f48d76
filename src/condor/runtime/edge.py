"""What a caller may hand in, checked before anything is stored.

Law: one line says what is wrong and what to do; a refused input changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from condor.core.errors import RefusedInput, show
from condor.core.ids import SessionId, digest_of
from condor.core.outcome import is_json
from condor.core.suspend.approval_schema import REASON_CHARS_MAX
from condor.ports.encoding import BODY_BYTES_MAX
from condor.ports.model import QuotedText
from condor.ports.store import RequestClaim

if TYPE_CHECKING:
    from condor.core.ids import Json
    from condor.core.run import Principal
    from condor.ports.messages import Message
    from condor.pump.phases.admit import StartRun

#: Longest key of a request, in characters: a UUID has 36, a chat's id and message's id together 140.
_KEY_CHARS_MAX = 255
#: Longest name of where a quoted text is from, in characters: the path of a file.
_SOURCE_CHARS_MAX = 1_000
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


def quoted_of(given: Mapping[str, str]) -> tuple[QuotedText, ...]:
    """Texts that a request is about, by where they are from, as they can be kept.

    Raises:
        RefusedInput: what is wrong with them.
    """
    if not isinstance(given, Mapping) or not all(
        isinstance(word, str) and is_json(word) for pair in given.items() for word in pair
    ):
        raise RefusedInput("quoted is no mapping of texts by where they are from, or holds a lone surrogate")
    if any(len(source) > _SOURCE_CHARS_MAX for source in given):
        raise RefusedInput(f"a quoted text is from a place of more than {_SOURCE_CHARS_MAX} characters")
    if any(not source.strip() or not source.isprintable() for source in given):
        raise RefusedInput("a quoted text is from a place without a name, or one that cannot be seen whole")
    if sum(len(text.encode()) for text in given.values()) > BODY_BYTES_MAX:
        raise RefusedInput(f"the quoted texts have more than {BODY_BYTES_MAX} bytes", code="too_large")
    return tuple(QuotedText(source=source, text=text) for source, text in given.items())


class WayIn(Protocol):
    """What every text that comes in passes; ``processors.InputChain`` is one."""

    def process(self, text: str) -> Message:
        """The text as it is kept.

        Raises:
            RefusedInput: it may not come in.
        """
        ...


def let_in(
    way: WayIn, request: str | None, quoted: Mapping[str, str] | None
) -> tuple[str | None, dict[str, Json], tuple[QuotedText, ...]]:
    """A request, what was found in it, and the texts that it is about: each passed the same way in.

    Raises:
        RefusedInput: one of them may not come in; it says which.
    """
    message = None if request is None else way.process(request)
    findings: dict[str, Json] = dict(message.findings) if message is not None else {}
    passed, found = [], []
    for one in quoted_of(quoted) if quoted else ():
        try:
            read = way.process(one.text)
        except RefusedInput as refusal:
            why = str(refusal).replace("the request", "it", 1)
            raise RefusedInput(
                f"the text quoted from {show(one.source)} may not come in: {why}", code=refusal.code
            ) from refusal
        passed.append(QuotedText(source=one.source, text=read.text))
        found.append(dict(read.findings))
    if any(found):
        # By number: a source is a word of the caller's, and findings are none.
        findings["quoted"] = found
    return (None if message is None else message.text), findings, tuple(passed)


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


def claiming(key: str | None, wanted: StartRun) -> StartRun:
    """A request with what it claims under its key; as it is without one.

    Raises:
        RefusedInput: the key, or what is asked, cannot be kept.
    """
    if key is None:
        return wanted
    check_key(key)
    asked: dict[str, object] = {
        "request": wanted.request,
        "plan": wanted.plan,
        "autonomy": wanted.autonomy,
        "sessionId": wanted.session_id,
    }
    if wanted.quoted:
        asked["quoted"] = {one.source: one.text for one in wanted.quoted}
    try:
        digest = digest_of(asked)
    except ValueError as fault:
        raise RefusedInput(f"what is asked cannot be kept: {fault}") from None
    claim = RequestClaim(principal_id=wanted.principal.id, key=key, digest=digest)
    return replace(wanted, claim=claim)


def check_key(key: str) -> None:
    """The caller's own word for one request.

    Raises:
        RefusedInput: it cannot be kept.
    """
    if not 0 < len(key) <= _KEY_CHARS_MAX or not (key.isascii() and key.isprintable()):
        raise RefusedInput(
            f"the idempotency key cannot be kept: take 1 to {_KEY_CHARS_MAX} printable ASCII characters"
        )


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
