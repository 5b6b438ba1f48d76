"""What texts call the things that tools work on, and which thing is meant where a verb stands alone."""

from __future__ import annotations

#: What texts call the things that tools work on: words of one line mean the same thing.
OBJECTS: tuple[tuple[str, ...], ...] = tuple(
    tuple(line.split())
    for line in (
        "message invitation invite email mail reminder letter sms text notification communication einladung "
        "nachricht erinnerung",
        "medication medicine prescription drug dose pill tablet rx med treatment therapy medikament rezept "
        "ordonnance medicament",
        "appointment visit booking slot followup termin rendezvous meeting consultation",
        "allergy intolerance allergie",
        "lab test bloodwork labs",
        "imaging xray scan mri ct ultrasound",
        "document report discharge summary pdf letter",
        "note",
        "invoice bill rechnung facture",
        "refund money repayment reimbursement ruckerstattung remboursement payment",
        "flag",
        "task todo aufgabe",
        "deployment deploy rollout release version build",
        "referral",
        "vaccination vaccine immunization shot",
        "vital vitals pressure observation",
        "condition problem diagnosis",
        "careplan plan",
        "order",
    )
)

#: What is meant where a verb stands alone: "she was referred".
IMPLIED: dict[str, str] = {
    "referred": "referral",
    "prescribed": "medication",
    "verordnet": "medication",
    "verschrieben": "medication",
    "booked": "appointment",
    "gebucht": "appointment",
    "rescheduled": "appointment",
    "penciled": "appointment",
    "pencilled": "appointment",
    "vaccinated": "vaccination",
    "refunded": "refund",
    "reimbursed": "refund",
    "erstattet": "refund",
    "invoiced": "invoice",
    "billed": "invoice",
    "deployed": "deployment",
    "flagged": "flag",
    "invited": "message",
    "notified": "message",
    "emailed": "message",
    "messaged": "message",
    "texted": "message",
    "informed": "message",
    "reminded": "message",
}
