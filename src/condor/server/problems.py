"""Errors as problem details (RFC 9457): one table says what each code means to a caller.

Law 1: total. Every error of the tree has a row by its code or by its nearest ancestor's; a test walks it.
Law 2: a problem names the place of a fault, never the value that stood there.
Law 3: what is unknown and what is not yours read the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from condor.core import errors
from condor.ports.encoding import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import ValidationError

    from condor.core.ids import Json

MEDIA_TYPE: Final = "application/problem+json"
#: Faults of one body that are named; a caller mends a few at a time.
_FAULTS_MAX: Final = 20
#: Longest piece of a place that is named, in characters.
_PLACE_CHARS_MAX: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemKind:
    """One row: what a stable code means."""

    #: HTTP status.
    status: int
    #: The same words for every problem of this code.
    title: str
    #: Why it happens.
    cause: str
    #: What a caller can do.
    remedy: str


def _kind(status: int, title: str, cause: str, remedy: str) -> ProblemKind:
    return ProblemKind(status=status, title=title, cause=cause, remedy=remedy)


_WRITE_AGAIN: Final = "Mend the place that `errors` or `at` names and send it again; nothing was stored."
_REPORT: Final = "Report it with the run id; the run's record is as the audit says."
_LOOK: Final = "Read the run; answer what is open there, if anything is."

#: Every code there is.
PROBLEMS: Final[Mapping[str, ProblemKind]] = {
    # 400: not even a request
    "too_deep": _kind(400, "Nested too deep", "A body nests deeper than 32 levels.", "Send a flatter body."),
    "secret_in_url": _kind(
        400,
        "A secret in the address",
        "A token stood in the query, where logs and histories keep it.",
        "Send it as `Authorization: Bearer`; for a stream take a one-use ticket (`POST /api/tickets`). "
        "Revoke the one you sent.",
    ),
    "unknown_host": _kind(
        400,
        "Not a name of this server",
        "The Host header names another server than this (DNS rebinding looks like this).",
        "Use the address that the server printed, or set CONDOR_PUBLIC_URL.",
    ),
    # 401
    "not_signed_in": _kind(
        401,
        "Not signed in",
        "No session, token or ticket that counts: missing, expired, revoked or used.",
        "Sign in (`POST /api/session`), or send a token that `condor token create` made.",
    ),
    # 403
    "forbidden": _kind(
        403, "Not allowed", "Your role does not do this.", "Ask somebody whose role does; see `detail`."
    ),
    "not_an_approver": _kind(
        403,
        "Not yours to decide",
        "The card takes another role, or another person than who asked; programs, auditors and admins answer "
        "nothing.",
        "Ask one of the roles in the card's `answerRoles`.",
    ),
    "missing_scope": _kind(
        403,
        "The token is not for this",
        "A program's token was made without the scope that this needs.",
        "Make a token with that scope (`condor token create`).",
    ),
    "foreign_origin": _kind(
        403,
        "From another site",
        "A browser sent this from a page that is not ours (Origin, Sec-Fetch-Site).",
        "Use the console of this server; programs send no Origin.",
    ),
    # 404, 405
    "not_found": _kind(
        404,
        "Not found",
        "There is no such thing, or none that you may see.",
        "Check the id; list what you may see.",
    ),
    "method_not_allowed": _kind(
        405, "Not that way", "The path is there, for another method.", "See the `Allow` header."
    ),
    # 408, 413, 415, 429: how a request arrives
    "too_slow": _kind(
        408, "Too slow", "The body did not arrive in time.", "Send it at once, with its Content-Length."
    ),
    "too_large": _kind(
        413, "Too large", "A body has at most 256 KB.", "Send less; a chat needs only its last message."
    ),
    "not_json": _kind(
        415,
        "Not JSON",
        "What changes state takes `application/json` in UTF-8 and nothing else.",
        "Set `Content-Type: application/json`.",
    ),
    "too_many_streams": _kind(
        429,
        "Too many streams",
        "You, or all together, hold as many open streams as there may be.",
        "Close one; try again after `Retry-After` seconds.",
    ),
    "too_many_requests": _kind(
        429,
        "Too many refused tries",
        "Too many tries that were refused, one after the other.",
        "Wait `Retry-After` seconds.",
    ),
    # 409: the world is otherwise
    "already_decided": _kind(
        409, "Already decided", "Another answer won; yours changed nothing.", "See `decidedBy`."
    ),
    "stale_suspension": _kind(
        409,
        "The card is stale",
        "What it showed is no longer what would run; nothing ran.",
        "Look at the new card (`nextSuspendId`) and answer that.",
    ),
    "expired": _kind(
        409, "Expired", "The card's deadline has passed; nothing ran.", "Ask again in a new run."
    ),
    "answer_refused": _kind(409, "The answer does not count", "The card is as it was.", _LOOK),
    "run_not_suspended": _kind(409, "Nothing to answer", "The run waits for nothing.", _LOOK),
    "run_not_active": _kind(409, "The run has ended", "There is nothing to stop.", "Read how it ended."),
    "run_active": _kind(
        409,
        "The run goes on",
        "The chat's last run has not ended, so it cannot be asked again.",
        "Answer or stop it first.",
    ),
    "not_editable": _kind(
        409,
        "Not to be edited",
        "The card is no approval of a call, or its tool allows no edit.",
        "Deny it with a reason and ask anew; a card that takes an edit has an `editSchema`.",
    ),
    # 422: what was said cannot be taken
    "invalid_input": _kind(422, "Not understood", "The input does not have its shape.", _WRITE_AGAIN),
    "malformed_json": _kind(
        422,
        "No JSON that can be kept",
        "Broken JSON, NaN, a lone surrogate, or a number beyond 2**53.",
        _WRITE_AGAIN,
    ),
    "duplicate_key": _kind(422, "A key twice", "An object says one key twice.", "Say it once."),
    "invalid_answer": _kind(
        422, "Not an answer to this card", "The answer does not have the card's `resumeSchema`.", _WRITE_AGAIN
    ),
    "invalid_edit": _kind(
        422,
        "Not an edit of this card",
        "It names an argument that may not be edited, gives it a value that it does not take, or changes "
        "nothing.",
        "See the card's `editSchema`; the card stays as it was.",
    ),
    "invalid_plan": _kind(422, "Not a plan", "The plan cannot be read or compiled.", _WRITE_AGAIN),
    "cyclic_plan": _kind(422, "A plan in a circle", "Steps wait for each other.", _WRITE_AGAIN),
    "unknown_tool": _kind(
        422, "No such tool", "A step names a tool that is not there.", "See `GET /api/tools`."
    ),
    "unknown_argument": _kind(
        422,
        "No such argument",
        "A call has an argument that its tool does not take.",
        "See `GET /api/tools`.",
    ),
    "unknown_autonomy": _kind(
        422, "No such autonomy", "Autonomy is autonomous, guarded or ambient.", "Take one of the three."
    ),
    "idempotency_key_reused": _kind(
        422,
        "The key was used",
        "The Idempotency-Key was sent before with another body.",
        "Take a new key for a new request.",
    ),
    "request_not_understood": _kind(
        422, "No plan for that", "The planner has no plan for this request.", "Say it as `detail` offers."
    ),
    "kernel_loosens": _kind(
        422,
        "A kernel only tightens",
        "The kernel would lower a tier, widen who may approve, or take off what holds without saying why.",
        "Do what `detail` says; what a tool's author declared is changed in its descriptor.",
    ),
    "kernel_moved": _kind(
        409,
        "Another revision came first",
        "The kernel was changed after it was read.",
        "Read it again and send the revision that is there now.",
    ),
    "message_refused": _kind(
        422,
        "A message processor refused it",
        "A processor that this server is configured with does not let the request pass.",
        "Say it without what `detail` names.",
    ),
    "model_unavailable": _kind(
        503,
        "The model cannot be asked",
        "The model that plans is away, busy, refuses the key or gave nothing that can be used; nothing ran.",
        "Try again, give a plan, or look at `CONDOR_MODEL_*` (`condor doctor`).",
    ),
    "registration_refused": _kind(
        422, "Not a tool", "A descriptor contradicts itself or another one.", "Mend the descriptor."
    ),
    # 5xx: ours
    "error": _kind(500, "An error of ours", "Condor did not expect this.", _REPORT),
    "bug": _kind(500, "An error of ours", "An invariant of Condor does not hold.", _REPORT),
    "leaf_contract": _kind(500, "An error of ours", "A leaf returned what is no outcome.", _REPORT),
    "transition_refused": _kind(
        500, "An error of ours", "A run was to make a transition that the table does not have.", _REPORT
    ),
    "tool_error": _kind(
        502,
        "A tool failed",
        "A tool raised outside a run.",
        "Look at the tool's own log; a run says it in its step.",
    ),
    "record_moved": _kind(
        409, "The record moved", "The record changed since it was shown; nothing was written.", _LOOK
    ),
    "damaged": _kind(
        500,
        "The record is damaged",
        "Something else than Condor changed the database; this row says what no run says.",
        "Run `condor audit verify` on the server's machine, and take a backup's copy.",
    ),
    "environment": _kind(
        503,
        "Not usable now",
        "A lock, permissions, or a database of a newer version is in the way.",
        "See `condor doctor` on the server's machine.",
    ),
    "store_unavailable": _kind(
        503,
        "The store took nothing",
        "The database did not take the transaction; nothing of it is there.",
        "Try again after `Retry-After` seconds.",
    ),
}

#: Headers that a code brings along.
_HEADERS: Final[Mapping[str, Mapping[str, str]]] = {
    "not_signed_in": {"www-authenticate": "Bearer"},
    "too_slow": {"connection": "close"},
    "store_unavailable": {"retry-after": "1"},
    "too_many_streams": {"retry-after": "10"},
    "too_many_requests": {"retry-after": "10"},
}


class Refused(Exception):
    """A request that ends at the edge, with the code of its problem."""

    def __init__(self, code: str, detail: str = "", **more: Json) -> None:
        """Refuse.

        Args:
            detail: this case, in one line; without it the row's cause.
            more: further members of the problem, and with ``allow`` the header of that name.
        """
        super().__init__(detail or PROBLEMS[code].cause)
        self.code = code
        self.more = more


def code_of(error: errors.CondorError) -> str:
    """The code of an error that stands in the table: its own, or its nearest ancestor's."""
    if error.code in PROBLEMS:
        return error.code
    named = (str(getattr(kind, "code", "")) for kind in type(error).__mro__)
    return next(code for code in named if code in PROBLEMS)


