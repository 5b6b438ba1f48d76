"""The hospital's tools: each descriptor beside its function, made over one open record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_hms.catalogue.allergy_list import allergy_list_tools
from condor_hms.catalogue.allergy_record import allergy_record_tools
from condor_hms.catalogue.booking import booking_tools
from condor_hms.catalogue.discontinuing import discontinuing_tools
from condor_hms.catalogue.everything import everything_tools
from condor_hms.catalogue.flags import flag_tools
from condor_hms.catalogue.hospital import Hospital
from condor_hms.catalogue.interactions import interaction_tools
from condor_hms.catalogue.lab_orders import lab_order_tools
from condor_hms.catalogue.lab_reports import lab_report_tools
from condor_hms.catalogue.medicine_list import medicine_list_tools
from condor_hms.catalogue.patients import patient_tools
from condor_hms.catalogue.prescribing import prescribing_tools
from condor_hms.catalogue.problems import problem_tools
from condor_hms.catalogue.reported_medicines import reported_medicine_tools
from condor_hms.catalogue.results import result_tools
from condor_hms.catalogue.scheduling import scheduling_tools
from condor_hms.catalogue.summary import summary_tools
from condor_hms.catalogue.tasks import task_tools

if TYPE_CHECKING:
    from condor import ToolDescriptor

__all__ = ["Hospital", "hospital_tools"]

_AREAS = (
    patient_tools,
    summary_tools,
    allergy_list_tools,
    medicine_list_tools,
    problem_tools,
    result_tools,
    interaction_tools,
    prescribing_tools,
    discontinuing_tools,
    allergy_record_tools,
    flag_tools,
    everything_tools,
    reported_medicine_tools,
    lab_report_tools,
    scheduling_tools,
    lab_order_tools,
    booking_tools,
    task_tools,
)


def hospital_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """Every tool of the catalogue that this version has, over an open record."""
    return tuple(tool for area in _AREAS for tool in area(hospital))
