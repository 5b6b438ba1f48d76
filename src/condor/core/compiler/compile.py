"""``compile_plan``: flatten, resolve names, order. Once per run.

Law 1: a name is looked up in its own plan first, then outwards; what is not found is refused with the
place, never ignored.
Law 2: a reference implies ``after``. A cycle is refused by the names of its steps.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import field

from condor.core.errors import PlanRefused, show
from condor.core.graph.compiled import CompiledGraph, Coordinate, Node
from condor.core.ids import Json, StepId, digest_of
from condor.core.plan.model import ApprovalStep, NestedPlan, Plan, ToolStep
from condor.core.plan.reference import FROM, escape_token, find_references, shown_token
from condor.core.values import dataclass

#: Tool name → the closed set of its arguments; None: open.
KnownTools = Mapping[str, frozenset[str] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardTools:
    """Tools that draw a card, and tools that pin one; from their descriptors."""

    draw: frozenset[str] = frozenset()
    pin: frozenset[str] = frozenset()


NO_CARDS = CardTools()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """One plan while it is flattened."""

    #: ``s3/`` for the plan nested in s3; empty at the top.
    prefix: str
    #: Names of this plan → whether they are plans themselves.
    nested: Mapping[str, bool]
    outer: _Scope | None = None
    #: What the plan as a whole waits for.
    after: tuple[StepId, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Draft:
    """A node before it has its coordinate."""

    step: ToolStep | ApprovalStep
    step_id: StepId
    path: str
    scope: _Scope
    waits: dict[StepId, None] = field(default_factory=dict)
    uses: set[StepId] = field(default_factory=set)
    args: Mapping[str, Json] = field(default_factory=dict)


def compile_plan(
    plan: Plan, known: KnownTools, *, untrusted: bool = False, cards: CardTools = NO_CARDS
) -> CompiledGraph:
    """Compile a parsed plan against the tools there are.

    Args:
        known: every tool of the process, with its closed arguments.
        cards: a step that pins a card waits for the steps before it that draw one.
        untrusted: the plan was made after untrusted text entered the run; every step of it carries that.

    Raises:
        PlanRefused: an unknown tool, argument or step, or a cycle; with its JSON pointer.
    """
    drafts = list(_flatten(plan, _scope_of(plan, "", None, ()), "/steps"))
    ids = [draft.step_id for draft in drafts]
    inside: dict[str, list[StepId]] = {}
    for step_id in ids:
        if "/" not in step_id:
            continue
        parts = step_id.split("/")
        for depth in range(1, len(parts)):
            inside.setdefault("/".join(parts[:depth]), []).append(step_id)
    known_ids = frozenset(ids)
    for draft in drafts:
        _check_tool(draft, known)
        _link(draft, known_ids, inside)
    if cards.pin:
        _draw_before_pin(drafts, cards)
    ordered = _ordered(drafts)
    nodes = tuple(
        [_node(draft, Coordinate(index), untrusted=untrusted) for index, draft in enumerate(ordered)]
    )
    return CompiledGraph(nodes=nodes, digest=digest_of([_said(node) for node in nodes]))


def _draw_before_pin(drafts: list[_Draft], cards: CardTools) -> None:
    """A pin step waits for every step before it in the plan that draws a card, but for those after it."""
    waits = {draft.step_id: draft.waits for draft in drafts}
    for number, draft in enumerate(drafts):
        if not isinstance(draft.step, ToolStep) or draft.step.tool not in cards.pin:
            continue
        for earlier in drafts[:number]:
            draws = isinstance(earlier.step, ToolStep) and earlier.step.tool in cards.draw
            if draws and not _waits_for(earlier.step_id, draft.step_id, waits):
                draft.waits.setdefault(earlier.step_id)


def _waits_for(step: StepId, other: StepId, waits: Mapping[StepId, Mapping[StepId, None]]) -> bool:
    """Whether a step waits for another one, at whatever remove."""
    seen, ahead = {step}, [step]
    while ahead:
        for before in waits[ahead.pop()]:
            if before == other:
                return True
            if before not in seen:
                seen.add(before)
                ahead.append(before)
    return False


def _scope_of(plan: Plan, prefix: str, outer: _Scope | None, after: tuple[StepId, ...]) -> _Scope:
    nested = {step.id: isinstance(step, NestedPlan) for step in plan.steps}
    return _Scope(prefix=prefix, nested=nested, outer=outer, after=after)


def _flatten(plan: Plan, scope: _Scope, path: str) -> Iterator[_Draft]:
    for index, step in enumerate(plan.steps):
        here = f"{path}/{index}"
        if isinstance(step, NestedPlan):
            after = (*scope.after, *(_find(name, scope, f"{here}/after") for name in step.after))
            inner = _scope_of(step.plan, f"{scope.prefix}{step.id}/", scope, after)
            yield from _flatten(step.plan, inner, f"{here}/plan/steps")
        else:
            yield _Draft(step=step, step_id=StepId(scope.prefix + step.id), path=here, scope=scope)


def _find(name: str, scope: _Scope, path: str) -> StepId:
    """The absolute path of a name, looked up from ``scope`` outwards."""
    head = name.partition("/")[0]
    looked: _Scope | None = scope
    while looked is not None:
        if head in looked.nested:
            return StepId(looked.prefix + name)
        looked = looked.outer
    raise PlanRefused(
        f"no step is called {show(name)}; the names here are {', '.join(scope.nested)}", path=path
    )


def _check_tool(draft: _Draft, known: KnownTools) -> None:
    if not isinstance(draft.step, ToolStep):
        return
    tool = draft.step.tool
    if tool not in known:
        near = ", ".join(sorted(name for name in known if name.split(".")[0] == tool.split(".")[0]))
        offer = f"near it are {near}" if near else "see `condor tools list`"
        raise PlanRefused(
            f"no tool is called {show(tool)}; {offer}", path=f"{draft.path}/tool", code="unknown_tool"
        )
    allowed = known[tool]
    for key in draft.step.args:
        if allowed is not None and key not in allowed:
            raise PlanRefused(
                f"{tool} has no argument {shown_token(key)}; it takes {', '.join(sorted(allowed)) or 'none'}",
                path=f"{draft.path}/args/{escape_token(key)}",
                code="unknown_argument",
            )


def _link(draft: _Draft, ids: frozenset[StepId], inside: Mapping[str, list[StepId]]) -> None:
    """Find every step this one waits for, and give its references their absolute names."""
    step, scope = draft.step, draft.scope
    waits: dict[StepId, None] = {}
    named = [*scope.after, *(_find(name, scope, f"{draft.path}/after") for name in step.after)]
    for target in named:
        if target in ids:
            waits[target] = None
        elif target in inside:
            waits.update(dict.fromkeys(inside[target]))
        else:
            raise PlanRefused(f"no step is called {show(target)}", path=f"{draft.path}/after")
    if isinstance(step, ToolStep):
        for reference in find_references(step.args):
            where = f"{draft.path}/args{reference.at}"
            target = _find(reference.step, scope, where)
            if target in inside:
                raise PlanRefused(
                    f"{show(reference.step)} is a plan; refer to a step of it, as {inside[target][0]}",
                    path=where,
                )
            if target not in ids:
                raise PlanRefused(f"no step is called {show(target)}", path=where)
            waits[target] = None
            draft.uses.add(target)
        draft.args = _absolute(step.args, scope) if draft.uses else step.args
    if draft.step_id in waits:
        raise PlanRefused(f"step {show(draft.step_id)} waits for itself", path=draft.path, code="cyclic_plan")
    draft.waits = waits


def _absolute(args: Mapping[str, Json], scope: _Scope) -> Mapping[str, Json]:
    return {key: _absolute_value(item, scope) for key, item in args.items()}


def _absolute_value(value: Json, scope: _Scope) -> Json:
    if isinstance(value, Mapping):
        if FROM in value:
            return {**value, FROM: _find(str(value[FROM]), scope, "")}
        return {key: _absolute_value(item, scope) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_absolute_value(item, scope) for item in value]
    return value


def _ordered(drafts: list[_Draft]) -> list[_Draft]:
    """Topological order, as written where the graph leaves a choice."""
    before: set[StepId] = set()
    for draft in drafts:
        if not before.issuperset(draft.waits):
            return _sorted(drafts)
        before.add(draft.step_id)
    return drafts  # every step stands after what it waits for: the order as written is the first there is


def _sorted(drafts: list[_Draft]) -> list[_Draft]:
    place = {draft.step_id: index for index, draft in enumerate(drafts)}
    left = [len(draft.waits) for draft in drafts]
    waiting: dict[int, list[int]] = {}
    for index, draft in enumerate(drafts):
        for step_id in draft.waits:
            waiting.setdefault(place[step_id], []).append(index)
    ready = [index for index, count in enumerate(left) if count == 0]
    heapq.heapify(ready)
    ordered: list[_Draft] = []
    while ready:
        index = heapq.heappop(ready)
        ordered.append(drafts[index])
        for follower in waiting.get(index, ()):
            left[follower] -= 1
            if left[follower] == 0:
                heapq.heappush(ready, follower)
    if len(ordered) < len(drafts):
        stuck = [index for index, count in enumerate(left) if count > 0]
        names = ", ".join(drafts[index].step_id for index in stuck[:8])
        raise PlanRefused(
            f"steps {names} wait for each other in a circle", path=drafts[stuck[0]].path, code="cyclic_plan"
        )
    return ordered


def _node(draft: _Draft, coordinate: Coordinate, *, untrusted: bool) -> Node:
    step = draft.step
    if isinstance(step, ToolStep):
        return Node(
            coordinate=coordinate,
            step_id=draft.step_id,
            kind="tool",
            tool=step.tool,
            args=draft.args,
            after=tuple(draft.waits),
            uses=frozenset(draft.uses),
            on_deny=step.on_deny,
            title=step.title,
            untrusted=untrusted,
        )
    return Node(
        coordinate=coordinate,
        step_id=draft.step_id,
        kind="approval",
        after=tuple(draft.waits),
        on_deny=step.on_deny,
        title=step.title,
        body=step.body,
        untrusted=untrusted,
    )


def _said(node: Node) -> list[Json]:
    return [
        node.step_id,
        node.kind,
        node.tool,
        node.args,
        list(node.after),
        node.on_deny,
        node.title,
        node.body,
    ]
