"""The hospital's tools: each descriptor beside its function, made over one open record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_hms.catalogue.allergy_changes import allergy_change_tools
from condor_hms.catalogue.allergy_list import allergy_list_tools
from condor_hms.catalogue.allergy_record import allergy_record_tools
from condor_hms.catalogue.analytics import analytics_tools
from condor_hms.catalogue.appointments import appointment_tools
from condor_hms.catalogue.audit_trail import audit_trail_tools
from condor_hms.catalogue.billing import billing_tools
from condor_hms.catalogue.booking import booking_tools
from condor_hms.catalogue.care_plans import care_plan_tools
from condor_hms.catalogue.discontinuing import discontinuing_tools
from condor_hms.catalogue.documents import document_tools
from condor_hms.catalogue.everything import everything_tools
from condor_hms.catalogue.flags import flag_tools
from condor_hms.catalogue.hospital import Hospital
from condor_hms.catalogue.imaging import imaging_tools
from condor_hms.catalogue.immunizations import immunization_tools
from condor_hms.catalogue.interactions import interaction_tools
from condor_hms.catalogue.lab_orders import lab_order_tools
from condor_hms.catalogue.lab_reports import lab_report_tools
from condor_hms.catalogue.medicine_changes import medicine_change_tools
from condor_hms.catalogue.medicine_list import medicine_list_tools
from condor_hms.catalogue.messages import message_tools
from condor_hms.catalogue.notes import note_tools
from condor_hms.catalogue.orders import order_tools
from condor_hms.catalogue.patients import patient_tools
from condor_hms.catalogue.prescribing import prescribing_tools
from condor_hms.catalogue.problem_record import problem_record_tools
from condor_hms.catalogue.problems import problem_tools
from condor_hms.catalogue.reported_medicines import reported_medicine_tools
from condor_hms.catalogue.reporting import reporting_tools
from condor_hms.catalogue.results import result_tools
from condor_hms.catalogue.scheduling import scheduling_tools
from condor_hms.catalogue.shown import with_bound_cards
from condor_hms.catalogue.subjects import with_subjects
from condor_hms.catalogue.summary import summary_tools
from condor_hms.catalogue.tasks import task_tools
from condor_hms.catalogue.visits import visit_tools
from condor_hms.catalogue.vitals import vital_tools

if TYPE_CHECKING:
    from collections.abc import Iterable

    from condor import ToolDescriptor

__all__ = ["Hospital", "hospital_tools", "with_cards"]

_AREAS = (
    patient_tools,
    summary_tools,
    everything_tools,
    allergy_list_tools,
    medicine_list_tools,
    reported_medicine_tools,
    problem_tools,
    care_plan_tools,
    result_tools,
    lab_report_tools,
    vital_tools,
    imaging_tools,
    visit_tools,
    appointment_tools,
    scheduling_tools,
    document_tools,
    order_tools,
    billing_tools,
    interaction_tools,
    audit_trail_tools,
    prescribing_tools,
    medicine_change_tools,
    discontinuing_tools,
    allergy_record_tools,
    allergy_change_tools,
    problem_record_tools,
    lab_order_tools,
    immunization_tools,
    note_tools,
    booking_tools,
    task_tools,
    flag_tools,
    message_tools,
    reporting_tools,
    analytics_tools,
)


def hospital_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """Every tool of the catalogue, over an open record."""
    return with_cards(hospital, (tool for area in _AREAS for tool in area(hospital)))


def with_cards(hospital: Hospital, tools: Iterable[ToolDescriptor]) -> tuple[ToolDescriptor, ...]:
    """The tools as every tool of this pack is opened: its cards say whom they are about, and are bound."""
    return tuple(with_bound_cards(with_subjects(hospital, tool)) for tool in tools)
