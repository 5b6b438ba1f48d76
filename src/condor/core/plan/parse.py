"""From plan JSON to ``Plan``: strict, with the place of every fault.

Law: nothing is guessed or dropped. An unknown key, a wrong type, a bad id or an oversized plan is
refused with its JSON pointer before anything is stored. A message quotes words of the plan's own
language, never arguments or whole parts: they may hold record data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from condor.core.errors import PlanRefused, show
from condor.core.ids import SAFE_INTEGER_MAX, exact_scalar, kind_of
from condor.core.plan.model import ApprovalStep, NestedPlan, OnDeny, Plan, Step, ToolStep
from condor.core.plan.reference import FROM, POINTER, TEXT, shown_token

if TYPE_CHECKING:
    from condor.core.ids import Json

#: Steps in one plan, nested ones included: ten times the largest plan anyone has approved by hand.
STEPS_MAX = 2_000
#: Plans inside plans.
NESTING_MAX = 8
#: JSON levels in arguments (the edge refuses deeper bodies as a whole).
ARGS_DEPTH_MAX = 24

_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_REFERENCED = re.compile(r"[A-Za-z0-9_.-]{1,64}(/[A-Za-z0-9_.-]{1,64})*")
_TEXT_CHARS_MAX = 2_000

_KEYS = {
    "tool": frozenset({"id", "tool", "args", "after", "onDeny", "title"}),
    "approval": frozenset({"id", "approval", "after", "onDeny"}),
    "plan": frozenset({"id", "plan", "after"}),
}


def parse_plan(value: object) -> Plan:
    """Read a plan.

    Args:
        value: the JSON value, as parsed.

    Raises:
        PlanRefused: with the JSON pointer of the first fault.
    """
    plan = _plan(value, "", depth=0)
    count = _count(plan)
    if count > STEPS_MAX:
        raise PlanRefused(f"{count} steps are too many; a plan has at most {STEPS_MAX}", path="/steps")
    return plan


def _shown(value: object) -> str:
    return show(value) if isinstance(value, str | bool) else kind_of(value)


def _count(plan: Plan) -> int:
    return sum(_count(step.plan) if isinstance(step, NestedPlan) else 1 for step in plan.steps)


def _object(value: object, path: str, what: str) -> Mapping[str, object]:
    if type(value) is not dict and not isinstance(value, Mapping):
        raise PlanRefused(f"{what} is {_shown(value)}; write an object", path=path)
    return cast("Mapping[str, object]", value)


def _closed(value: Mapping[str, object], keys: frozenset[str], path: str) -> None:
    for key in value:
        if key not in keys:
            raise PlanRefused(
                f"unknown key {_shown(key)}; take {', '.join(sorted(keys))}",
                path=f"{path}/{shown_token(key)}" if isinstance(key, str) else path,
            )


def _text(value: object, path: str, what: str) -> str:
    if not isinstance(value, str):
        raise PlanRefused(f"{what} is {_shown(value)}; write a string", path=path)
    if len(value) > _TEXT_CHARS_MAX:
        raise PlanRefused(f"{what} has {len(value)} characters; at most {_TEXT_CHARS_MAX}", path=path)
    _check_encodable(value, path)
    return value


def _check_encodable(value: str, path: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise PlanRefused("the text holds a lone surrogate, which is no character", path=path) from None


def _plan(value: object, path: str, depth: int) -> Plan:
    if depth > NESTING_MAX:
        raise PlanRefused(f"plans nest at most {NESTING_MAX} deep", path=path)
    body = _object(value, path, "the plan")
    _closed(body, frozenset({"steps"}), path)
    steps = body.get("steps")
    if not isinstance(steps, Sequence) or isinstance(steps, str | bytes):
        raise PlanRefused(f"steps is {_shown(steps)}; write an array of steps", path=f"{path}/steps")
    if not steps:
        raise PlanRefused("a plan needs at least one step", path=f"{path}/steps")
    if len(steps) > STEPS_MAX:
        raise PlanRefused(
            f"{len(steps)} steps are too many; a plan has at most {STEPS_MAX}", path=f"{path}/steps"
        )
    parsed = tuple([_step(step, f"{path}/steps/{index}", depth) for index, step in enumerate(steps)])
    seen: set[str] = set()
    for index, step in enumerate(parsed):
        if step.id in seen:
            raise PlanRefused(
                f"a second step is called {_shown(step.id)}; ids are unique", path=f"{path}/steps/{index}/id"
            )
        seen.add(step.id)
    return Plan(steps=parsed)


def _step(value: object, path: str, depth: int) -> Step:
    body = _object(value, path, "the step")
    kinds = [kind for kind in _KEYS if kind in body]
    if len(kinds) != 1:
        raise PlanRefused(
            "a step has exactly one of tool, approval and plan; this one has "
            + (" and ".join(kinds) if kinds else "none"),
            path=path,
        )
    kind = kinds[0]
    _closed(body, _KEYS[kind], path)
    step_id = body.get("id")
    if not isinstance(step_id, str) or not _ID.fullmatch(step_id):
        raise PlanRefused(
            f"the step id is {_shown(step_id)}; take 1 to 64 of A-Z a-z 0-9 _ . -", path=f"{path}/id"
        )
    after = _after(body.get("after", []), f"{path}/after")
    if kind == "tool":
        return _tool_step(body, step_id, after, path)
    if kind == "approval":
        return _approval_step(body, step_id, after, path)
    return NestedPlan(id=step_id, plan=_plan(body["plan"], f"{path}/plan", depth + 1), after=after)


def _after(value: object, path: str) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise PlanRefused(f"after is {_shown(value)}; write an array of step ids", path=path)
    if len(value) > STEPS_MAX:
        raise PlanRefused(f"{len(value)} step ids are too many; at most {STEPS_MAX}", path=path)
    for index, item in enumerate(value):
        if not isinstance(item, str) or not _REFERENCED.fullmatch(item):
            raise PlanRefused(f"{_shown(item)} is not a step id", path=f"{path}/{index}")
    return tuple(cast("Sequence[str]", value))


def _on_deny(value: object, path: str) -> OnDeny | None:
    match value:
        case None | "abort" | "skip":
            return value
        case _:
            raise PlanRefused(f"onDeny is {_shown(value)}; take abort or skip", path=path)


def _tool_step(body: Mapping[str, object], step_id: str, after: tuple[str, ...], path: str) -> ToolStep:
    tool = _text(body["tool"], f"{path}/tool", "tool")
    args = _object(body.get("args", {}), f"{path}/args", "args")
    if FROM in args:
        raise PlanRefused("args is itself a reference; write an object of arguments", path=f"{path}/args")
    reserved = next((key for key in args if isinstance(key, str) and key.startswith("$")), None)
    if reserved is not None:
        said = f"argument {_shown(reserved)} begins with $, which is reserved"
        raise PlanRefused(said, path=f"{path}/args")
    return ToolStep(
        id=step_id,
        tool=tool,
        args=cast("Mapping[str, Json]", _json(args, f"{path}/args", 0)),
        after=after,
        on_deny=_on_deny(body.get("onDeny"), f"{path}/onDeny"),
        title=_text(body.get("title", ""), f"{path}/title", "title"),
    )


def _approval_step(
    body: Mapping[str, object], step_id: str, after: tuple[str, ...], path: str
) -> ApprovalStep:
    approval = _object(body["approval"], f"{path}/approval", "approval")
    _closed(approval, frozenset({"title", "body"}), f"{path}/approval")
    title = _text(approval.get("title"), f"{path}/approval/title", "title")
    if not title.strip():
        raise PlanRefused(
            "an approval needs a title that says what is approved", path=f"{path}/approval/title"
        )
    return ApprovalStep(
        id=step_id,
        title=title,
        body=_text(approval.get("body", ""), f"{path}/approval/body", "body"),
        after=after,
        on_deny=_on_deny(body.get("onDeny"), f"{path}/onDeny"),
    )


def _json(value: object, path: str, depth: int) -> Json:
    """Arguments are JSON that has an identity; an object with ``$from`` is exactly a reference.

    Our own copy, of plain values: what the caller does to the plan later changes nothing, and a member of an
    enumeration is the text or number that it is stored as.
    """
    if depth > ARGS_DEPTH_MAX:
        raise PlanRefused(f"arguments nest at most {ARGS_DEPTH_MAX} deep", path=path)
    match value:
        case str():
            _check_encodable(value, path)
            return exact_scalar(value)
        case None | bool():
            return value
        case int() if abs(value) <= SAFE_INTEGER_MAX:
            return exact_scalar(value)
        case dict() | Mapping() if FROM in value:
            return _reference(cast("Mapping[str, object]", value), path)
        case dict() | Mapping():
            return _object_of(cast("Mapping[str, object]", value), path, depth)
        case list() | tuple():
            return [_json(item, f"{path}/{index}", depth + 1) for index, item in enumerate(value)]
        case float() if math.isfinite(value):
            return exact_scalar(value)
        case int() | float():
            raise PlanRefused("the number cannot be held exactly; write it as a string", path=path)
        case _:
            raise PlanRefused(f"the argument is {type(value).__name__}, which is not JSON", path=path)


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise PlanRefused(f"a key is {_shown(key)}; write a string", path=path)
    _check_encodable(key, path)
    return key


def _reference(value: Mapping[str, object], path: str) -> Json:
    _closed(value, frozenset({FROM, "path"}), path)
    step = value[FROM]
    if not isinstance(step, str) or not _REFERENCED.fullmatch(step):
        raise PlanRefused(f"$from is {_shown(step)}; name a step", path=f"{path}/$from")
    pointer = value.get("path", "")
    if not isinstance(pointer, str) or not POINTER.fullmatch(pointer):
        raise PlanRefused(
            f"path is {_shown(pointer)}; write a JSON pointer such as /patient/reference", path=f"{path}/path"
        )
    _check_encodable(pointer, f"{path}/path")
    return {FROM: step, "path": pointer} if "path" in value else {FROM: step}


def _object_of(value: Mapping[str, object], path: str, depth: int) -> Json:
    if TEXT in value:
        return _made_text(value, path, depth)
    return {
        _key(key, path): _json(item, f"{path}/{shown_token(key)}", depth + 1) for key, item in value.items()
    }


def _made_text(value: Mapping[str, object], path: str, depth: int) -> Json:
    _closed(value, frozenset({TEXT}), path)
    parts = value[TEXT]
    if not isinstance(parts, list | tuple) or not parts:
        raise PlanRefused(f"$text is {_shown(parts)}; write an array of its parts", path=f"{path}/$text")
    for index, part in enumerate(parts):
        if not isinstance(part, str) and not (isinstance(part, Mapping) and FROM in part):
            raise PlanRefused(
                f"a part of $text is {_shown(part)}; write a text or a reference",
                path=f"{path}/$text/{index}",
            )
    return {TEXT: _json(parts, f"{path}/$text", depth + 1)}
