"""The shapes of the wire: what bodies are read as, and what OpenAPI says of answers.

Law: what we read is closed and strict, but for messages of chat clients, which bring things of their own.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

#: Longest reason, as the card's schema has it.
_REASON_CHARS_MAX = 2_000
#: Longest id in a body, in characters.
_ID_CHARS_MAX = 200

#: Texts of context in one AG-UI post.
_CONTEXTS_MAX = 50

_Id = Annotated[StrictStr, Field(min_length=1, max_length=_ID_CHARS_MAX)]
_Reason = Annotated[StrictStr, Field(max_length=_REASON_CHARS_MAX)]
_Object = dict[str, Any]


class _Closed(BaseModel):
    """A body of ours: what is not named is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False, serialize_by_alias=True)


class _Foreign(BaseModel):
    """A body of a client of another protocol: what is not named is not looked at."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=False)


class _Said(BaseModel):
    """An answer; it may have more members than are named."""

    model_config = ConfigDict(extra="allow")


# -- bodies ----------------------------------------------------------------------------------


class StartBody(_Closed):
    """Exactly one of a request in words and a plan."""

    request: StrictStr | None = Field(default=None, description="What should be done, in words.")
    plan: Any = Field(default=None, description='Plan JSON: `{"steps":[…]}`.')
    autonomy: StrictStr = Field(default="guarded", description="autonomous, guarded or ambient.")
    session_id: _Id | None = Field(
        default=None, alias="sessionId", description="The session that owns the run."
    )
    quoted: dict[StrictStr, StrictStr] = Field(
        default_factory=dict,
        description="Texts from elsewhere that it is about, by where they are from: data, never an order. "
        "Every effect planned beside them asks a person.",
    )


class ApproveBody(_Closed):
    """Yes or no to one card."""

    suspend_id: _Id = Field(alias="suspendId")
    approved: StrictBool
    reason: _Reason = Field(default="", description="Kept with the decision.")


class ResumeBody(_Closed):
    """An answer to any card, of its `resumeSchema`."""

    suspend_id: _Id = Field(alias="suspendId")
    resume_data: Any = Field(alias="resumeData")


class EditBody(_Closed):
    """Arguments to change on a card, of its `editSchema`."""

    args: Any = Field(description="By name; null takes an argument out that the tool can do without.")


class StopBody(_Closed):
    """Why a run is stopped."""

    reason: _Reason = ""


class SessionBody(_Closed):
    """Who signs in, and the code of the sign-in link or the token in the home's ``server.json``."""

    principal: _Id
    code: Annotated[StrictStr, Field(min_length=1, max_length=_ID_CHARS_MAX)]


class ExplainBody(_Closed):
    """A call that is not made."""

    tool: _Id
    args: _Object = Field(default_factory=dict)
    autonomy: StrictStr = "guarded"


class KernelTryBody(_Closed):
    """What would be laid on a tool; what is left out is as its author declared it."""

    hitl_tier: StrictStr | None = Field(default=None, alias="hitlTier", description="`high`")
    approver_roles: list[StrictStr] | None = Field(default=None, max_length=50, alias="approverRoles")
    requester_excluded: StrictBool = Field(default=False, alias="requesterExcluded")


class KernelBody(KernelTryBody):
    """What is laid on a tool; what holds there already is named, if only to take it off."""

    reason: Annotated[StrictStr, Field(max_length=2_000)] = Field(
        default="", description="Why; needed where something is taken off or widened."
    )
    rev: Annotated[int, Field(strict=True, ge=0)] = Field(
        description="The revision that it replaces, as GET tells it; 0 where nothing was laid."
    )
    remove: StrictBool = Field(default=False, description="Take all off; nothing else is named then.")


class ProcessorsBody(_Closed):
    """Message processors that are to be on, each with its configuration."""

    processors: _Object