def problem(code: str, detail: str, more: Mapping[str, Json] | None = None) -> Response:
    """The response of one problem."""
    kind = PROBLEMS[code]
    members = {name: value for name, value in (more or {}).items() if name != "allow"}
    body: dict[str, Json] = {
        "type": f"urn:condor:problem:{code}",
        "title": kind.title,
        "status": kind.status,
        "code": code,
        "detail": detail,
        **members,
    }
    headers = dict(_HEADERS.get(code, {}))
    if more and "allow" in more:
        headers["allow"] = str(more["allow"])
    return Response(encode(body), status_code=kind.status, media_type=MEDIA_TYPE, headers=headers)


def problem_of(error: errors.CondorError) -> Response:
    """What a caller is told of an error of ours."""
    return problem(*told_of(error))


def told_of(error: errors.CondorError) -> tuple[str, str, Mapping[str, Json]]:
    """What may be told of an error of ours, in whatever form: code, one sentence, and members beside it."""
    code = code_of(error)
    match error:
        case errors.UnknownId():
            return code, f"there is no such {error.kind}, or none that you may see", {}
        case errors.AlreadyDecided():
            decided: dict[str, Json] = {
                "decision": error.decision,
                "decidedBy": error.decided_by,
                "decidedAt": error.decided_at,
            }
            return code, str(error), decided
        case errors.StaleSuspension():
            follow = {"nextSuspendId": error.next_suspend_id} if error.next_suspend_id else {}
            return code, str(error), {"cause": error.cause, **follow}
        case errors.AnswerInvalid():
            return code, str(error), {"at": error.path} if error.path else {}
        case errors.PlanRefused():
            return code, _without_values(str(error)), {"at": error.path}
        case errors.OurBug() | errors.ToolError():
            return code, PROBLEMS[code].cause, {}
        case errors.RefusedInput():
            return code, _without_values(str(error)), {}
        case errors.AnswerRefused():
            return code, str(error), {}
        case _:
            # The environment's own words name files of the server.
            return code, PROBLEMS[code].cause, {}


