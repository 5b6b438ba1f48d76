"""Every ceiling of recovery, as one table: unit, default, what may be set, and why.

Law 1: a ceiling cannot be switched off. What is not a number within its bounds (zero, a negative, NaN,
infinity, junk) counts as the default.
Law 2: the leaf ceilings below are constants of one step's own attempts; the run's ledger is an envelope
around them and never widens them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from condor.core.ids import exact_word

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Replans of one run (mission: DEFAULT_MAX_REPLANS_PER_RUN, mutation-gate.ts:103).
DEFAULT_REPLANS_MAX = 2

# -- leaf ceilings ---------------------------------------------------------------------------

#: Times that one tool is asked again for one input after a fault that may pass (mission: MAX_TOOL_RETRY).
TOOL_RETRIES_MAX = 3
#: The same, where another tool can be asked: who has somewhere else to go does not knock a third time.
TOOL_RETRIES_BEFORE_SUBSTITUTE_MAX = 1
#: Times that the input of one step's call may be made anew by a model, a record write's among them (mission:
#: MUTATING_INPUT_REGEN_ATTEMPTS). A second try knows nothing that the first did not; a person is asked.
WRITE_INPUT_REGENERATIONS_MAX = 1
#: Times that a card may be rendered anew (mission: RENDER_UI_BLOCK_REGEN_ATTEMPTS). A card is a projection of
#: a result, so a second rendering is the first.
UI_BLOCK_REGENERATIONS_MAX = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One ceiling of the run-level ledger."""

    #: The field of ``Limits``, and the setting ``CONDOR_<NAME>``.
    name: str
    unit: str
    default: float
    #: The least and the most that may be set; outside of them it is the default.
    floor: float
    most: float
    #: Only whole numbers may be set.
    whole: bool = True
    #: Why it is there, and why so much.
    reason: str


LIMITS: tuple[Limit, ...] = (
    Limit(
        name="replans_max",
        unit="replans",
        default=DEFAULT_REPLANS_MAX,
        floor=1,
        most=5,
        reason="a step that always asks for a replan would otherwise never end",
    ),
    Limit(
        name="plan_mutations_max",
        unit="edits",
        default=8,
        floor=1,
        most=100,
        reason="a plan that was edited eight times is another plan than the one that was asked for",
    ),
    Limit(
        name="retries_per_step_max",
        unit="retries",
        default=6,
        floor=1,
        most=20,
        reason="two tools with three retries each; a fault that outlives them is no passing one",
    ),
    Limit(
        name="identical_inputs_max",
        unit="repetitions",
        default=6,
        floor=1,
        most=20,
        reason="the same step asked the same thing of the same tool: the answer will not change",
    ),
    Limit(
        name="identical_decisions_max",
        unit="decisions",
        default=3,
        floor=1,
        most=20,
        reason="the same decision on the same step, again and again, is a circle",
    ),
    Limit(
        name="take_ups_max",
        unit="restarts without progress",
        default=5,
        floor=1,
        most=100,
        reason="a run that ends the process at each restart ends every run beside it too",
    ),
    Limit(
        name="wall_time_s_max",
        unit="seconds",
        default=3_600,
        floor=1,
        most=7 * 24 * 3_600,
        whole=False,
        reason="an hour of work, without the time that people take; a plan of 2,000 calls takes minutes",
    ),
    Limit(
        name="tokens_max",
        unit="tokens",
        default=1_000_000,
        floor=1_000,
        most=1_000_000_000,
        reason="models are asked a few questions in a run; a million tokens is a loop",
    ),
    Limit(
        name="cost_usd_max",
        unit="US dollars",
        default=10,
        floor=0.01,
        most=100_000,
        whole=False,
        reason="what a careful person would want to be asked about before it is spent",
    ),
)

BY_NAME: Mapping[str, Limit] = {limit.name: limit for limit in LIMITS}
_NUMBER = re.compile(r"\s*[0-9]{1,15}(?:\.[0-9]{1,6})?\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The ceilings of one run; ``limits_from`` makes them of what was configured."""

    replans_max: int = DEFAULT_REPLANS_MAX
    plan_mutations_max: int = 8
    retries_per_step_max: int = 6
    identical_inputs_max: int = 6
    identical_decisions_max: int = 3
    take_ups_max: int = 5
    wall_time_s_max: float = 3_600
    tokens_max: int = 1_000_000
    cost_usd_max: float = 10

    def __post_init__(self) -> None:
        """Clamp every field: no instance holds a ceiling that is none."""
        for item in fields(self):
            object.__setattr__(self, item.name, clamp_limit(BY_NAME[item.name], getattr(self, item.name)))


def clamp_limit(limit: Limit, given: object) -> float:
    """What a configured value counts as: itself within the bounds, else the default. Total."""
    number = _number(given)
    fits = number is not None and limit.floor <= number <= limit.most
    if not fits or (limit.whole and number != int(number)):  # type: ignore[arg-type]
        return _whole(limit, limit.default)
    return _whole(limit, number)  # type: ignore[arg-type]


def _whole(limit: Limit, number: float) -> float:
    return int(number) if limit.whole else number


def _number(given: object) -> float | None:
    """A finite number, or a text that writes one plainly; decided by the real type alone."""
    if type(given) is int:
        return given
    if type(given) is float:
        return given if math.isfinite(given) else None
    word = exact_word(given)
    return float(word) if word is not None and _NUMBER.fullmatch(word) else None


def amount_words(amount: float) -> str:
    """An amount as texts say it: ``1,000,500``, ``0.25``."""
    return f"{amount:,.12g}"


def limits_from(configured: Mapping[str, object]) -> Limits:
    """The ceilings of a configuration; names that it does not have stand at their defaults. Total."""
    return Limits(**{name: configured[name] for name in BY_NAME if name in configured})  # type: ignore[arg-type]


DEFAULT_LIMITS = Limits()

__all__ = [
    "BY_NAME",
    "DEFAULT_LIMITS",
    "DEFAULT_REPLANS_MAX",
    "LIMITS",
    "TOOL_RETRIES_BEFORE_SUBSTITUTE_MAX",
    "TOOL_RETRIES_MAX",
    "UI_BLOCK_REGENERATIONS_MAX",
    "WRITE_INPUT_REGENERATIONS_MAX",
    "Limit",
    "Limits",
    "amount_words",
    "clamp_limit",
    "limits_from",
]
