"""The object decides: a verb that stops, starts, records or flags, with an object of another kind.

Each sentence was read as a doctor would read it, before the planner saw it. What is asked for and cannot be
done here is refused; the controls beside it, which name the right object, are planned.
"""

from collections.abc import Callable

import pytest

from tests.hms.playbook.test_playbook_properties import plan_or_refusal

#: Another object of a verb that stops or removes.
NOT_A_STOP = """
Cancel Helen Coleman's amlodipine allergy
Stop Melissa Smith's metformin allergy
Discontinue the penicillin allergy of Melissa Smith
Remove Metformin Allergy for Melissa Smith
Remove the metformin intolerance from Melissa Smith's record
Remove metformin from Melissa Smith's allergies
Remove metformin from Melissa Smith's allergy list
Take penicillin off Melissa Smith's allergy list
Take penicillin off her allergy list
Take Melissa Smith's penicillin allergy off
Remove Melissa Smith's metformin rash
Cancel Melissa Smith's metformin allergy, entered by mistake
Remove Melissa Smith's allergy to metformin because it was an error
Void Melissa Smith's penicillin allergy
Melissa Smith's metformin allergy is wrong, please remove
Melissa Smith - metformin allergy - remove
Melissa Smith is not allergic to metformin, please remove it
Remove the falls flag from Helen Coleman
Take the falls flag off Helen Coleman
Stop flagging Helen Coleman as a falls risk
Stop the falls flag for Helen Coleman
Cancel Helen Coleman's falls risk flag
Discontinue Helen Coleman's infection control flag
Cancel her appointment
Cancel Melissa Smith's appointment because of metformin
Cancel Melissa Smith's metformin appointment
Cancel Melissa Smith's metformin review
Cancel Melissa Smith's warfarin clinic
Cancel Melissa Smith's metformin monitoring
Delete the note about metformin
Delete the note about Melissa Smith's metformin
Remove the note about metformin from Melissa Smith's chart
Remove metformin from Melissa Smith's notes
Remove the metformin note, Melissa Smith
Stop the metformin alert for Melissa Smith
Stop the metformin reminder for Melissa Smith
Stop Melissa Smith's metformin reminders
stop melissa smith's metformin reminders
stop metformin reminder
stop metformin diary
stop metformin care plan
stop metformin teaching session
Stop the metformin interaction alert on Melissa Smith
Cancel the metformin invoice for Melissa Smith
Cancel Melissa Smith's metformin delivery
Cancel Melissa Smith's potassium
Cancel the potassium order on John Hernandez
Stop John Hernandez's potassium order
Cancel Melissa Smith's warfarin level
Remove Melissa Smith's metformin level from the results
Cancel Melissa Smith's penicillin allergy test
Remove metformin from Melissa Smith's problem list
Remove metformin from Melissa Smith's problems
Remove the diagnosis of metformin overdose from Melissa Smith
Cancel Melissa Smith's flu vaccination
Cancel Melissa Smith's vaccination, she is on metformin
Stop Melissa Smith's vaccination
Stop Melissa Smith's care plan
Stop Melissa Smith's diet
Stop Helen Coleman's physiotherapy
Stop Helen Coleman's dialysis
Stop Helen Coleman's oxygen
Stop Helen Coleman's smoking
Stop Helen Coleman's visits because of an interaction
Stop Helen Coleman's observations
Cancel Helen Coleman's referral
Cancel Melissa Smith's surgery, she's on warfarin
Cancel Helen Coleman's admission; she takes celecoxib
Remove Helen Coleman's celecoxib prescriber
Remove Helen Coleman's celecoxib indication
Remove Helen Coleman's celecoxib override
Stop monitoring Helen Coleman's celecoxib
Stop increasing Melissa Smith's metformin
Stop ordering Melissa Smith's metformin
Stop the stopping of Melissa Smith's metformin
Stop taking Helen Coleman off celecoxib
Stop Helen Coleman going off celecoxib
Cancel the stop order for Helen Coleman's celecoxib
Cancel the discontinuation of Helen Coleman's celecoxib
Stop Helen Coleman's celecoxib at night
Stop Melissa Smith's morning metformin
Stop Melissa Smith's metformin, her amlodipine as well
Stop Melissa Smith's metformin, her appointment too
Stop Melissa Smith's metformin and her allergy
Stop Melissa Smith's metformin, she needs her appointment cancelled
Stop Melissa Smith's metformin, remove her allergy
Remove metformin from Melissa Smith's record
Take Melissa Smith off the waiting list, she's on metformin
Take Melissa Smith off the list
Get metformin off Melissa Smith's bill
Stop Melissa Smith's penicillin allergy warning
Stop Melissa Smith's penicillin reaction
Remove the wrong metformin entry for Melissa Smith
Cancel Melissa Smith's metformin starting tomorrow
Stop Melissa Smith's metformin allergy because she tolerates it
Please discontinue amlodipine as an allergy for Helen Coleman
Remove amlodipine as an allergy for Helen Coleman
Remove amlodipine from the allergies of Helen Coleman
Stop calling amlodipine an allergy for Helen Coleman
Stop Helen Coleman's allergy medicine
Stop listing penicillin for Melissa Smith
Discontinue Helen Coleman's follow-up for celecoxib
Discontinue Helen Coleman's blood pressure checks on amlodipine
Stop checking Melissa Smith's metformin
Stop Melissa Smith's metformin side effects
Stop Melissa Smith's metformin induced diarrhoea
Cancel Melissa Smith's prescription charge for metformin
Cancel Melissa Smith's metformin prescription review
Remove the hold on Helen Coleman's celecoxib
Remove the override on Helen Coleman's celecoxib
Cancel the hold on Helen Coleman's celecoxib
Remove Dr Okafor from Helen Coleman's celecoxib
Cancel the increase in Melissa Smith's metformin
Stop the increase of Melissa Smith's metformin
Cancel last week's metformin change for Melissa Smith
Stop half of Melissa Smith's metformin
Stop one of Melissa Smith's metformin tablets
Stop Melissa Smith's second metformin
Stop Melissa Smith's new metformin dose
Remove Helen Coleman's celecoxib refills
Stop everyone's metformin
Stop metformin on ward 3
Take the hold off Helen Coleman's celecoxib
Take Helen Coleman off the celecoxib trial
Get Helen Coleman off the celecoxib study list
Bring Helen Coleman's celecoxib off the shelf
"""