#: What ``errors.show`` quotes: a literal that does not begin or end inside a word.
_QUOTED: Final = re.compile(r"""(?<!\w)(?:'(?:[^'\\]|\\.)*['…]|"(?:[^"\\]|\\.)*["…])(?!\w)""")


def _without_values(message: str) -> str:
    """A message whose quoted foreign values are taken out; the place stands beside it."""
    return _QUOTED.sub("(what stands there)", message)


def faults_of(invalid: ValidationError) -> list[Json]:
    """Where a body is wrong and why, without what stood there: an unknown key is the body's own word too."""
    found = invalid.errors(include_url=False, include_context=False, include_input=False)
    told: dict[tuple[str, str], None] = {}
    for fault in found:
        if fault["type"] == "extra_forbidden":
            told[_pointer(fault["loc"][:-1]), "a key is not known here; see the API reference"] = None
        else:
            told[_pointer(fault["loc"]), _why(fault["msg"])] = None
    return [{"at": at, "why": why} for at, why in list(told)[:_FAULTS_MAX]]


def _pointer(loc: tuple[int | str, ...]) -> str:
    return "".join(f"/{_token(piece)}" for piece in loc)


def _token(piece: int | str) -> str:
    text = ascii(str(piece))[1:-1].replace("~", "~0").replace("/", "~1")
    return text if len(text) <= _PLACE_CHARS_MAX else text[: _PLACE_CHARS_MAX - 1] + "~"


def _why(message: str) -> str:
    return message[:1].lower() + message[1:]


__all__ = [
    "MEDIA_TYPE",
    "PROBLEMS",
    "ProblemKind",
    "Refused",
    "code_of",
    "faults_of",
    "problem",
    "problem_of",
]
