"""Settings: everything that can be configured, from ``CONDOR_*`` environment variables or arguments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from condor.core.errors import RefusedInput, show

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Seconds in a day: an approval that nobody gave by tomorrow is not given.
SUSPEND_TTL_S_DEFAULT = 24 * 3600.0
#: A day as well: a parked run without a card can only be a fault, and nobody can wake it.
IDLE_S_DEFAULT = 24 * 3600.0
#: Ten years of seconds: a card that is open for longer is forgotten, and dates beyond it overflow.
SUSPEND_TTL_S_MAX = 10 * 365 * 24 * 3600.0


class Settings(BaseSettings):
    """One process's settings."""

    model_config = SettingsConfigDict(env_prefix="CONDOR_", extra="ignore", frozen=True)

    home: Path = Field(default=Path(".condor"), description="Where state lives; made with mode 0700.")
    database_url: str = Field(
        default="", description="Database; default: an SQLite file in the home. `sqlite:///path/to/file.db`."
    )
    suspend_ttl_s: float = Field(
        default=SUSPEND_TTL_S_DEFAULT,
        gt=0,
        le=SUSPEND_TTL_S_MAX,
        allow_inf_nan=False,
        description=(
            "Seconds after which an unanswered card expires and its run ends as aborted; ten years at most."
        ),
    )
    idle_s: float = Field(
        default=IDLE_S_DEFAULT,
        ge=60,
        le=SUSPEND_TTL_S_MAX,
        allow_inf_nan=False,
        description=(
            "Seconds after which a parked run that no open card holds ends as aborted; 60 to ten years. "
            "A run with an open card is never idle."
        ),
    )
    # The ceilings of recovery. Any value is taken: what is no number within its bounds (zero, NaN, junk)
    # counts as the default, so that no setting can switch a ceiling off.
    replans_max: Any = Field(default=None, description="Replans of one run: 1 to 5; else 2.")
    plan_mutations_max: Any = Field(default=None, description="Edits of one run's plan: 1 to 100; else 8.")
    retries_per_step_max: Any = Field(default=None, description="Retries of one step: 1 to 20; else 6.")
    identical_inputs_max: Any = Field(
        default=None, description="Repetitions of one step's same call: 1 to 20; else 6."
    )
    identical_decisions_max: Any = Field(
        default=None, description="The same decision on one step: 1 to 20; else 3."
    )
    wall_time_s_max: Any = Field(
        default=None, description="Seconds of work on one run, parked time excluded: 1 to 604800; else 3600."
    )
    tokens_max: Any = Field(
        default=None, description="Tokens of recovery's models in one run: 1000 to 1e9; else 1000000."
    )
    cost_usd_max: Any = Field(
        default=None, description="US dollars of recovery's models in one run: 0.01 to 100000; else 10."
    )
    auth: Literal["", "development", "tokens"] = Field(
        default="",
        description=(
            "Who may sign in to a server: `tokens` (programs by bearer tokens, and the home's operator) or "
            "`development` (the packs' people, on this machine alone). Without it `condor serve` refuses."
        ),
    )
    bind: str = Field(default="127.0.0.1", description="Address that a server listens on.")
    port: int = Field(default=8421, ge=0, le=65535, description="Port of a server; 0 takes a free one.")
    public_url: str = Field(
        default="",
        description=(
            "A server's address as browsers reach it, `https://condor.example`; needed where it listens for "
            "others than this machine."
        ),
    )
    streams_max: int = Field(default=5_000, ge=1, description="Open streams of a server, in total.")
    streams_each_max: int = Field(default=100, ge=1, description="Open streams of one principal.")
    packs: str = Field(
        default="",
        description="Comma-separated tool packs to load; default: the demo pack where nothing is set.",
    )


def read_settings(**given: Any) -> Settings:
    """The settings of the environment, and what was given instead of them.

    Raises:
        RefusedInput: a variable cannot be used.
    """
    try:
        return Settings(**given)
    except ValidationError as fault:
        raise RefusedInput(_what_to_write(fault), code="settings") from None


def _what_to_write(fault: ValidationError) -> str:
    """Each variable that cannot be used, its value, and what to write instead."""
    return "; ".join(
        f"CONDOR_{str(error['loc'][0]).upper()} is {show(error['input'])}; "
        f"write {_TO_WRITE.get(str(error['loc'][0]), 'another value')}"
        for error in fault.errors(include_url=False)
    )


_TO_WRITE: Mapping[str, str] = {
    "suspend_ttl_s": "a number of seconds above 0, at most 315360000 (ten years)",
    "idle_s": "a number of seconds from 60 to 315360000 (ten years)",
    "auth": "tokens or development",
    "port": "a number from 0 to 65535",
    "streams_max": "a whole number, at least 1",
    "streams_each_max": "a whole number, at least 1",
}
