"""Settings: everything that can be configured, from ``CONDOR_*`` environment variables or arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

#: Seconds in a day: an approval that nobody gave by tomorrow is not given.
SUSPEND_TTL_S_DEFAULT = 24 * 3600.0


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
        allow_inf_nan=False,
        description="Seconds after which an unanswered card expires and its run ends as aborted.",
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
    packs: str = Field(
        default="",
        description="Comma-separated tool packs to load; default: the demo pack where nothing is set.",
    )
