"""A run as FHIR R4: its audit rows as AuditEvents, its cards as Tasks, what it wrote with its Provenance."""

from condor_hms.run_export.view import FhirRunView

__all__ = ["FhirRunView"]
