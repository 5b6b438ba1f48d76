"""Condor: a runtime for AI agents that change real records."""

from condor.bootstrap import Condor, Run
from condor.core.errors import (
    AlreadyDecided,
    AnswerInvalid,
    AnswerRefused,
    CondorError,
    NotAnApprover,
    PlanRefused,
    RecordMoved,
    RefusedInput,
    RequestNotUnderstood,
    RunNotSuspendedError,
    StaleSuspension,
    SuspensionExpired,
    ToolError,
)
from condor.core.outcome import InputField, NeedInput, ToolResult
from condor.core.policy import ArgSpec, Effect, HitlTier, PolicyClass, ToolDescriptor
from condor.core.run import Principal
from condor.core.suspend import CardEvidence
from condor.ports.packs import OpenedPack, PackSetup
from condor.tools import Reconciled, ToolContext, tool

__all__ = [
    "AlreadyDecided",
    "AnswerInvalid",
    "AnswerRefused",
    "ArgSpec",
    "CardEvidence",
    "Condor",
    "CondorError",
    "Effect",
    "HitlTier",
    "InputField",
    "NeedInput",
    "NotAnApprover",
    "OpenedPack",
    "PackSetup",
    "PlanRefused",
    "PolicyClass",
    "Principal",
    "Reconciled",
    "RecordMoved",
    "RefusedInput",
    "RequestNotUnderstood",
    "Run",
    "RunNotSuspendedError",
    "StaleSuspension",
    "SuspensionExpired",
    "ToolContext",
    "ToolDescriptor",
    "ToolError",
    "ToolResult",
    "tool",
]