#: Another object of a verb that prescribes.
NOT_A_PRESCRIPTION = """
Start Melissa Smith on a diet
Start Melissa Smith on diet 5 days
Put Melissa Smith on leave 5 days
Start a care plan for Melissa Smith
Start a care plan for metformin for Melissa Smith
Start a metformin care plan for Melissa Smith
start a metformin diary
Start a metformin alert for Melissa Smith
Start metformin monitoring for Melissa Smith
Give Melissa Smith an appointment
Give Melissa Smith an appointment for metformin
Give Melissa Smith a metformin leaflet
give melissa smith a metformin leaflet
Give Melissa Smith a metformin list
Give Melissa Smith her metformin results
Give Melissa Smith a penicillin allergy card
Give Melissa Smith a flu vaccination
Start Melissa Smith on amlodipine 5 mg od po with a care plan
Start Melissa Smith on amlodipine 5 mg od po for her appointment
Start Melissa Smith on physiotherapy 3 times a day
Put Melissa Smith on the waiting list for metformin
Put a metformin note on Melissa Smith
Put metformin on Melissa Smith's problem list
Begin Melissa Smith's metformin review
Prescribe exercise for Melissa Smith
Prescribe rest 5 days for Melissa Smith
Have a metformin note on Melissa Smith
Add metformin monitoring to Melissa Smith's plan
Add a metformin reminder for Melissa Smith
Add a note about metformin to Melissa Smith's chart
Add ibuprofen to Melissa Smith's medicines
Add ibuprofen to her medicines
Add ibuprofen 400 mg to Melissa Smith's results
Keep Melissa Smith on metformin 500 mg bd
keep melissa smith metformin 500 mg bd
Confirm Melissa Smith metformin 500 mg bd
withhold melissa smith metformin 500 mg bd
Review Melissa Smith metformin 500 mg bd
Administer Melissa Smith metformin 500 mg bd
Melissa Smith: metformin 500 mg bd allergy
metformin 500 mg bd reminder for Melissa Smith
Melissa Smith metformin 500 mg bd refill request
Start Melissa Smith's metformin allergy workup
Start Melissa Smith on a metformin trial
Start Melissa Smith on metformin education
Start metformin withdrawal for Melissa Smith
Give Melissa Smith information on metformin
Give Melissa Smith's metformin to Helen Coleman
Give Melissa Smith's mother metformin 500 mg bd
Prescribe a stop to Melissa Smith's metformin
Begin stopping Melissa Smith's metformin
Start reducing Melissa Smith's metformin
Start Melissa Smith off metformin
Put Melissa Smith off metformin
Put a hold on Melissa Smith's metformin
Put an alert on Melissa Smith's metformin
Prescribe Melissa Smith an alternative to metformin
Start Melissa Smith on something other than metformin
Start Melissa Smith on anything but metformin
Start an antibiotic for Melissa Smith
Give Melissa Smith metformin's leaflet
Add a metformin dose check to Melissa Smith
Add metformin to Melissa Smith's plan
Add metformin 500 mg bd to Melissa Smith's history
Add metformin 500 mg bd to Melissa Smith's allergies
Add amlodipine 5 mg od po as tried before for Melissa Smith
"""

