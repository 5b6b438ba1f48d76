"""What a descriptor may be registered with, and should not be.

Law: a finding at ``error`` level is something that a person who approves, or who reads the closing
text, would miss. Registration refuses contradictions; this tells of omissions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from condor.core.policy import HitlTier, PolicyClass, resolve_policy_class
from condor.core.run import DECIDES_NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from condor.core.policy import ToolDescriptor

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a tool's author should look at."""

    tool: str
    level: Level
    #: Stable word.
    code: str
    #: What is wrong and what to do, in one line.
    message: str


def lint_tools(tools: Iterable[ToolDescriptor]) -> list[Finding]:
    """Everything found, by tool and level."""
    found = [finding for tool in tools for finding in _lint(tool)]
    return sorted(found, key=lambda finding: (finding.tool, finding.level, finding.code))


def _lint(tool: ToolDescriptor) -> Iterator[Finding]:
    policy_class = resolve_policy_class(tool.policy_class, None, tool.metadata)
    yield from _people(tool)
    if policy_class == PolicyClass.READ:
        return
    is_record_write = policy_class == PolicyClass.MUTATE
    yield from _effect(tool)
    if is_record_write:
        yield from _record_write(tool)


def _people(tool: ToolDescriptor) -> Iterator[Finding]:
    answering = tool.approver_roles or tool.roles
    if answering and answering <= DECIDES_NOTHING:
        yield _error(
            tool,
            "nobody-answers",
            f"only {_or(answering)} may answer, and that role decides nothing; name another",
        )


def _effect(tool: ToolDescriptor) -> Iterator[Finding]:
    if not tool.noun:
        yield _warning(
            tool, "noun-missing", "the closing text has no word for it; say noun=, as in “the prescription”"
        )
    if not tool.description.strip():
        yield _warning(tool, "description-missing", "nothing says what it does; write a docstring")
    if tool.reconcile is None and not tool.idempotent:
        yield _warning(
            tool,
            "reconcile-missing",
            "after a crash in mid-call only a person knows what happened; give reconcile= or idempotent=True",
        )
    for spec in tool.args:
        if not spec.label:
            yield _warning(
                tool, "label-missing", f"a form asks for {spec.name} by that name; give it a label"
            )


def _record_write(tool: ToolDescriptor) -> Iterator[Finding]:
    is_high = tool.hitl_tier != HitlTier.LOW
    if tool.policy_class is None or tool.hitl_tier is None:
        yield _warning(
            tool,
            "tier-missing",
            "declared by metadata.mutating alone, so it counts as high; declare class and tier",
        )
    if is_high and not tool.roles and not tool.approver_roles:
        yield _error(
            tool,
            "roles-missing",
            "a high-tier write that anybody signed in may approve; say roles= or approver_roles=",
        )
    if tool.preview is None:
        message = "its card cannot show the record before and after; give preview="
        yield (
            _error(tool, "preview-missing", message)
            if is_high
            else _warning(tool, "preview-missing", message)
        )
    if not tool.ops:
        yield _warning(
            tool, "ops-missing", "it names no op, so a removal is seen by its arguments alone; say ops="
        )


def _or(words: Iterable[str]) -> str:
    return " or ".join(sorted(words))


def _error(tool: ToolDescriptor, code: str, message: str) -> Finding:
    return Finding(tool=tool.name, level="error", code=code, message=message)


def _warning(tool: ToolDescriptor, code: str, message: str) -> Finding:
    return Finding(tool=tool.name, level="warning", code=code, message=message)


__all__ = ["Finding", "lint_tools"]
