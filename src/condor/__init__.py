"""Condor: a runtime for AI agents that change real records.

The route of a request: ``Condor.start`` → ``phases.admit`` (a plan is read and compiled before anything
is stored) → ``phases.plan`` (words become a plan, or an honest refusal) → ``phases.dispatch`` (the
frontier; each leaf asks the policy at the one join) → a gated call is parked by ``suspend_funnel.park``
with its card and its audit row in one transaction → ``Condor.resume`` wins a compare-and-set, and exactly
that call is journalled and run → ``phases.close`` says what happened and what did not.

Names are loaded when they are first asked for, so that a command which only reads starts at once.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from condor.bootstrap import Condor
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
    from condor.runtime import Run
    from condor.tools import Reconciled, ToolContext, tool
else:
    from importlib import import_module as _import_module

    #: Module → the public names that live there.
    _HOMES = {
        "condor.bootstrap": ("Condor",),
        "condor.core.errors": (
            "AlreadyDecided",
            "AnswerInvalid",
            "AnswerRefused",
            "CondorError",
            "NotAnApprover",
            "PlanRefused",
            "RecordMoved",
            "RefusedInput",
            "RequestNotUnderstood",
            "RunNotSuspendedError",
            "StaleSuspension",
            "SuspensionExpired",
            "ToolError",
        ),
        "condor.core.outcome": ("InputField", "NeedInput", "ToolResult"),
        "condor.core.policy": ("ArgSpec", "Effect", "HitlTier", "PolicyClass", "ToolDescriptor"),
        "condor.core.run": ("Principal",),
        "condor.core.suspend": ("CardEvidence",),
        "condor.ports.packs": ("OpenedPack", "PackSetup"),
        "condor.runtime": ("Run",),
        "condor.tools": ("Reconciled", "ToolContext", "tool"),
    }
    _HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

    def __getattr__(name: str) -> object:
        """Load a public name at its first use."""
        if name not in _HOME_OF:
            raise AttributeError(f"module 'condor' has no attribute {name!r}")
        found = globals()[name] = getattr(_import_module(_HOME_OF[name]), name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOME_OF})


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
