"""A run's evidence in short, as the corpus writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from condor.core.observers import ClaimEvidence, StepEvidence
from condor.core.outcome import StepStatus

CORPUS = Path(__file__).parent / "corpus"
#: How each status of a ledger stands in the evidence.
_STANDS_AS: dict[str, dict[str, Any]] = {
    "succeeded": {"status": StepStatus.SUCCEEDED, "attempted": True},
    "failed": {"status": StepStatus.FAILED, "attempted": True, "message": "the server said no"},
    "degraded": {"status": StepStatus.DEGRADED, "attempted": True},
    "unknown": {"status": StepStatus.UNKNOWN, "attempted": True},
    "denied": {"status": StepStatus.SKIPPED, "code": "denied", "gated": True, "declined_by": "Dr. Rao"},
    "expired": {"status": StepStatus.SKIPPED, "code": "expired", "gated": True},
    "role": {"status": StepStatus.SKIPPED, "code": "role", "message": "needs the role doctor"},
    "not_reached": {"status": StepStatus.SKIPPED, "code": "not_reached"},
}


def evidence_of(ledger: list[dict[str, Any]]) -> ClaimEvidence:
    return ClaimEvidence(steps=tuple(step_of(entry) for entry in ledger))


def step_of(entry: dict[str, Any]) -> StepEvidence:
    entity = entry.get("entity", ())
    return StepEvidence(
        step_id=entry.get("id", entry["tool"]),
        tool=entry["tool"],
        op=entry.get("op", ""),
        noun=entry.get("noun", entry["tool"]),
        entities=(entity,) if isinstance(entity, str) else tuple(entity),
        effectful=entry.get("class", "mutate") != "read",
        sentence=entry.get("sentence", ""),
        reported="sentence" in entry,
        **_STANDS_AS[entry["status"]],
    )


def groups(files: str = "*.json") -> list[dict[str, Any]]:
    return [group for path in sorted(CORPUS.glob(files)) for group in json.loads(path.read_text())]
