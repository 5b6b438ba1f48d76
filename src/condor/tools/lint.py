"""What a descriptor may be registered with, and should not be.

Law: a finding at ``error`` level is something that a person who approves, or who reads the closing
text, would miss. Registration refuses contradictions; this tells of omissions.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from condor.core.policy import HitlTier, PolicyClass, resolve_policy_class
from condor.core.policy.descriptor import approvers_of, who_may_answer
from condor.core.suspend.clarification_schema import choices, day_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from condor.core.ids import Json
    from condor.core.policy import ArgSpec, ToolDescriptor

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
    tools = list(tools)
    found = [finding for tool in tools for finding in _lint(tool)]
    found += _between(tools)
    return sorted(found, key=lambda finding: (finding.tool, finding.level, finding.code))


def lint_kernels(names: Iterable[str] | None, kernels: Iterable[Mapping[str, Json]]) -> list[Finding]:
    """What is wrong with what was laid on tools.

    Args:
        names: of the tools that there are; None: they are not known here.
        kernels: as ``KernelDesk.all`` tells them.
    """
    found, there = [], None if names is None else set(names)
    for kernel in kernels:
        tool = str(kernel["tool"])
        if kernel["isShut"]:
            text = "its kernel was changed or removed in the database, so nobody may approve it; lay it anew"
            found.append(Finding(tool=tool, level="error", code="kernel-shut", message=text))
        elif there is not None and tool not in there:
            text = "a kernel is laid on it, and no pack brings it; it does nothing"
            found.append(Finding(tool=tool, level="warning", code="kernel-unregistered", message=text))
    return found


def _lint(tool: ToolDescriptor) -> Iterator[Finding]:
    policy_class = resolve_policy_class(tool.policy_class, None, tool.metadata)
    yield from _hints(tool)
    if tool.name.endswith(".card") and not tool.ui_card:
        yield _error(
            tool, "card-undeclared", "its name ends with .card, but no card is drawn; say ui_card=True"
        )
    if policy_class == PolicyClass.READ:
        return
    yield from _people(tool)
    yield from _effect(tool)
    if policy_class == PolicyClass.MUTATE:
        yield from _record_write(tool)
    elif not tool.roles and not tool.approver_roles:
        yield _warning(
            tool, "roles-missing", "anybody signed in may approve it; say roles= or approver_roles="
        )


_NUMBERS = frozenset({"integer", "decimal"})
_DATES = frozenset({"date", "date-time"})
#: Any day does to see whether a bound can be read.
_SOME_DAY = datetime.date(2000, 1, 1)


def _hints(tool: ToolDescriptor) -> Iterator[Finding]:
    """What degrades a field to free text at run time is said to its author before."""
    for spec in tool.args:
        for hint, value in spec.hint.items():
            if not _is_usable(spec, hint, value):
                yield _warning(
                    tool,
                    "hint-malformed",
                    f"the hint {hint} of {spec.name} cannot be used, so its field is free text; mend it",
                )


def _is_usable(spec: ArgSpec, hint: str, value: Json) -> bool:
    is_date = spec.type in _DATES or spec.hint.get("format") in _DATES
    match hint:
        case "enum":
            return isinstance(value, list | tuple) and len(choices({"enum": list(value)})) == len(value) > 0
        case "min" | "max" if is_date:
            return day_of(value, _SOME_DAY) is not None
        case "min" | "max":
            return spec.type in _NUMBERS and type(value) in (int, float)
        case "min_length" | "max_length":
            return type(value) is int and value > 0
        case "multi" | "textarea" | "radio":
            return isinstance(value, bool)
        case "lookup":
            where = value.get("tool") or value.get("terminology") if isinstance(value, Mapping) else None
            return isinstance(where, str)
        case _:  # a word of its author's, which no form reads
            return True


def _between(tools: Sequence[ToolDescriptor]) -> Iterator[Finding]:
    """What tools say of each other."""
    names = {tool.name for tool in tools}
    members = Counter(group for tool in tools for group in tool.alias_groups)
    for tool in tools:
        for group in sorted(tool.alias_groups):
            if members[group] == 1:
                yield _warning(
                    tool, "alias-alone", f"nothing else is of its alias group {group}, so nothing stands in"
                )
        for spec in tool.args:
            lookup = spec.hint.get("lookup")
            named = lookup.get("tool") if isinstance(lookup, Mapping) else None
            if isinstance(named, str) and named not in names:
                yield _warning(
                    tool, "lookup-unknown", f"{spec.name} is looked up with {named}, which is not here"
                )


def _people(tool: ToolDescriptor) -> Iterator[Finding]:
    if approvers_of(tool).nobody:
        yield _error(
            tool,
            "nobody-answers",
            f"only {_or(who_may_answer(tool))} may answer, and that role decides nothing; name another",
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
