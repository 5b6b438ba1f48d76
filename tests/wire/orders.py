"""What the ward is asked to do: plans by hand, and a planner of few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import RequestNotUnderstood

if TYPE_CHECKING:
    from condor.ports.model import PlanningRequest

Json = dict[str, Any]


def call(step_id: str, tool_name: str, /, *after: str, **args: Any) -> Json:
    """A tool step."""
    return {"id": step_id, "tool": tool_name, "after": list(after), "args": args}


def nested(step_id: str, *steps: Json, after: tuple[str, ...] = ()) -> Json:
    """A plan in the plan."""
    return {"id": step_id, "plan": {"steps": list(steps)}, "after": list(after)}


FIND = call("find", "patient.search", name="Anna Haddad")
LIST = call("list", "allergy.list.card", "find", patient={"$from": "find", "path": "/patientId"})
WRITE = call("write", "medication.prescribe", "list", patient="pat_1", drug="Amoxicillin", dose="500 mg")
#: Nothing comes before it.
WRITE_ALONE = WRITE | {"after": []}
NOTE = call("note", "chart.append", text="Sore throat since Friday.")

#: What can be asked for in words, and the plan it becomes.
ORDERS: dict[str, list[Json]] = {
    "prescribe": [FIND, LIST, WRITE],
    "prescribe and note": [WRITE_ALONE, NOTE, FIND],
    "list allergies": [FIND, LIST],
}


class Orders:
    """A planner that knows a few orders by heart; anything else it does not understand, and says so."""

    async def plan(self, request: PlanningRequest) -> object:
        """The plan of an order.

        Raises:
            RequestNotUnderstood: it is none of them.
        """
        steps = ORDERS.get(request.text)
        if steps is None:
            raise RequestNotUnderstood(f"this is not understood; ask to {' or to '.join(ORDERS)}")
        return {"steps": steps}
