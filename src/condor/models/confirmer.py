"""The confirmer that is a model: it looks a second time at edits of a plan that a rule does not settle.

Law: it is told closed words only, and whatever it says, the verb is never less strict than the rule's
(``core.recovery.tighten``). What it cannot say, or says wrongly, asks a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from condor.core.recovery import GateVerb
from condor.models.prompts import ABOUT_DATA, data
from condor.models.question import Form, Question
from condor.ports.model import Confirmation

if TYPE_CHECKING:
    from condor.models.endpoint import Endpoint
    from condor.ports.model import PlanMutationQuestion

_FORM = "second_look"

_RULES = f"""A step of a run did not do what it should, and a rule proposes an edit of the run's plan. You
look a second time. You can agree with the rule's verb or choose a stricter one; nothing looser counts.

{ABOUT_DATA}

The verbs, from the loosest to the strictest: {", ".join(GateVerb)}. `park` asks a person first. When in
doubt, park."""


@dataclass(frozen=True, slots=True)
class ModelConfirmer:
    """Asks one model, in a conversation of its own."""

    endpoint: Endpoint

    async def confirm(self, question: PlanMutationQuestion) -> Confirmation:
        """The rule's verb or a stricter one.

        Raises:
            ModelUnavailable: it cannot be asked; a person is, instead.
        """
        evidence = question.evidence
        told: dict[str, Any] = {
            "rule": question.rule_id,
            "why": question.why,
            "verb": question.verb,
            "status": evidence.status,
            "endOfPlan": evidence.terminal,
            "supervised": evidence.supervised,
            "asksForAnotherWay": evidence.needs_replan,
            "fromTool": question.from_tool,
            "toTool": question.to_tool,
            "fidelity": question.fidelity,
        }
        reply = await self.endpoint.ask(
            Question(about="a verb", instructions=_RULES, text=data("edit", told), forms=(_form(),))
        )
        verb = reply.body.get("verb") if isinstance(reply.body, dict) else None
        # What is no verb is taken for doubt, which asks a person (``tighten``).
        return Confirmation(verb=str(verb), tokens=reply.tokens, cost_usd=reply.cost_usd)


def _form() -> Form:
    return Form(
        name=_FORM,
        description="The verb to apply.",
        schema={
            "type": "object",
            "properties": {"verb": {"type": "string", "enum": [str(verb) for verb in GateVerb]}},
            "required": ["verb"],
            "additionalProperties": False,
        },
    )
