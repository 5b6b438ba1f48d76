"""The input regenerator that is a model: arguments of one call, made anew from what the run has found.

Law: it gives values. Whether they may be used is asked as of any call, and the call counts as made after
untrusted text entered the run, so that no record write runs on them without a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from condor.models.plan_schema import args_schema
from condor.models.prompts import ABOUT_DATA, data
from condor.models.question import Form, Question
from condor.ports.model import RegeneratedInput

if TYPE_CHECKING:
    from condor.models.endpoint import Endpoint
    from condor.ports.model import InputRequest

_GIVE = "arguments"
_NONE = "none"

_RULES = f"""A step of a plan calls a tool with arguments that cannot be used. Give its arguments anew.

{ABOUT_DATA}

* Keep every argument that nothing is wrong with as it is.
* Take a value only from what earlier steps found or from the plan. Never make one up: if it is not there, or
  there is more than one that it could be, take `{_NONE}`, and a person is asked."""


@dataclass(frozen=True, slots=True)
class ModelInputRegenerator:
    """Asks one model."""

    endpoint: Endpoint

    async def regenerate(self, request: InputRequest) -> RegeneratedInput:
        """New arguments, or None.

        Raises:
            ModelUnavailable: it cannot be asked.
        """
        told: dict[str, Any] = {
            "tool": request.tool.name,
            "about": request.tool.description,
            "planned": request.planned,
            "resolved": request.resolved,
            "wrong": list(request.faults),
        }
        text = "\n".join(
            [
                data("call", told),
                *(data(f"result of {step}", found) for step, found in request.results.items()),
            ]
        )
        reply = await self.endpoint.ask(
            Question(
                about="arguments",
                instructions=f"{_RULES}\n\nToday is {request.today.isoformat()}.",
                text=text,
                forms=(
                    Form(
                        name=_GIVE,
                        description="The whole arguments of the call.",
                        schema=args_schema(request.tool),
                    ),
                    Form(
                        name=_NONE,
                        description="There are none; a person is asked.",
                        schema={"type": "object", "properties": {}, "additionalProperties": False},
                    ),
                ),
            )
        )
        args = reply.body if reply.form == _GIVE and isinstance(reply.body, dict) and not reply.cut else None
        return RegeneratedInput(args=args, tokens=reply.tokens, cost_usd=reply.cost_usd)
