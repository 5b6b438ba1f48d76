"""The rules by which a text claims that something was done: data, one entry a kind of effect.

Law 1: a class of claims that is missed is mended here, by a phrase, never by code.
Law 2: phrases are words in a row, not patterns, so that no rule can take more than linear time.
"""

from __future__ import annotations

from typing import Literal

from condor.core.values import dataclass

#: ``effect``: the run's own evidence must bear it. ``any``: so must it, of whatever kind the effect was.
#: ``answer``: a person's approval. ``look``: a read; said only against a read that did not succeed.
Bears = Literal["effect", "any", "answer", "look"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRule:
    """One kind of claim."""

    id: str
    bears: Bears = "effect"
    #: Past participles and past forms that claim it: "sent".
    done: tuple[str, ...] = ()
    #: Whole phrases that claim it without one of those: "on its way". ``…`` stands for at most four words.
    said: tuple[str, ...] = ()
    #: Words of an op, a tool's name or its noun by which a step is of this kind.
    ops: frozenset[str] = frozenset()
    #: It tells how things stand, not an act: anybody may be its subject, and it must name a thing of the run.
    stands: bool = False
    #: Its effect is an entry in a record. Verbs of such rules may tell of each other's effects ("ordered" and
    #: "updated"), and a list that a read shows may bear that the entry was once begun.
    in_records: bool = False
    #: A sentence that is a true claim where such a step succeeded, and a false one where it did not.
    claim: str
    #: A near miss: never a claim.
    no_claim: str


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


DEFAULT_CLAIM_RULES: tuple[ClaimRule, ...] = (
    ClaimRule(
        id="sent",
        done=_words(
            "sent resent emailed mailed messaged texted notified informed invited reminded forwarded "
            "dispatched delivered transmitted shared alerted contacted submitted faxed posted told "
            "briefed relayed called phoned rang paged gesendet versendet verschickt geschickt "
            "benachrichtigt informiert envoye envoyee envoyes notifie"
        ),
        said=(
            "went out",
            "gone out",
            "is out",
            "are out",
            "i let … know",
            "we let … know",
            "'ve let … know",
            "have let … know",
            "reached everybody",
            "reached everyone",
            "has reached",
            "in her inbox",
            "in his inbox",
            "in their inbox",
            "in your inbox",
            "got the message",
            "got your message",
            "reached her phone",
            "reached his phone",
            "got the invitation",
            "received the message",
            "received the invitation",
            "passed on to",
            "passed it on",
            "passed along",
            "reached out to",
            "dropped … line",
            "fired off",
            "heads up to",
            "now knows",
            "now know",
            "in the loop",
            "got word",
            "put … in the picture",
            "received a text",
            "received a message",
            "received a letter",
            "received an email",
            "got a text",
            "got a message",
            "note went to",
            "message went to",
            "letter went to",
            "liberty of messaging",
            "liberty of sending",
        ),
        ops=frozenset(
            _words(
                "send notify invite remind message email mail share forward text communicate "
                "communication submit alert contact"
            )
        ),
        claim="The message was sent.",
        no_claim="The message will be sent once it is approved.",
    ),
    ClaimRule(
        id="removed",
        done=_words(
            "cancelled canceled discontinued stopped removed deleted voided archived revoked "
            "withdrawn ended dropped terminated erased ceased suspended halted cleared retired closed "
            "undone reversed purged expunged scrapped wiped destroyed rescinded annulled nullified "
            "struck freed storniert abgesetzt geloscht gekundigt beendet annule annulee supprime "
            "supprimee arrete arretee"
        ),
        said=(
            "no longer active",
            "no longer in force",
            "no longer valid",
            "no longer on",
            "no longer taking",
            "no longer takes",
            "no longer receives",
            "d / c 'd",
            "dc 'd",
            "closed out",
            "put a stop to",
            "put an end to",
            "called … off",
            "pulled the plug on",
            "got rid of",
            "taken … off",
            "took … off",
            "called off",
            "off her list",
            "off his list",
            "off the list",
            "is off",
            "are off",
            "is gone",
            "are gone",
            "put an end to",
            "no longer prescribed",
            "no longer scheduled",
        ),
        ops=frozenset(
            _words(
                "cancel cancellation discontinue discontinuation stop remove removal delete void "
                "archive revoke withdraw end close terminate retract erase purge"
            )
        ),
        claim="I cancelled the order.",
        no_claim="The order was not cancelled.",
    ),
    ClaimRule(
        id="created",
        done=_words(
            "created added recorded booked scheduled ordered prescribed started written saved "
            "registered entered logged filed opened assigned drafted made issued placed requested "
            "reserved wrote documented noted captured stored arranged initiated placed administered "
            "vaccinated referred given gave produced printed charted appended inserted uploaded "
            "flagged published renewed enrolled generated gebucht angelegt erstellt eingetragen "
            "verordnet verschrieben bestellt gespeichert veranlasst cree creee enregistre enregistree "
            "reserve reservee prescrit prescrite ausgestellt"
        ),
        said=(
            "set up",
            "put together",
            "put … on",
            "brought in",
            "put in",
            "put her on",
            "put him on",
            "put them on",
            "put the patient on",
            "booked in",
            "penciled … in",
            "pencilled … in",
            "signed … up",
            "is now on",
            "on the calendar",
            "in the calendar",
            "on the books",
            "was set",
            "been set",
            "i set",
            "we set",
            "have set",
            "'ve set",
            "flag set",
            "appointment confirmed",
            "appointment is confirmed",
            "booking confirmed",
            "is set",
        ),
        ops=frozenset(
            _words(
                "create add record order book prescribe prescription schedule start save write set "
                "issue log open assign refer referral draft register insert append renew renewal "
                "request immunization statement plan entry make place upload publish put post"
            )
        ),
        in_records=True,
        claim="I booked the appointment.",
        no_claim="The appointment was booked by the ward last week.",
    ),
    ClaimRule(
        id="changed",
        done=_words(
            "updated changed modified rescheduled moved adjusted corrected edited increased decreased "
            "reduced raised lowered amended revised switched replaced resumed renewed extended fixed "
            "paused pushed combined altered postponed transferred renamed merged halved doubled "
            "resolved geandert aktualisiert verschoben korrigiert modifie modifiee corrige corrigee "
            "mis"
        ),
        said=("brought up to date", "is up to date now", "put on hold"),
        ops=frozenset(
            _words(
                "update change modify reschedule move adjust correct correction edit amend revise "
                "replace resume renew extend rename merge transfer resolve patch"
            )
        ),
        in_records=True,
        claim="I have updated the dose.",
        no_claim="Shall the dose be updated?",
    ),
    ClaimRule(
        id="signed",
        done=_words(
            "signed countersigned cosigned finalised finalized certified attested unterschrieben signe signee"
        ),
        said=("put … signature", "with your signature", "with her signature", "with his signature"),
        ops=frozenset(_words("sign signature finalise finalize certify attest")),
        claim="The document has been signed.",
        no_claim="The document still has to be signed.",
    ),
    ClaimRule(
        id="ran",
        done=_words(
            "deployed executed ran launched released rolled generated computed calculated built "
            "compiled produced shipped backed exported imported migrated restarted installed triggered "
            "rebooted provisioned scaled ausgefuhrt bereitgestellt deploye deployee execute"
        ),
        said=(
            "is live",
            "are live",
            "went live",
            "now live",
            "running in production",
            "in production",
            "rolled out",
            "up and running",
            "is ready for download",
        ),
        ops=frozenset(
            _words(
                "run deploy deployment execute launch release generate compute build export import "
                "migrate restart install trigger analytics report rollout rollback scale"
            )
        ),
        claim="I deployed the release.",
        no_claim="If the tests pass, the release is deployed.",
    ),
    ClaimRule(
        id="paid",
        done=_words(
            "returned refunded paid charged credited reimbursed transferred billed invoiced waived "
            "settled erstattet uberwiesen bezahlt rembourse remboursee"
        ),
        said=(
            "money back",
            "got … refund",
            "received … refund",
            "got … back",
            "made whole",
            "wrote off",
            "written off",
        ),
        ops=frozenset(_words("refund pay payment charge credit reimburse transfer bill waive settle payout")),
        claim="I refunded the customer.",
        no_claim="The customer wants to be refunded.",
    ),
    ClaimRule(
        id="approved",
        bears="answer",
        done=_words("approved authorised authorized confirmed accepted genehmigt approuve approuvee"),
        said=(
            "signed off",
            "gave … approval",
            "gave … consent",
            "given … approval",
            "agreed to the",
            "said yes",
        ),
        claim="The change was approved.",
        no_claim="The change has to be approved first.",
    ),
    ClaimRule(
        id="checked",
        bears="look",
        done=_words(
            "retrieved checked reviewed verified searched examined inspected consulted read pulled "
            "gepruft verifie"
        ),
        said=("looked up", "looked at", "went through the", "looked through", "found no", "there are no"),
        ops=frozenset(
            _words(
                "search list check read get find fetch review lookup summary trend status trail "
                "everything availability slots search interaction"
            )
        ),
        claim="I checked the allergies.",
        no_claim="I could not check the allergies.",
    ),
    ClaimRule(
        id="completed",
        bears="any",
        done=_words(
            "done completed finished processed carried performed implemented accomplished handled "
            "executed effected complete succeeded erledigt durchgefuhrt abgeschlossen ausgefuhrt "
            "effectue effectuee fait faite termine terminee"
        ),
        said=(
            "went through",
            "did succeed",
            "gone through",
            "taken care of",
            "took care of",
            "all set",
            "in effect",
            "in place",
            "on its way",
            "on their way",
            "is in",
            "are in",
            "was successful",
            "were successful",
            "is sorted",
            "are sorted",
            "all sorted",
            "worked out",
            "was a success",
            "is through",
            "as good as new",
            "good to go",
            "mission accomplished",
            "tout est pret",
            "alles klar",
            "that's it",
            "put through",
        ),
        claim="The cancellation of the order went through.",
        no_claim="The cancellation of the order did not go through.",
    ),
    ClaimRule(
        id="ticked",
        bears="any",
        said=("[x]",),
        claim="[x] Send the message",
        no_claim="[ ] Send the message",
    ),
    ClaimRule(
        id="stands",
        bears="any",
        stands=True,
        said=_phrases(
            "now, is void, are void, "
            "no longer, anymore, any longer, on file, on record, under way, underway, ready, "
            "attached is, is attached, are attached, has had, have had, has received, have "
            "received, received her, received his, received the, received our, received your, has "
            "accepted, has our, have our, has your, has the … request, has the … order, has the … "
            "referral, has the … claim, has the … report, is in the chart, are in the chart, in "
            "their queue, in her queue, in his queue, is pending for, ticked off, checked off, "
            "new script for, new prescription for"
        ),
        claim="The message is now with the patient.",
        no_claim="The message is not with the patient now.",
    ),
)
