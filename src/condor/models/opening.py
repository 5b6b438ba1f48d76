"""From settings to what a run asks of a model."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from condor.core.errors import RefusedInput
from condor.models.closing_writer import WRITERS_RULES, ModelClosingWriter
from condor.models.confirmer import ModelConfirmer
from condor.models.endpoint import Endpoint
from condor.models.planner import ModelPlanner
from condor.models.question import Question
from condor.models.regenerator import ModelInputRegenerator

if TYPE_CHECKING:
    from condor.config import Settings
    from condor.models.question import Reply
    from condor.ports.closing_writer import ClosingWriter
    from condor.ports.model import Confirmer, InputRegenerator, Planner

#: What the extra brings.
_LIBRARIES = ("pydantic_ai", "openai")


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """What a run may ask of a model; None where the settings do not ask it."""

    planner: Planner | None = None
    confirmer: Confirmer | None = None
    regenerator: InputRegenerator | None = None
    writer: ClosingWriter | None = None
    endpoints: tuple[Endpoint, ...] = ()
    #: What the writer is instructed with; an output processor can take it out of what it writes.
    instructions: tuple[str, ...] = ()

    async def aclose(self) -> None:
        """Let go of the endpoints' connections."""
        for endpoint in self.endpoints:
            await endpoint.aclose()


def models_of(settings: Settings | None) -> Models:
    """What the settings ask a model for; nothing where they name none. No endpoint is reached yet.

    Raises:
        RefusedInput: a model is named and its library is not installed.
    """
    if settings is None or not settings.model_name:
        return Models()
    from condor.config import uses_of  # whoever gives settings has loaded it

    if missing := [name for name in _LIBRARIES if find_spec(name) is None]:
        raise RefusedInput(
            f"CONDOR_MODEL_NAME names a model, but {' and '.join(missing)} is not installed; "
            "install condor-runtime[models], or unset CONDOR_MODEL_NAME"
        )
    uses = uses_of(settings.model_for)
    endpoint = Endpoint(settings, settings.model_name)
    second = Endpoint(settings, settings.model_confirmer_name or settings.model_name)
    return Models(
        planner=ModelPlanner(endpoint) if "plan" in uses else None,
        confirmer=ModelConfirmer(second) if "confirm" in uses else None,
        regenerator=ModelInputRegenerator(endpoint) if "regenerate" in uses else None,
        writer=ModelClosingWriter(endpoint) if "write" in uses else None,
        endpoints=(endpoint, second),
        instructions=(WRITERS_RULES,),
    )


async def check_models(settings: Settings, *, asks: bool) -> str:
    """The model in one line.

    Args:
        asks: ask it for one word; else it is only opened, and nothing is reached.

    Raises:
        RefusedInput: it is not configured, its library is not installed, or it cannot be asked.
    """
    if not settings.model_name:
        raise RefusedInput("no model is configured: set CONDOR_MODEL_NAME")
    models = models_of(settings)
    endpoint = models.endpoints[0]
    if not asks:
        from condor.config import uses_of

        try:
            await endpoint.open()
        finally:
            await models.aclose()
        return f"{endpoint.place}, for {', '.join(uses_of(settings.model_for))}; --model asks it for one word"
    try:
        reply: Reply = await endpoint.ask(
            Question(about="a word", instructions="Answer with one word.", text="Are you there?")
        )
    finally:
        await models.aclose()
    return f"{endpoint.place} answers ({reply.tokens} tokens)"
