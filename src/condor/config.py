"""Settings: everything that can be configured, from ``CONDOR_*`` environment variables or arguments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
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


#: What a model may be asked for, in the order in which a run comes to it.
MODEL_USES = ("plan", "confirm", "regenerate", "write")


class Settings(BaseSettings):
    """One process's settings."""

    # `model_…` is a setting here; of pydantic's own names only those it has are taken.
    model_config = SettingsConfigDict(
        env_prefix="CONDOR_",
        extra="ignore",
        frozen=True,
        protected_namespaces=("model_validate", "model_dump"),
    )

    home: Path = Field(default=Path(".condor"), description="Where state lives; made with mode 0700.")
    database_url: str = Field(
        default="",
        description=(
            "Database; default: an SQLite file in the home. `sqlite:///path/to/file.db`, or, shared by any "
            "number of processes, `postgresql://user:password@host:5432/database` (PostgreSQL 15 or newer; "
            "schema `condor`, `?search_path=name` takes another; extra `[postgres]`)."
        ),
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
    replans_max: Any = Field(
        default=None,
        description="Replans of one run: 1 to 5; else 2. Of one step: CONDOR_IDENTICAL_DECISIONS_MAX too.",
    )
    plan_mutations_max: Any = Field(default=None, description="Edits of one run's plan: 1 to 100; else 8.")
    retries_per_step_max: Any = Field(default=None, description="Retries of one step: 1 to 20; else 6.")
    identical_inputs_max: Any = Field(
        default=None, description="Repetitions of one step's same call: 1 to 20; else 6."
    )
    identical_decisions_max: Any = Field(
        default=None, description="The same decision on one step: 1 to 20; else 3."
    )
    take_ups_max: Any = Field(
        default=None,
        description=(
            "Times in a row that one run is taken up after its process ended, with nothing done in between: "
            "1 to 100; else 5."
        ),
    )
    wall_time_s_max: Any = Field(
        default=None, description="Seconds of work on one run, parked time excluded: 1 to 604800; else 3600."
    )
    tokens_max: Any = Field(
        default=None, description="Tokens of recovery's models in one run: 1000 to 1000000000; else 1000000."
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
    no_worker: bool = Field(
        default=False,
        description=(
            "A server that works on no run itself: segments are jobs for `condor worker`, as with "
            "`condor serve --no-worker`. Needs PostgreSQL."
        ),
    )
    worker_concurrency: int = Field(
        default=50, ge=1, le=1_000, description="Runs that a worker works on at once."
    )
    worker_heartbeat_s: float = Field(
        default=2.0,
        ge=0.5,
        le=60,
        allow_inf_nan=False,
        description="Seconds between a worker's signs of life.",
    )
    worker_stalled_s: float = Field(
        default=8.0,
        ge=2,
        le=600,
        allow_inf_nan=False,
        validate_default=True,
        description=(
            "Seconds without a sign of life after which a worker's jobs are another's; three heartbeats at "
            "least. Larger where workers compute for long without a pause."
        ),
    )
    worker_poll_s: float = Field(
        default=1.0,
        ge=1,
        le=60,
        allow_inf_nan=False,
        description="Seconds between a worker's looks for jobs of which no notification came.",
    )
    worker_grace_s: float = Field(
        default=10.0,
        ge=0,
        le=600,
        allow_inf_nan=False,
        description=(
            "Seconds that steps in flight have to finish when a worker is stopped; then its runs are handed "
            "over as they are."
        ),
    )
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
    processors: str = Field(
        default="",
        description=(
            "Message processors that are on, with their configurations, as a JSON object; "
            'default: `{"unicode-normalizer": {}, "batch-parts": {}}`.'
        ),
    )
    sink_file: str = Field(
        default="",
        description=(
            "A file that gets every audit row as a JSON line, at least once and behind the runs; empty: none."
        ),
    )
    sink_url: str = Field(
        default="",
        description=(
            "An address that gets audit rows by POST, `https://…`, or `http://` on this machine: at least "
            "once, behind the runs, without record data. No redirect is followed. Empty: none."
        ),
    )
    sink_key: SecretStr = Field(
        default=SecretStr(""),
        description="Signs what `CONDOR_SINK_URL` gets: `X-Condor-Signature: sha256=…` (HMAC). Never shown.",
    )
    model_name: str = Field(
        default="",
        description="The model that plans; empty: no model, and everything that needs none works as it is.",
    )
    model_base_url: str = Field(
        default="",
        description=(
            "Where the model is: the address of any endpoint that speaks the OpenAI chat wire, "
            "`http://localhost:11434/v1`. Empty: the provider's own."
        ),
    )
    model_key: SecretStr = Field(
        default=SecretStr(""), description="The endpoint's key. It is never logged and never shown."
    )
    model_provider: str = Field(
        default="openai",
        pattern=r"^[a-z][a-z0-9-]{0,39}$",
        description=(
            "Whose wire the model speaks: `openai` for every OpenAI-compatible endpoint; another provider of "
            "`pydantic-ai-slim` needs its client library installed beside Condor."
        ),
    )
    model_for: str = Field(
        default=",".join(MODEL_USES),
        description=(
            "Comma-separated: what the model is asked for, of `plan` (requests in words), `confirm` (a "
            "second look at edits of a plan), `regenerate` (arguments that cannot be used) and `write` "
            "(the closing)."
        ),
    )
    model_confirmer_name: str = Field(
        default="",
        description="The model that confirms, apart from the one that plans; empty: the same, asked afresh.",
    )
    model_output: Literal["tool", "json-schema", "prompt"] = Field(
        default="tool",
        description=(
            "How a structured answer is asked for: by a tool call, by a JSON schema of the response, or in "
            "words alone, for endpoints that have neither."
        ),
    )
    model_timeout_s: float = Field(
        default=60.0,
        gt=0,
        le=300,
        allow_inf_nan=False,
        description="Seconds for one whole answer of a model, repeated attempts included; 300 at most.",
    )
    model_connect_timeout_s: float = Field(
        default=5.0, gt=0, le=60, allow_inf_nan=False, description="Seconds to reach a model's endpoint."
    )
    model_retries: int = Field(
        default=2,
        ge=0,
        le=5,
        description=(
            "How often a model that is busy or away is asked again within its time; it says itself how "
            "long to wait (`retry-after`)."
        ),
    )
    model_answer_tokens_max: int = Field(
        default=8_000, ge=100, le=200_000, description="Longest answer of a model, in tokens."
    )
    model_input_usd: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description=(
            "US dollars for a million tokens read, where the model's price is not known; with "
            "`CONDOR_MODEL_OUTPUT_USD`."
        ),
    )
    model_output_usd: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="US dollars for a million tokens written, where the model's price is not known.",
    )

    @field_validator("worker_stalled_s")
    @classmethod
    def _heard_of_in_time(cls, seconds: float, info: ValidationInfo) -> float:
        """One lost heartbeat is no death."""
        if seconds < 3 * info.data.get("worker_heartbeat_s", 0.0):
            raise ValueError("too short")
        return seconds

    @field_validator("model_base_url")
    @classmethod
    def _an_address(cls, url: str) -> str:
        """An address that can be shown: http or https, and no password in it."""
        if not url:
            return url
        read = urlsplit(url)
        if read.scheme not in ("http", "https") or not read.hostname or read.username or read.password:
            raise ValueError("no address")
        if read.port == 0:  # one that is no number, or beyond 65535, raises as it is read
            raise ValueError("no port")
        return url

    @field_validator("sink_url")
    @classmethod
    def _a_safe_address(cls, url: str) -> str:
        """One that is encrypted on its way, or goes nowhere."""
        read = urlsplit(cls._an_address(url))
        if url and read.scheme != "https" and read.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError("unencrypted")
        return url

    @field_validator("model_for")
    @classmethod
    def _known_uses(cls, listed: str) -> str:
        """Words of ``MODEL_USES``."""
        if unknown := set(uses_of(listed)) - set(MODEL_USES):
            raise ValueError(f"unknown: {sorted(unknown)}")
        return listed


