"""Words that say whose act a sentence tells, whether it tells of one at all, and when it was."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Words that stand in one text, as a set."""
    return frozenset(text.split())


#: Before what was done: it was not, or not all of it.
NEGATIONS = word_set(
    "not never no none nothing nobody neither nor without cannot 't unable fail failed fails refused "
    "rejected denied almost nearly partly partially half barely hardly unsuccessfully instead nicht kein "
    "keine keinen nie niemals weder pas jamais aucun aucune sans ohne fast presque except"
)
#: "not only sent": no negation.
NOT_ONLY = word_set("only just merely nur seulement")
#: Before what was done: a condition, or a time that has not come.
CONDITIONS = word_set(
    "if unless whether once until till before provided assuming when whenever falls wenn sobald bevor si "
    "avant quand whichever whatever whoever lest soon"
)
#: "Once daily" is how often, not a condition.
RATES = word_set("daily a per every weekly monthly nightly each")
#: "The only step that ran": the others did not.
PARTS = word_set("thing things step steps one ones part action actions task tasks change")
#: After "after" they tell of a time that has not come.
PRESENT = word_set("is are has have gets get 's 're")
#: Somebody else said it: it is told, not claimed.
SPEECH = word_set(
    "wrote writes report reports reported states stated notes noted mentions mentioned thinks thought "
    "believes believed indicates remembers told tells assumes assumed insists hopes"
)
#: It is as it was.
REMAINS = word_set(
    "still stays stay remains remain remaining unchanged continues continue stands yet as-is keeps kept "
    "already"
)
#: After "no longer": nothing was done.
NOT_NEEDED = word_set(
    "possible need needs needed necessary required wanted wants available allowed able relevant applicable "
    "applies makes works responds responding"
)
#: After "no": nobody heard how it went.
WORD_OF_IT = word_set("confirmation response reply receipt acknowledgement acknowledgment feedback")
#: Conditions that bind the rest of their sentence too.
BINDING = word_set("if unless provided assuming falls wenn si should")
#: Before what was done: it may be, shall be, or is to be.
MODALS = word_set(
    "will 'll would could should might may can must shall gonna 'd being be get werden sera seront pourrait "
    "konnte sollte soll kann wird'"
)
#: Before what was done: it was asked for, looked into or supposed, not done.
HEDGES = word_set(
    "please ensure asked requested wanted want wants need needs needed expected supposed unclear unknown "
    "unsure uncertain allegedly possibly perhaps maybe claims claimed says said according hoped planned "
    "waiting pending tried attempted imagine suppose example bitte vielleicht peut attempt try trying "
    "would-be wish wishes waits awaits remains request requests"
)
#: Anywhere in the sentence: its outcome is not claimed.
OPEN = word_set("unknown unclear unsure uncertain unverified unconfirmed")
#: They begin a statement of their own: "I can confirm that …".
STATES = word_set(
    "confirm report say tell assure verify announce hear see note find glad happy pleased know confirms"
)
#: What comes after one of these is left out of "everything".
EXCEPTIONS = word_set("except excluding besides ausser sauf but")

