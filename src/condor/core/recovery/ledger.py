"""The circuit breaker: what recovery may spend in one run, and a typed stop when it is spent.

Law 1: what does not fit is not charged, so no figure ever stands above its ceiling.
Law 2: a breaker that has opened stays open; every later charge gets the same stop.
Law 3: a charge is for the attempt, whatever comes of it: an attempt that fails is charged too. Only what was
not begun is given back, and never what is gone: time, tokens, money.
Law 4: pure values. Whoever charges stores the ledger in the transaction of what it pays for, so that a
restart refills nothing. (Mission: mutation-gate.ts.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from condor.core.outcome import is_amount
from condor.core.recovery.limits import BY_NAME, DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from condor.core.ids import Json

#: Version of the stored form.
_VERSION = 1
#: Ceilings of what is spent before it can be charged: time, and what a model or a tool says it cost.
_GONE = frozenset({"wall_time_s_max", "tokens_max", "cost_usd_max"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one act of recovery costs."""

    #: The step it is about; empty where it is about the run.
    step: str = ""
    plan_mutations: int = 0
    replans: int = 0
    retries: int = 0
    #: Digest of tool and input that are tried again; empty where they are not.
    repeats: str = ""
    #: Digest of the decision that is taken; empty where none is.
    decides: str = ""
    tokens: int = 0
    cost_usd: float = 0

    def __post_init__(self) -> None:
        """Refuse amounts that would give something back.

        Raises:
            ValueError: an amount is negative or no number.
        """
        amounts = (self.plan_mutations, self.replans, self.retries, self.tokens, self.cost_usd)
        if not all(is_amount(amount) for amount in amounts):
            raise ValueError("a charge is never negative and always a number")


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerStop:
    """The breaker has opened: the run ends here, with its reason."""

    #: Name of the ceiling; ``confirmer`` where a second model said to stop.
    limit: str
    #: What was spent of it, and the most that may be.
    used: float
    most: float
    #: ``degraded`` if any leaf had succeeded by then.
    outcome: Literal["failed", "degraded"]
    kind: Literal["stop"] = "stop"

    @property
    def unit(self) -> str:
        """Of ``used`` and ``most``; empty where no ceiling was met but a confirmer said to stop."""
        return BY_NAME[self.limit].unit if self.limit in BY_NAME else ""

    def to_json(self) -> dict[str, Json]:
        """As stored, and as the event tells it."""
        return {
            "limit": self.limit,
            "used": self.used,
            "most": self.most,
            "unit": self.unit,
            "outcome": self.outcome,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSpent:
    """What one open step has spent."""

    retries: int = 0
    #: Digest of tool and input → how often they were tried again.
    repeated: Mapping[str, int] = field(default_factory=dict)
    #: Digest of a decision → how often it was taken.
    decided: Mapping[str, int] = field(default_factory=dict)
    #: Retries, and the most of any repetition and of any decision: told once, since each charge asks it
    #: of every open step.
    most: tuple[int, int, int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        most = (self.retries, max(self.repeated.values(), default=0), max(self.decided.values(), default=0))
        object.__setattr__(self, "most", most)


_NOTHING = StepSpent()


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitBreakerLedger:
    """What a run has spent, under its ceilings."""

    limits: Limits = DEFAULT_LIMITS
    plan_mutations: int = 0
    replans: int = 0
    tokens: int = 0
    cost_usd: float = 0
    #: Seconds worked on the run; what it was parked or down for is not among them.
    worked_s: float = 0
    #: Steps that are still open; a settled one never runs again, so it is forgotten.
    steps: Mapping[str, StepSpent] = field(default_factory=dict)
    #: The most that any settled step had spent: retries, repetitions, decisions.
    most_of_settled: tuple[int, int, int] = (0, 0, 0)
    #: Times in a row that the run was taken up with nothing done since the time before.
    take_ups: int = 0
    #: What had been done then, in a word.
    done_before: str = ""
    stop: BreakerStop | None = None

    def charge(
        self, charge: Charge, *, worked_s: float = 0, any_succeeded: bool = False
    ) -> CircuitBreakerLedger | BreakerStop:
        """The ledger after this charge, or the stop that it meets.

        Args:
            worked_s: seconds worked on the run until now.
            any_succeeded: whether any leaf has succeeded by now.
        """
        if self.stop is not None:
            return self.stop
        after = self._after(charge, worked_s)
        for name, used in after.used().items():
            if used > getattr(self.limits, name):
                return BreakerStop(
                    limit=name,
                    # What is gone is gone, charged or not; everything else was not done.
                    used=used if name in _GONE else self.used()[name],
                    most=getattr(self.limits, name),
                    outcome="degraded" if any_succeeded else "failed",
                )
        return after

    def fits(self, charge: Charge, *, worked_s: float = 0) -> bool:
        """Whether it would be charged."""
        return isinstance(self.charge(charge, worked_s=worked_s), CircuitBreakerLedger)

    def tripped(self, stop: BreakerStop) -> CircuitBreakerLedger:
        """The ledger with its breaker open; the first stop stays."""
        return self if self.stop is not None else replace(self, stop=stop)

    def taken_up(self, done: str, *, any_succeeded: bool = False) -> CircuitBreakerLedger | BreakerStop:
        """The ledger after its run was taken up once more, or the stop that it meets.

        Args:
            done: what has been done of the run, in a word: another one is progress.
        """
        if self.stop is not None:
            return self.stop
        take_ups = self.take_ups + 1 if done == self.done_before else 1
        if take_ups > self.limits.take_ups_max:
            return BreakerStop(
                limit="take_ups_max",
                used=self.take_ups,
                most=self.limits.take_ups_max,
                outcome="degraded" if any_succeeded else "failed",
            )
        return replace(self, take_ups=take_ups, done_before=done)

    def given_back(self) -> CircuitBreakerLedger:
        """The ledger of a run that was let go of in order: its last taking up does not count."""
        return replace(self, take_ups=self.take_ups - 1) if self.take_ups and self.stop is None else self

    def refunded(self, charge: Charge) -> CircuitBreakerLedger:
        """The ledger without a charge for what was not done in the end; the charges of others stay.

        Tokens and money are gone and stay charged, and so does time; a breaker that has opened stays open.
        """
        steps = self.steps
        if charge.step in steps:
            spent = steps[charge.step]
            spent = StepSpent(
                retries=max(0, spent.retries - charge.retries),
                repeated=_uncounted(spent.repeated, charge.repeats),
                decided=_uncounted(spent.decided, charge.decides),
            )
            steps = _with_step(steps, charge.step, spent)
        return replace(
            self,
            plan_mutations=max(0, self.plan_mutations - charge.plan_mutations),
            replans=max(0, self.replans - charge.replans),
            steps=steps,
        )

    def overspent(self, charge: Charge) -> CircuitBreakerLedger:
        """The ledger after something was spent with its breaker open; the stop tells what is gone in all."""
        gone = {"tokens_max": charge.tokens, "cost_usd_max": charge.cost_usd}
        if self.stop is None or not gone.get(self.stop.limit):
            return self
        return replace(self, stop=replace(self.stop, used=self.stop.used + gone[self.stop.limit]))

    def settled(self, step: str) -> CircuitBreakerLedger:
        """The ledger without a step that never runs again."""
        if step not in self.steps:
            return self
        most = _most([self.most_of_settled, self.steps[step].most])
        return replace(self, steps=_with_step(self.steps, step, _NOTHING), most_of_settled=most)

    def spent_by(self, step: str) -> StepSpent:
        """What an open step has spent."""
        return self.steps.get(step, _NOTHING)

    @property
    def most_of_a_step(self) -> tuple[int, int, int]:
        """The most that any step has spent: retries, repetitions, decisions."""
        if not self.steps:
            return self.most_of_settled
        return _most([self.most_of_settled, *(spent.most for spent in self.steps.values())])

    def used(self) -> dict[str, float]:
        """Every ceiling by name → what was spent of it."""
        retries, repeated, decided = self.most_of_a_step
        return {
            "replans_max": self.replans,
            "plan_mutations_max": self.plan_mutations,
            "retries_per_step_max": retries,
            "identical_inputs_max": repeated,
            "identical_decisions_max": decided,
            "take_ups_max": self.take_ups,
            "wall_time_s_max": self.worked_s,
            "tokens_max": self.tokens,
            "cost_usd_max": self.cost_usd,
        }

    def _after(self, charge: Charge, worked_s: float) -> CircuitBreakerLedger:
        steps = self.steps
        if charge.step:
            spent = self.spent_by(charge.step)
            spent = StepSpent(
                retries=spent.retries + charge.retries,
                repeated=_counted(spent.repeated, charge.repeats),
                decided=_counted(spent.decided, charge.decides),
            )
            steps = _with_step(steps, charge.step, spent)
        return replace(
            self,
            plan_mutations=self.plan_mutations + charge.plan_mutations,
            replans=self.replans + charge.replans,
            tokens=self.tokens + charge.tokens,
            cost_usd=self.cost_usd + charge.cost_usd,
            worked_s=max(self.worked_s, worked_s) if math.isfinite(worked_s) else self.worked_s,
            steps=steps,
        )

    # -- stored form -------------------------------------------------------------------------

    def to_json(self) -> dict[str, Json]:
        """What a restart needs; the ceilings are the process's."""
        stored: dict[str, Json] = {
            "v": _VERSION,
            "planMutations": self.plan_mutations,
            "replans": self.replans,
            "tokens": self.tokens,
            "costUsd": self.cost_usd,
            "workedS": self.worked_s,
            "mostOfAStep": list(self.most_of_a_step),
            "mostOfSettled": list(self.most_of_settled),
            "steps": {
                name: {
                    "retries": spent.retries,
                    "repeated": dict(spent.repeated),
                    "decided": dict(spent.decided),
                }
                for name, spent in self.steps.items()
            },
        }
        if self.done_before:
            stored["takeUps"] = {"times": self.take_ups, "done": self.done_before}
        if self.stop is not None:
            stored["stop"] = self.stop.to_json()
        return stored


def ledger_from_json(stored: Mapping[str, Any] | None, limits: Limits) -> CircuitBreakerLedger:
    """The ledger as it was stored, under the ceilings of this process; a new one where nothing was charged.

    Raises:
        ValueError, KeyError, TypeError: what is stored is damaged. It is never taken for an empty one.
    """
    if stored is None:
        return CircuitBreakerLedger(limits=limits)
    if stored["v"] != _VERSION:
        raise ValueError(f"its budget has version {stored['v']!r}; this process reads {_VERSION}")
    most = _three(stored["mostOfAStep"])
    stop, taken = stored.get("stop"), stored.get("takeUps")
    ledger = CircuitBreakerLedger(
        limits=limits,
        plan_mutations=_amount(stored["planMutations"]),
        replans=_amount(stored["replans"]),
        tokens=_amount(stored["tokens"]),
        cost_usd=_amount(stored["costUsd"]),
        worked_s=_amount(stored["workedS"]),
        # What an earlier version stored does not tell settled steps from open ones: none counts for less.
        most_of_settled=_three(stored["mostOfSettled"]) if "mostOfSettled" in stored else most,
        take_ups=0 if taken is None else _amount(taken["times"]),
        done_before="" if taken is None else str(taken["done"]),
        steps={
            name: StepSpent(
                retries=_amount(spent["retries"]),
                repeated={key: _amount(times) for key, times in spent["repeated"].items()},
                decided={key: _amount(times) for key, times in spent["decided"].items()},
            )
            for name, spent in stored["steps"].items()
        },
        stop=None if stop is None else _stop_of(stop),
    )
    if ledger.most_of_a_step != most:
        raise ValueError("its budget does not add up: the most of a step is not what its steps have spent")
    return ledger


def _three(stored: Any) -> tuple[int, int, int]:
    retries, repeated, decided = (_amount(most) for most in stored)
    return retries, repeated, decided


def _stop_of(stored: Mapping[str, Any]) -> BreakerStop:
    is_known = stored["limit"] in BY_NAME or stored["limit"] == "confirmer"
    if not is_known or stored["outcome"] not in ("failed", "degraded"):
        raise ValueError("its budget names a ceiling or an end that there is not")
    return BreakerStop(
        limit=stored["limit"],
        used=_amount(stored["used"]),
        most=_amount(stored["most"]),
        outcome=stored["outcome"],
    )


def _amount(stored: Any) -> Any:
    if type(stored) not in (int, float) or not math.isfinite(stored) or stored < 0:
        raise ValueError("its budget holds an amount that is none")
    return stored


def _counted(counts: Mapping[str, int], key: str) -> Mapping[str, int]:
    return {**counts, key: counts.get(key, 0) + 1} if key else counts


def _uncounted(counts: Mapping[str, int], key: str) -> Mapping[str, int]:
    left = {**counts, key: counts.get(key, 0) - 1}
    return {name: times for name, times in left.items() if times > 0}


def _with_step(steps: Mapping[str, StepSpent], step: str, spent: StepSpent) -> Mapping[str, StepSpent]:
    """The steps with what this one has spent; one that has spent nothing has no place among them."""
    others = {name: before for name, before in steps.items() if name != step}
    return others if spent == _NOTHING else {**others, step: spent}


def _most(amounts: Iterable[tuple[int, int, int]]) -> tuple[int, int, int]:
    retries, repeated, decided = (max(column) for column in zip(*amounts, strict=True))
    return retries, repeated, decided


__all__ = ["BreakerStop", "Charge", "CircuitBreakerLedger", "StepSpent", "ledger_from_json"]
