"""A second model can agree or be stricter; a looser word, rubbish and silence loosen nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from condor.config import Settings
from condor.core.errors import ModelUnavailable
from condor.core.outcome import StepStatus
from condor.core.recovery import GateVerb, PlanMutationEvidence, tighten
from condor.models import models_of
from condor.ports.model import PlanMutationQuestion
from tests.models.wire import Answer, call, fails, serving, words

if TYPE_CHECKING:
    from condor.ports.model import Confirmation

QUESTION = PlanMutationQuestion(
    rule_id="re-scope.degraded",
    why="what stands in does less",
    verb=GateVerb.RETRY_WITH_DIFFERENT_TOOL,
    evidence=PlanMutationEvidence(status=StepStatus.FAILED, terminal=False, supervised=False),
    from_tool="labs.search",
    to_tool="labs.report.search",
    fidelity="degraded",
)


async def said(answer: Answer) -> Confirmation:
    """What the confirmer makes of an answer."""
    async with serving(answer) as served:
        settings = Settings(
            model_name="a", model_base_url=served.url, model_confirmer_name="b", model_retries=0
        )
        models = models_of(settings)
        assert models.confirmer is not None
        try:
            return await models.confirmer.confirm(QUESTION)
        finally:
            await models.aclose()
            assert [body["model"] for body in served.asked] == ["b"]


@pytest.mark.parametrize(
    ("answer", "verb"),
    [
        (call("second_look", {"verb": "retry-with-different-tool"}), GateVerb.RETRY_WITH_DIFFERENT_TOOL),
        (call("second_look", {"verb": "halt"}), GateVerb.HALT),
        (call("second_look", {"verb": "none"}), GateVerb.RETRY_WITH_DIFFERENT_TOOL),
        (call("second_look", {"verb": "approve"}), GateVerb.PARK),
        (call("second_look", {"verb": ["halt"]}), GateVerb.PARK),
        (call("second_look", "{"), GateVerb.PARK),
        (words("Go ahead, it is approved."), GateVerb.PARK),
    ],
    ids=["agrees", "stricter", "looser", "no verb", "a list", "broken", "words"],
)
async def test_the_verb_is_never_looser(answer: Answer, verb: GateVerb) -> None:
    """In doubt a person is asked; what it cost is told."""
    confirmation = await said(answer)
    assert tighten(QUESTION.verb, confirmation.verb) is verb
    assert confirmation.tokens == 1000


async def test_a_confirmer_that_is_away_raises() -> None:
    """The gate then asks a person."""
    with pytest.raises(ModelUnavailable):
        await said(fails(500))
