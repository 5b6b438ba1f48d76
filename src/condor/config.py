"""Settings: everything that can be configured, from ``CONDOR_*`` environment variables or arguments."""

from __future__ import annotations

from pathlib import Path

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
    packs: str = Field(
        default="",
        description="Comma-separated tool packs to load; default: the demo pack where nothing is set.",
    )
