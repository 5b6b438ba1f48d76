"""The hospital layer of Condor: a FHIR R4 record, its tools, alerts, a planner and a demonstration."""