def uses_of(listed: str) -> tuple[str, ...]:
    """The words of a comma-separated list."""
    return tuple(word.strip() for word in listed.split(",") if word.strip())


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
        f"CONDOR_{str(error['loc'][0]).upper()} is {_shown(error)}; "
        f"write {_TO_WRITE.get(str(error['loc'][0]), 'another value')}"
        for error in fault.errors(include_url=False)
    )


def _shown(error: Mapping[str, Any]) -> str:
    """The value, quoted; nothing of one that may hold a password."""
    return "not usable" if error["loc"][0] in _MAY_HOLD_SECRETS else show(error["input"])


_MAY_HOLD_SECRETS = frozenset({"database_url", "model_base_url", "model_key", "sink_url", "sink_key"})


_TO_WRITE: Mapping[str, str] = {
    "suspend_ttl_s": "a number of seconds above 0, at most 315360000 (ten years)",
    "idle_s": "a number of seconds from 60 to 315360000 (ten years)",
    "auth": "tokens or development",
    "port": "a number from 0 to 65535",
    "streams_max": "a whole number, at least 1",
    "streams_each_max": "a whole number, at least 1",
    "no_worker": "true or false",
    "worker_concurrency": "a whole number from 1 to 1000",
    "worker_heartbeat_s": "a number of seconds from 0.5 to 60",
    "worker_stalled_s": "a number of seconds from 2 to 600, three heartbeats at least",
    "worker_poll_s": "a number of seconds from 1 to 60",
    "worker_grace_s": "a number of seconds from 0 to 600",
    "model_provider": "a provider's name, as openai",
    "model_base_url": "an http or https address without a password, as http://localhost:11434/v1",
    "sink_url": "an https address without a password, or an http one of this machine",
    "model_for": f"some of {', '.join(MODEL_USES)}",
    "model_output": "tool, json-schema or prompt",
    "model_timeout_s": "a number of seconds above 0, at most 300",
    "model_connect_timeout_s": "a number of seconds above 0, at most 60",
    "model_retries": "a whole number from 0 to 5",
    "model_answer_tokens_max": "a whole number from 100 to 200000",
    "model_input_usd": "US dollars for a million tokens, 0 or more",
    "model_output_usd": "US dollars for a million tokens, 0 or more",
}
