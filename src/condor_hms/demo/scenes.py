"""What the demonstration hospital has to show: requests to try, and the same with something going wrong."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FAULTS", "REQUESTS", "Shown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A request, who asks, and what there is to see."""

    request: str
    who: str
    about: str
    autonomy: str = "autonomous"
    #: ``TOOL=KIND[:TIMES]``; empty: nothing goes wrong.
    fault: str = ""


#: In an order that tells a story; each stands by itself.
REQUESTS = (
    Shown(
        request="Overview of Melissa Smith with her HbA1c",
        who="dr-okafor",
        about="Reading asks nobody. The closing says what is on record, with dates and units.",
    ),
    Shown(
        request="Record that John Hernandez is allergic to ibuprofen: angioedema, severe",
        who="dr-okafor",
        about="A routine write of the person who typed it: no card. That he takes celecoxib is pointed out.",
    ),
    Shown(
        request="Start Melissa Smith on nitrofurantoin 100 mg twice a day for 5 days for her UTI.",
        who="dr-okafor",
        about="A prescription waits: the card shows patient, order, before and after, and what warns.",
    ),
    Shown(
        request="Start Kristin Bailey on amoxicillin 500 mg oral three times a day for 7 days for otitis",
        who="dr-okafor",
        about="She is allergic to penicillin: the gate says so, and wants a reason before any approval.",
    ),
    Shown(
        request="Stop Helen Coleman's celecoxib because of an interaction",
        who="dr-lindholm",
        about="What takes something away always waits; the closing says from which state to which.",
    ),
    Shown(
        request="Text Melissa Smith: Your prescription is ready.",
        who="rn-castillo",
        about="A message waits with its exact text and the masked number; “sent” only with a receipt.",
    ),
    Shown(
        request="Flag Helen Coleman as a falls risk",
        who="rn-castillo",
        about="Under supervision a routine write waits too.",
        autonomy="guarded",
    ),
    Shown(
        request="Show the full record of Leonard Mason",
        who="rn-castillo",
        about="A nurse's role does not open it: not executed, and told so. The next request is the way in.",
    ),
    Shown(
        request="Break the glass for Leonard Mason: unconscious in the ED, no history to be had",
        who="rn-castillo",
        about="An emergency read is let through at once, is on record first, and waits for a review.",
    ),
    Shown(
        request="Show the emergency reads that wait",
        who="audit-reyes",
        about="The auditor's queue; each is closed with a finding.",
    ),
)

#: One for each way in which a run goes on after a tool went wrong.
FAULTS = (
    Shown(
        request="What were Leonard Mason's latest A1c and creatinine?",
        who="dr-okafor",
        fault="labs.search=fail:2",
        about="The lab results do not answer: asked again, then the lab reports stand in and say so.",
    ),
    Shown(
        request="Order an urgent potassium on John Hernandez.",
        who="dr-okafor",
        fault="order.lab.create=fail",
        about="The lab interface is down: nothing was ordered; a task is left, and nobody is told “ordered”.",
    ),
    Shown(
        request="Record that Leonard Mason is allergic to ibuprofen: angioedema, severe",
        who="dr-okafor",
        fault="allergy.record=timeout-after:1",
        about="It was written and the answer was lost: under the same key it is found, and not done twice.",
    ),
    Shown(
        request="What is Helen Coleman taking?",
        who="dr-okafor",
        fault="medication.list.card=rubbish",
        about="The list comes back unreadable: it is not told as an empty one.",
    ),
)
