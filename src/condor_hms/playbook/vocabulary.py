"""The phrasebook: small patterns for what clinicians write, each with the code it stands for.

Rule 1: a pattern stands for exactly one code of the catalogue. What has no code there (weekly, every 12
hours) has no pattern; it is left over and named.
Rule 2: a filler is a word that changes nothing when it is left out. Words of time, condition, degree and
denial are no fillers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from condor_hms.playbook.draft import Draft

__all__ = [
    "COMMAND_WORDS",
    "FILLERS",
    "FLAG_WORDS",
    "FREQUENCIES",
    "HYPOTHETICAL",
    "NEGATIONS",
    "POLITE",
    "REACTIONS",
    "REASONS",
    "ROUTES",
    "SEVERITIES",
    "TESTS",
    "TIMES",
    "TURNS",
    "Phrases",
    "pattern",
    "words",
]


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


def pattern(text: str) -> re.Pattern[str]:
    """A pattern of whole words."""
    return re.compile(rf"(?<!\w)(?:{text})(?!\w)")


@dataclass(frozen=True, slots=True)
class Phrases:
    """A table of phrases, each a small pattern, and the code each stands for."""

    rows: tuple[tuple[re.Pattern[str], str], ...]

    @classmethod
    def of(cls, table: Mapping[str, Iterable[str]]) -> Phrases:
        """From code → phrases; longer phrases are tried first, so that a part never hides the whole."""
        flat = [(phrase, code) for code, phrases in table.items() for phrase in phrases]
        flat.sort(key=lambda row: -len(row[0]))
        return cls(tuple((pattern(phrase), code) for phrase, code in flat))

    def take(self, draft: Draft) -> list[str]:
        """Take every phrase; the codes in the order of the text, each once."""
        found: list[tuple[int, str]] = []
        for shape, code in self.rows:
            found.extend((match.start(), code) for match in draft.take_all(shape))
        return list(dict.fromkeys(code for _, code in sorted(found)))

    def search(self, text: str) -> list[str]:
        """The codes of every phrase in a text, nothing taken."""
        return list(dict.fromkeys(code for shape, code in self.rows if shape.search(text)))


FREQUENCIES = Phrases.of(
    {
        "QD": (
            "once (?:a|per|each|every) day",
            "once daily",
            "one (?:time )?(?:a|per) day",
            "1x ?(?:/|a|per)? ?(?:day|daily)",
            "every day",
            r"o\.?d\.?",
            r"q\.?d\.?",
            "daily",
        ),
        "BID": (
            "(?:twice|two times|2 times) (?:a|per|each|every) day",
            "(?:twice|two times|2 times) daily",
            "2x ?(?:/|a|per)? ?(?:day|daily)",
            r"b\.?d\.?",
            r"b\.?i\.?d\.?",
        ),
        "TID": (
            "(?:three|3) times (?:a|per|each|every) day",
            "(?:three|3) times daily",
            "thrice (?:daily|a day)",
            "3x ?(?:/|a|per)? ?(?:day|daily)",
            r"t\.?d\.?s\.?",
            r"t\.?i\.?d\.?",
        ),
        "QID": (
            "(?:four|4) times (?:a|per|each|every) day",
            "(?:four|4) times daily",
            "4x ?(?:/|a|per)? ?(?:day|daily)",
            r"q\.?d\.?s\.?",
            r"q\.?i\.?d\.?",
        ),
        "Q4H": ("every (?:4|four) (?:hours|hrs|h)", "(?:4|four)[ -]?hourly", "q ?4 ?h(?:rs|ours)?"),
        "Q6H": ("every (?:6|six) (?:hours|hrs|h)", "(?:6|six)[ -]?hourly", "q ?6 ?h(?:rs|ours)?"),
        "Q8H": ("every (?:8|eight) (?:hours|hrs|h)", "(?:8|eight)[ -]?hourly", "q ?8 ?h(?:rs|ours)?"),
        "QOD": (
            "every (?:other|second) day",
            "(?:on )?alternate days",
            "qod",
            "eod",
        ),
        "HS": ("at (?:bedtime|night)", "nocte", "every night", "nightly", "before bed"),
        "ONCE": (
            "once only",
            "just once",
            "one dose only",
            "(?:as )?(?:a )?(?:single|one-off|one off|stat) dose",
            "stat",
        ),
    }
)

ROUTES = Phrases.of(
    {
        "oral": ("oral", "orally", r"p\.?o\.?", "by mouth", "per os", "via the mouth"),
        "iv": ("iv", r"i\.v\.", "intravenous", "intravenously"),
        "im": ("im", r"i\.m\.", "intramuscular", "intramuscularly"),
        "sc": ("sc", r"s\.c\.", "s/c", "subcut", "subq", "subcutaneous", "subcutaneously"),
        "inh": ("inh", "inhaled", "by inhalation", "by inhaler", "via inhaler"),
        "top": ("topical", "topically", "to the skin"),
        "sl": ("sl", "sublingual", "sublingually", "under the tongue"),
        "pr": ("pr", "rectal", "rectally", "per rectum"),
    }
)

REACTIONS = Phrases.of(
    {
        "271807003": ("(?:a )?(?:skin )?rash", "rashes", "skin eruption"),
        "39579001": ("(?:an )?anaphyla(?:xis|ctic shock|ctic reaction)", "anaphylactic"),
        "422587007": ("nausea", "nauseous", "nauseated"),
        "267036007": ("short(?:ness)? of breath", "breathless(?:ness)?", "dyspnoea", "dyspnea", "sob"),
        "41291007": ("angio-?o?edema",),
    }
)

SEVERITIES = Phrases.of({"mild": ("mild",), "moderate": ("moderate",), "severe": ("severe",)})

TESTS = Phrases.of(
    {
        "4548-4": ("hba1cs?", "hb a1cs?", "a1cs?", "glycated haemoglobin", "glycated hemoglobin"),
        "2160-0": ("creatinines?", "creat"),
        "2823-3": ("potassiums?", r"k\+"),
        "6301-6": ("inrs?",),
        "718-7": ("ha?emoglobins?", "hb", "hgb"),
        "10839-9": ("troponins?(?: i)?",),
    }
)

FLAG_WORDS = Phrases.of(
    {
        "falls": (
            "(?:high )?(?:risk of|at risk of|at high risk of) (?:falls|falling)",
            "falls? risk",
            "falls",
        ),
        "infection": ("infection[ -]control", "infection risk"),
        "behaviour": ("behaviou?r(?:al)?(?: risk)?",),
        "dnacpr": (
            "dnacpr(?: in place)?",
            "dnar",
            "do not attempt (?:cpr|resuscitation)",
            "do not attempt cardiopulmonary resuscitation",
        ),
    }
)

#: Why a medicine is stopped. A reason that fits none of them is asked for.
REASONS = Phrases.of(
    {
        "interaction": (
            "interact(?:s|ing|ion|ions)?",
            "bleeds?",
            "bleeding(?: risk)?",
            "risk of (?:a )?(?:bleed|bleeding)",
            "serotonin syndrome",
            "hyperkala?emia",
        ),
        "allergy": (
            "allerg(?:y|ic|ies)",
            "intoleran(?:t|ce)",
            "(?:can't|cannot|can not|couldn't|not|doesn't|does not) tolerat(?:e|ing) (?:it|them)",
            "rash",
            "hives",
            "angio-?o?edema",
            "anaphyla(?:xis|ctic)",
        ),
        "ineffective": (
            "(?:is not|isn't|not|does not|doesn't|didn't|did not) (?:work|help)(?:ing|ed)?",
            "(?:is not|isn't|not) effective",
            "ineffective",
            "no (?:benefit|effect|use|better)",
            "lack of (?:benefit|effect)",
        ),
        "completed": (
            "(?:course|treatment) (?:is |has been |was )?(?:complete|completed|finished|over|done)",
            "(?:has |'s )?(?:completed|finished) (?:the|her|his|their) course",
            "end of (?:the )?course",
        ),
        "patient-request": (
            "(?:patient|patient's|her|his|their|own) request",
            "(?:she|he|the patient|patient)(?: has|'s)? (?:asked|asks|requested|wants|would like) to"
            " (?:stop|come off)(?: it)?",
            "(?:she|he|the patient|patient) (?:doesn't|does not|no longer) wants? (?:it|to take it)",
            "patient preference",
        ),
        "error": (
            "(?:ordered|prescribed|started|charted) (?:in error|by mistake)",
            "in error",
            "by mistake",
            "prescribing error",
        ),
    }
)

#: Words that deny; left over, they turn a request into its opposite.
NEGATIONS = pattern(
    r"not|never|no|nor|neither|none|cannot|without|avoid|except|unless|instead|dont|doesnt|isnt|cant|wont"
    r"|\w+n't"
)

#: Words of questions about what might be: they ask, they do not order.
HYPOTHETICAL = pattern(
    r"if|whether|would|should|could|might|may|suppose|imagine|what|why|how|when|maybe|perhaps|shall|must"
)

POLITE = pattern(
    r"please (?:can|could)(?: (?:you|u|we))?|(?:can|could) i (?:please )?(?:have|get|see)"
    r"|(?:can|could|would|will) (?:you|u|we)(?: please| kindly| pls)?(?: (?:go ahead and|help me(?: to)?))?"
    r"|i(?:'d| would) like (?:you )?to|i want (?:you )?to|i need (?:you )?to|let's|let us"
    r"|go ahead and|if you (?:can|could|would|please)|when you get a (?:moment|chance|minute)"
    r"|thank you(?: very much)?|many thanks|thanks(?: a lot)?|thx|ta|cheers"
    r"|please|pls|plz|kindly|hi|hello|hey|good (?:morning|afternoon|evening)|condor|ok|okay"
)

#: Verbs of requests: they may not stand inside free text, where they would go unseen.
COMMAND_WORDS = pattern(
    r"stop|discontinue|start|begin|commence|initiate|prescribe|give|put|take|add|record|"
    r"note|document|log|flag|mark|remove|delete|cancel|void|archive|book|schedule|order|"
    r"send|text|email|call|tell|refer|discharge|admit|sign|approve|approved|approval|"
    r"override|ignore|disregard|bypass|skip|increase|decrease|reduce|double|halve|change|"
    r"let|inform|ask|arrange|ensure|write|phone|message|generate|draft|print|export|"
    r"transfer|prepare|merge|drop|switch|swap|renew|hold|pause|restart|resume|continue|"
    r"update|set|check|repeat"
    r"|make sure|and then"
)

#: Words that turn a request into another one: they may not go unseen inside free text.
TURNS = pattern(
    r"but|then|unless|until|till|except|instead|tomorrow|tonight|same|otherwise|however|although|every|if"
    r"|whether|only|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
)

#: Words of time: an indication has none, so what looks like one holds something else.
TIMES = pattern(
    r"today|now|later|next|last|before|after|each|per|daily|weekly|monthly|hourly|hours?|days?|weeks?|months?"
    r"|years?|morning|evening|night|noon|breakfast|lunch|dinner"
)

FILLERS: frozenset[str] = words(
    "a an the this that these those her his their its she he they him them it me my i we us our you "
    "your to for of on in at with by from about into and or & also too as well again then there here is "
    "are be being am has have having got 's 'd 'll 've 'm 're s she's he's they're it's i'm i've i'd "
    "we're we've that's patient patients pt pts patient's just now today currently "
    "current so need needs needed want wants do does"
)