FIRST = word_set("i we ich wir je nous assistant system agent condor")
SECOND_THIRD = word_set(
    "you he she they who whoever somebody someone anybody anyone sie er ihr il elle ils elles vous"
)
BE = word_set(
    "is are was were isn aren wasn weren been 's 're wurde wurden worden ist sind war waren est sont ete "
    "gets got"
)
HAVE = word_set("have has had haven hasn hadn 've hat habe haben a ai ont avons")
DETERMINERS = word_set(
    "the a an her his their your my our its this that these those any some all both each every two three "
    "four five several many more der die das ein eine einen le la les un une des"
)
OBJECT_PRONOUNS = word_set("it them him me us everything everyone everybody")
#: A clause can begin with these after a comma or an "and".
SUBJECT_STARTS = DETERMINERS | FIRST | word_set("it there he she they you everything nothing")
ADVERBS = word_set(
    "now also just already successfully then finally indeed since both all duly safely further "
    "additionally moreover too today hereby meanwhile next first second lastly thus therefore so and well "
    "done ok okay yes sure great perfect completely fully properly correctly immediately automatically "
    "promptly right straight even still again soon newly thereby unfortunately fortunately happily "
    "actually finally of course jetzt nun auch bereits erfolgreich maintenant bien deja though however "
    "only"
)
#: They set a clause of its own apart.
BREAKS = word_set("but however though although whereas while because aber mais obwohl wahrend doch")
PREPOSITIONS = word_set(
    "to for by at on in from with of into via as after before under through without within about over out "
    "off per using an am bei fur mit von nach pour par chez"
)
#: After a verb: what it was done to does not follow ("an" is an article too).
NO_OBJECT = PREPOSITIONS - DETERMINERS
#: Roles and others that are not this run.
OTHERS = word_set(
    "doctor dr mr mrs ms nurse pharmacist pharmacy patient ward lab laboratory clinic hospital gp family "
    "mother father sister brother wife husband daughter son receptionist desk surgeon specialist "
    "consultant team staff colleague physician provider customer client user operator admin manager "
    "department office company bank supplier someone somebody people person they anyone you him her them "
    "herself himself themselves yourself arzt apotheke patientin medecin pharmacien insurer insurance "
    "vendor partner guardian caregiver relatives"
)
#: "by email", "by Friday": no person.
NO_PERSON = word_set(
    "email mail phone sms text post fax letter default mistake noon midnight monday tuesday wednesday "
    "thursday friday saturday sunday tomorrow today me us condor assistant system then now hand error "
    "accident means using half"
)
MONTHS = word_set(
    "january february march april may june july august september october november december jan feb mar "
    "apr jun jul aug sep sept oct nov dec"
)
#: A time before this run.
PAST = word_set("previously yesterday formerly historically earlier originally since gestern hier")
LAST_WHAT = (
    word_set(
        "week month year night time spring summer autumn winter visit admission monday tuesday wednesday "
        "thursday friday saturday sunday quarter stay appointment"
    )
    | MONTHS
)
#: Words of a sentence that speaks of the whole run.
GENERIC = (
    word_set(
        "everything all it that this both steps step tasks task actions action changes change requests "
        "request things thing work job set done is are was were have has been had 's 've 're your the of "
        "them three two four five you for asked i we my our verified went through as planned expected "
        "wanted needed here there operation operations process run plan complete completed finished "
        "processed alles wurde ist ete tout est c a fait item items every each one status , : a an with "
        "in on to out by me us system good ready go"
    )
    | ADVERBS
)
#: "But" after one of these leaves out: "everything but the task".
ALL_BUT = word_set("all everything everyone everybody anything nothing none each every")
#: More than one is meant.
ALL = word_set("all both everyone everybody each every alle beide tous toutes")
#: They begin a question.
ASKS = word_set(
    "was were is are did do does has have had should shall can could would will may who what when where "
    "which why how whether if any wurde wurden ist sind hat kann soll est avez faut"
)
#: It is told what happens as a rule.
HABITS = word_set(
    "often usually normally generally typically commonly sometimes always frequently regularly rarely seldom"
)
#: "In the report: …" reads it out.
SHOWS = word_set("show shows says states mentions notes lists reads tells contains documents")
SOURCES = word_set(
    "report record records chart log history note notes file files list inbox archive statistics table sheet "
    "flowsheet letter changelog mar"
)
#: They are done to persons.
TO_PERSONS = word_set(
    "notified informed invited reminded alerted contacted told briefed called texted emailed paged messaged "
    "admitted discharged transferred referred vaccinated"
)
UNITS = word_set("mg ml mcg g kg eur usd h am pm mmol l min s x percent units iu mmhg bpm")
#: Before "ago": longer than this run.
LONG_AGO = word_set("day days week weeks month months year years decade decades")
#: They need nobody who does it: "the run ended", "her pain increased".
INTRANSITIVE = word_set(
    "ended stopped started moved increased decreased ran resumed closed opened changed cleared continued "
    "ceased finished improved launched switched dropped settled resolved"
)
#: Not all of them.
SOME = word_set("one two three four five some most few half part")
#: What is said of a thing that was not done.
UNDONE = word_set("declined pending open waiting missing left due refused rejected denied expired")