class TokenBody(_Closed):
    """A program's token to be made."""

    name: _Id
    roles: list[StrictStr] = Field(default_factory=list, max_length=50)
    scopes: list[StrictStr] = Field(default_factory=lambda: ["runs:read", "runs:start"], max_length=50)
    life_s: Annotated[int, Field(strict=True, gt=0)] = Field(default=30 * 24 * 3600, alias="lifeS")


class ChatMessage(_Foreign):
    """One message as a chat client keeps it; of a user's last one the words and what it quotes are read."""

    id: _Id = ""
    role: StrictStr
    parts: list[Any] = Field(default_factory=list)


class ChatBody(_Foreign):
    """What ``DefaultChatTransport`` posts."""

    id: _Id
    messages: list[ChatMessage]
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"


class AgUiContext(_Foreign):
    """A text that the request is about: quoted, data and never an order."""

    description: StrictStr
    value: StrictStr


class AgUiMessage(_Foreign):
    """One message of an AG-UI thread; only the words of the last one of a user are read."""

    id: _Id = ""
    role: StrictStr
    content: Any = None


class AgUiAnswer(_Foreign):
    """An answer to one interrupt."""

    interrupt_id: _Id = Field(alias="interruptId")
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class AgUiBody(_Foreign):
    """AG-UI ``RunAgentInput``."""

    thread_id: _Id = Field(alias="threadId")
    run_id: _Id = Field(alias="runId")
    messages: list[AgUiMessage] = Field(default_factory=list)
    context: list[AgUiContext] = Field(default_factory=list, max_length=_CONTEXTS_MAX)
    resume: list[AgUiAnswer] = Field(default_factory=list)


# -- answers ---------------------------------------------------------------------------------


class Fault(BaseModel):
    """One fault of a body."""

    at: str = Field(description="JSON pointer to the place.")
    why: str


class Problem(_Said):
    """RFC 9457 problem details; what each code means is in the error reference."""

    type: str
    title: str
    status: int
    code: str = Field(description="Stable; what programs read.")
    detail: str
    errors: list[Fault] = Field(default_factory=list)


class RunLine(_Said):
    """A run in a list."""

    v: int
    run_id: str = Field(alias="runId")
    session_id: str = Field(alias="sessionId")
    status: str


class RunSnapshot(RunLine):
    """Everything of a run."""

    seq: int
    steps: list[_Object]
    suspensions: list[_Object]
    why: _Object


class Suspension(_Said):
    """A card, and how it stands."""

    v: int
    suspend_id: str = Field(alias="suspendId")
    run_id: str = Field(alias="runId")
    status: str
    may_answer: bool = Field(alias="mayAnswer", description="Whether you may answer it now.")


class Accepted(_Said):
    """It was taken."""

    v: int
    run_id: str = Field(alias="runId")


class Me(_Said):
    """Who is signed in."""

    v: int
    principal: str
    display: str
    kind: str
    roles: list[str]
    mode: str
    example: str | None = Field(description="A request to try; a demonstration brings one.")
    planned_by: Literal["program", "model", "pack", "nobody"] = Field(
        alias="plannedBy",
        description="Who plans requests in words. `pack`: no model is configured, rules plan what they know; "
        "`nobody`: only a plan can be given.",
    )


class People(BaseModel):
    """Who may sign in with a code."""

    v: int
    people: list[_Object]
    default: str


class Ticket(BaseModel):
    """A ticket for one stream."""

    v: int
    ticket: str
    life_s: float = Field(alias="lifeS")


class Token(_Said):
    """A program's token."""

    v: int
    token_id: str = Field(alias="tokenId")
    principal: str


class Seals(_Said):
    """How far the audit is sealed."""

    v: int
    seals: int
    last: _Object | None = Field(description="Number, hash, time, and how many runs it holds.")
    unsealed_runs: int = Field(alias="unsealedRuns", description="Runs with rows that no seal holds yet.")
    is_at_least: bool = Field(alias="isAtLeast", description="There are more of them than were counted.")


class Verdicts(_Said):
    """The verdict on every chain that was asked for."""

    v: int
    kept: bool
    runs: int
    rows: int
    bad: list[_Object]