#: Another object of a verb that records, or an allergy that is not to be recorded.
NOT_AN_ALLERGY = """
Record that John Hernandez is on ibuprofen
Note that John Hernandez takes cetirizine for his allergy
Record that John Hernandez takes cetirizine for his allergies
Add cetirizine for Melissa Smith's allergy
Note cetirizine for allergy, Melissa Smith
Record loratadine as allergy treatment for Melissa Smith
Record that Melissa Smith's mother is allergic to penicillin
Record that Melissa Smith has a family history of penicillin allergy
Record Melissa Smith's penicillin allergy as history
Record that Melissa Smith's penicillin allergy has resolved
Note that Melissa Smith's penicillin allergy is wrong
Mark Melissa Smith's penicillin allergy as entered in error
Put Melissa Smith's penicillin allergy on hold
Record Melissa Smith's penicillin allergy test
Record a penicillin allergy result for Melissa Smith
Add a penicillin allergy test for Melissa Smith
Add a note about Melissa Smith's penicillin allergy
Add a penicillin allergy flag to Melissa Smith
Add a penicillin allergy alert to Melissa Smith
Add penicillin allergy to Melissa Smith's problem list
Add a penicillin allergy appointment for Melissa Smith
Delete the note about Melissa Smith's penicillin allergy
Save Melissa Smith's allergy list
Record a reaction to the penicillin allergy letter for Melissa Smith
Record a potassium of 5.2 for John Hernandez
Add diabetes to John Hernandez's problems
Note that Melissa Smith tolerates penicillin despite her allergy
Put Melissa Smith on cetirizine 10 mg od po and note her allergy
Record metformin 500 mg bd for Melissa Smith
Document that Melissa Smith takes metformin 500 mg bd
Chart that Melissa Smith had metformin 500 mg today
Record an allergic reaction to metformin in Melissa Smith's sister
Record that Melissa Smith may be allergic to penicillin
Record that Melissa Smith thinks she is allergic to penicillin
Record Melissa Smith is allergic to penicillin according to her mother
Note that Melissa Smith outgrew her penicillin allergy
Note that Melissa Smith was tested for penicillin allergy
Record a suspected penicillin allergy for Melissa Smith
Record penicillin allergy ruled out for Melissa Smith
Record penicillin desensitisation for Melissa Smith's allergy
Record the allergy nurse visit for Melissa Smith, penicillin
Record that penicillin is safe despite Melissa Smith's allergy
Record penicillin for Melissa Smith's allergy
Note ibuprofen given, allergy checked, John Hernandez
Note that ibuprofen caused no allergy in John Hernandez
Record allergy to penicillin, Melissa Smith, for Helen Coleman's chart
Log a call about Melissa Smith's penicillin allergy
Put the penicillin allergy leaflet in Melissa Smith's file
Mark penicillin allergy as reviewed for Melissa Smith
Save a draft of Melissa Smith's penicillin allergy
"""

#: Another object of a verb that flags.
NOT_A_FLAG = """
Flag the result
Flag Melissa Smith's result
Flag Melissa Smith's potassium
Flag Melissa Smith's fall
Note Melissa Smith's fall
Record a fall for Melissa Smith
Note Melissa Smith's behaviour
Document Melissa Smith's DNACPR discussion
Record a falls risk assessment for Melissa Smith
Flag Melissa Smith's falls risk note
Flag Melissa Smith's falls record
Flag Melissa Smith's metformin
Flag Melissa Smith's appointment
Flag Melissa Smith for review
Mark Melissa Smith's falls flag as resolved
Put Melissa Smith's falls flag on hold
Set Melissa Smith's falls flag to inactive
Clear the falls flag on Melissa Smith
Lift Melissa Smith's falls flag
Add a falls appointment for Melissa Smith
Add a falls clinic note to Melissa Smith's chart
Order a falls flag report for Melissa Smith
Flag Melissa Smith's penicillin allergy as wrong
Flag Melissa Smith's allergy
Flag the falls clinic to Melissa Smith
Flag Melissa Smith to the falls team
Flag Melissa Smith for the falls clinic
Mark Melissa Smith's falls risk as low
Mark Melissa Smith's falls risk as reviewed
Note falls risk reviewed for Melissa Smith
Record Melissa Smith's infection risk score
Record DNACPR discussed with Melissa Smith
Add infection control advice to Melissa Smith's notes
Flag infection for Melissa Smith
Label Melissa Smith's infection control sample
Alert the infection control team about Melissa Smith
Put Melissa Smith at falls risk clinic
Document falls risk in Melissa Smith's letter
"""

