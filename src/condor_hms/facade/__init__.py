"""The record for other software: a FHIR R4 REST interface that reads and does nothing else."""

from condor_hms.facade.access import READERS, may_read
from condor_hms.facade.facade import RecordFacade

__all__ = ["READERS", "RecordFacade", "may_read"]
