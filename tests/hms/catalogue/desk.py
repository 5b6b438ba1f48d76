"""Calling tools without a runtime: the context that the runtime would give, and the hooks it would call."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from condor import CardEvidence, Principal, Reconciled, ToolContext, ToolDescriptor
from condor_hms.catalogue import Hospital, hospital_tools

if TYPE_CHECKING:
    from collections.abc import Mapping

OKAFOR = Principal(id="dr-okafor", roles=frozenset({"doctor"}), display="Dr Okafor")
LINDHOLM = Principal(id="dr-lindholm", roles=frozenset({"doctor"}), display="Dr Lindholm")
CASTILLO = Principal(id="rn-castillo", roles=frozenset({"nurse"}), display="Nurse Castillo")
NOW = datetime.datetime(2026, 11, 30, 9, 30, tzinfo=datetime.UTC)

MELISSA = "Patient/pt-0612cf63eb84"
FRANCES = "Patient/pt-0b48e58a786b"
JOHN = "Patient/pt-65e78d9ba50c"
HELEN = "Patient/pt-bf0d2c068a08"
NICHOLAS = "Patient/pt-a664c9335e57"
KRISTIN = "Patient/pt-af9c28587165"
ROBIN = "Patient/pt-22b3415e7810"

NITROFURANTOIN: Mapping[str, Any] = {
    "patient": MELISSA,
    "medication": "Nitrofurantoin",
    "dose_value": 100,
    "dose_unit": "mg",
    "route": "oral",
    "frequency": "BID",
    "duration_days": 5,
    "indication": "UTI",
}


class Desk:
    """The tools of one hospital, by name."""

    def __init__(self, hospital: Hospital) -> None:
        self.hospital = hospital
        self.fhir = hospital.fhir
        self.tools: dict[str, ToolDescriptor] = {tool.name: tool for tool in hospital_tools(hospital)}

    def context(self, **given: Any) -> ToolContext:
        """What the runtime would say of a call by Dr Okafor."""
        known: dict[str, Any] = {
            "run_id": "run_1",
            "step_id": "s3",
            "attempt": 1,
            "principal": OKAFOR,
            "idempotency_key": "key-1",
            "now": NOW,
            "today": self.hospital.today,
        }
        return ToolContext(**{**known, **given})

    async def call(self, tool: str, args: Mapping[str, Any], **given: Any) -> Any:
        """Run a tool's function."""
        function = self.tools[tool].function
        assert function is not None
        return await function(self.context(**given), **args)

    async def preview(self, tool: str, args: Mapping[str, Any], **given: Any) -> CardEvidence:
        """What its card would show; nothing is written yet, so the call has no key."""
        hook = self.tools[tool].preview
        assert hook is not None
        evidence = await hook(self.context(**{"idempotency_key": "", **given}), **args)
        assert isinstance(evidence, CardEvidence)
        return evidence

    async def reconcile(self, tool: str, args: Mapping[str, Any], **given: Any) -> Reconciled:
        """What the record says of a call of unknown outcome."""
        hook = self.tools[tool].reconcile
        assert hook is not None
        answer = await hook(self.context(**given), **args)
        assert isinstance(answer, Reconciled)
        return answer

    def report(self, tool: str, args: Mapping[str, Any], value: Any) -> str:
        """The sentence for the closing text."""
        hook = self.tools[tool].report
        assert hook is not None
        return hook(args, value)

    async def search(self, resource_type: str, **params: str) -> list[dict[str, Any]]:
        """The record itself; ``_`` in a parameter's name stands for ``-``."""
        named = {name.replace("_", "-") if name[0] != "_" else name: value for name, value in params.items()}
        return await self.fhir.search(resource_type, named)