#: Another object of an order for the laboratory.
NOT_A_TEST = """
Order a review of potassium for John Hernandez
Order the removal of John Hernandez's potassium
Request that potassium is cancelled for John Hernandez
Request John Hernandez's potassium result
Order potassium tablets for John Hernandez
Order potassium for John Hernandez's mother
Order an INR clinic for John Hernandez
Request an HbA1c leaflet for Melissa Smith
"""

#: The right object: what the same verbs do when they have theirs.
CONTROLS = {
    "Remove Melissa Smith's metformin allergy": "allergy.update",
    "remove melissa smith's metformin allergy": "allergy.update",
    "Delete Melissa Smith's metformin allergy": "allergy.update",
    "Cancel Helen Coleman's appointment": "appointment.update",
    "Cancel Melissa Smith's cardiac rehab plan": "treatment.cancel",
    "Take Helen Coleman's celecoxib off hold": "medication.update",
    "Put Melissa Smith's metformin on hold": "medication.update",
    "Record that John Hernandez takes ibuprofen": "medication.statement.record",
    "Mark Melissa Smith's penicillin allergy as resolved": "allergy.update",
    "Record a flu vaccination for Melissa Smith": "immunization.record",
    "Remove Helen Coleman's celecoxib": "medication.discontinue",
    "Cancel Helen Coleman's celecoxib order": "medication.discontinue",
    "Cancel the prescription of celecoxib for Helen Coleman": "medication.discontinue",
    "Remove celecoxib from Helen Coleman's medicines": "medication.discontinue",
    "Take celecoxib off Helen Coleman's medication list": "medication.discontinue",
    "Stop Helen Coleman's celecoxib tablets": "medication.discontinue",
    "Stop Helen Coleman taking celecoxib": "medication.discontinue",
    "Stop Helen Coleman's celecoxib because of an allergy": "medication.discontinue",
    "Stop Helen Coleman's celecoxib, she's allergic": "medication.discontinue",
    "Stop Melissa Smith's metformin, rash": "medication.discontinue",
    "Stop Melissa Smith's metformin for an allergy": "medication.discontinue",
    "Stop Melissa Smith's metformin at her request": "medication.discontinue",
    "Stop Melissa Smith's metformin, her kidneys are getting worse": "medication.discontinue",
    "Stop Helen Coleman's zebrafenib": "medication.discontinue",
    "Stop Helen Coleman's quinine 200 mg": "medication.discontinue",
    "Start Melissa Smith on cetirizine 10 mg od po for her allergy": "medication.prescribe",
    "Give Melissa Smith metformin 500 mg bd": "medication.prescribe",
    "Add amlodipine 5 mg once daily oral to Tamika Jackson's medicines": "medication.prescribe",
    "Record a history of penicillin allergy for Frances Mason": "allergy.record",
    "Add penicillin to Frances Mason's allergy list": "allergy.record",
    "Record in Frances Mason's notes that she is allergic to penicillin": "allergy.record",
    "Flag falls for Helen Coleman": "flag.set",
    "Put a falls flag in Helen Coleman's notes": "flag.set",
}


def sentences(*blocks: str) -> list[str]:
    return [line for block in blocks for line in block.strip().splitlines()]


REFUSED = sentences(NOT_A_STOP, NOT_A_PRESCRIPTION, NOT_AN_ALLERGY, NOT_A_FLAG, NOT_A_TEST)


@pytest.mark.parametrize("text", REFUSED)
def test_another_object_is_refused(text: str) -> None:
    """Nothing is planned, however much of the sentence is understood."""
    assert plan_or_refusal(text) is None


def titled(text: str) -> str:
    """A Title Like This."""
    return " ".join(word[:1].upper() + word[1:] for word in text.split())


@pytest.mark.parametrize("said", [str.lower, str.upper, titled])
def test_another_object_is_refused_however_it_is_typed(said: Callable[[str], str]) -> None:
    """Capitals make no name of an object."""
    planned = {text: steps for text in REFUSED if (steps := plan_or_refusal(said(text))) is not None}
    assert planned == {}


@pytest.mark.parametrize(("text", "tool"), CONTROLS.items())
def test_the_right_object_is_planned(text: str, tool: str) -> None:
    """The same verbs with their own object."""
    steps = plan_or_refusal(text)
    assert steps is not None
    assert steps[-1]["tool"] == tool
