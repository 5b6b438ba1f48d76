"""The plan as clients are shown it, and each edit of it.

Law 1: a plan is sent whole when it is made, when it is revised and when the run rests, and only if it
changed since; never once a step. A plan of 2,000 steps stays linear.
Law 2: what never began when a run has ended is skipped; what began without an outcome is unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor.core.frames.masking import masked_text
from condor.core.outcome import StepStatus
from condor.core.recovery import GATE_RULES, GateVerb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.ids import Json
    from condor.core.run import RunEvent

#: Facts of a ``plan.revised`` event that clients are told.
_TOLD = ("revision", "verb", "stepId", "fromTool", "toTool", "fidelity", "decision", "rule", "skips")
#: What of a node is shown; the rest is not kept, so that an open stream of a long plan stays small.
_SHOWN = ("title", "tool", "after")
_WHY = {rule.rule_id: rule.why for rule in GATE_RULES}
_AT_THE_END = {
    StepStatus.PENDING: StepStatus.SKIPPED,
    StepStatus.SUSPENDED: StepStatus.SKIPPED,
    StepStatus.STARTED: StepStatus.UNKNOWN,
}


def plan_revised_data(event: RunEvent) -> dict[str, Json]:
    """One applied edit of the plan: ``{"revision", "verb", "stepId", …}``.

    A tool in place of another raises the revision; a tail that is taken out (``skips``) does not. ``why`` is
    the rule in words, where a rule of the gate spoke.
    """
    told = {name: event.facts[name] for name in _TOLD if name in event.facts}
    why = _WHY.get(str(event.facts.get("rule")), "")
    return {**told, "why": why} if why else told


def plan_kept_data(event: RunEvent) -> dict[str, Json] | None:
    """``{"stepId", "decision", "rule", "why"}`` where recovery was asked and left the plan as it is.

    An edit of the plan is told by its own event.
    """
    if event.facts.get("verb") != GateVerb.NONE:
        return None
    rule = str(event.facts["rule"])
    return {
        "stepId": event.facts["stepId"],
        "decision": event.facts["decision"],
        "rule": rule,
        "why": _WHY.get(rule, ""),
    }


class PlanView:
    """The steps of one run and how they stand, as its log tells."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        """No plan yet.

        Args:
            titles: what tools are called, for steps to which the plan gives no title.
        """
        self._titles = titles
        #: None until there is a plan.
        self._revision: Json = None
        self._nodes: dict[str, Mapping[str, Json]] = {}
        self._statuses: dict[str, StepStatus] = {}
        self._erased = False
        self._changed = False

    def adopt(self, graph: Mapping[str, Any] | None, revision: Json) -> None:
        """Take the compiled graph; steps that it had before stand as they stood.

        Args:
            graph: the payload as stored; None when it was erased.
        """
        self._erased = graph is None
        nodes = graph["nodes"] if graph is not None else ()
        self._nodes = {node["id"]: {name: node[name] for name in _SHOWN if name in node} for node in nodes}
        self._revision = revision
        self._changed = True

    def put(self, step_id: str, status: StepStatus) -> None:
        """A step stands otherwise than before."""
        self._changed = self._changed or self.status_of(step_id) is not status
        self._statuses[step_id] = status

    def status_of(self, step_id: str) -> StepStatus:
        """How a step stands."""
        return self._statuses.get(step_id, StepStatus.PENDING)

    def end(self) -> None:
        """The run has ended: nothing stays open."""
        for step_id in self._nodes:
            status = self.status_of(step_id)
            self.put(step_id, _AT_THE_END.get(status, status))

    def title_of(self, step_id: str, tool: str) -> str:
        """What a person calls a step: the plan's title, else the tool's, else nothing."""
        title = self._nodes.get(step_id, {}).get("title")
        return masked_text(str(title)) if title else self._titles.get(tool, "")

    def news(self) -> dict[str, Json] | None:
        """``{"revision", "steps": [{"id", "title", "status", "deps"}]}``; None if nothing changed since.

        An erased plan says so: ``"erased": true`` beside no steps.
        """
        if not self._changed or self._revision is None:
            return None
        self._changed = False
        told: dict[str, Json] = {"revision": self._revision, "steps": [*map(self._step, self._nodes)]}
        if self._erased:
            told["erased"] = True
        return told

    def _step(self, step_id: str) -> dict[str, Json]:
        node = self._nodes[step_id]
        tool = str(node.get("tool", ""))
        return {
            "id": step_id,
            "title": self.title_of(step_id, tool) or tool or step_id,
            "status": self.status_of(step_id),
            "deps": node["after"],
        }
