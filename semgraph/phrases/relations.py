"""English words for the predicates of the starter vocabulary.

Verbs are written as `semgraph.phrases.verbs` reads them. An object is a `name` (written with capitals or digits), a
`thing` (a name or a short common noun), `names` or `things` (lists of them, a claim each), a `text` or a `date`.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from semgraph.markers import words

__all__ = ["CHANGES", "DESCRIBED", "ENDS", "JOBS", "NOUNS", "VERBS", "Change", "End", "Noun", "ObjectKind", "Verb"]

ObjectKind = Literal["name", "names", "thing", "things", "text", "date"]


class Verb(NamedTuple):
    """A verb phrase for a predicate; `common`: its subject may be a plain noun ("checkout"), not only a name."""

    predicate: str
    phrase: str
    object: ObjectKind = "name"
    common: bool = False
    habit: bool = False  # what was done once says nothing


VERBS: Final = (
    Verb("lives_in", "live in"),
    Verb("lives_in", "reside in"),
    Verb("lives_in", "be based in"),
    Verb("works_at", "work at|for"),
    Verb("works_at", "be employed at|by"),
    Verb("works_on", "work on", habit=True),
    Verb("reports_to", "report to"),
    Verb("reports_to", "be managed by"),
    Verb("manages", "manage"),
    Verb("speaks", "speak", "names"),
    Verb("speaks", "be fluent in", "names"),
    Verb("prefers", "prefer", "thing", habit=True),
    Verb("uses", "use", "things", habit=True),
    Verb("likes", "like", "things", habit=True),
    Verb("likes", "love", "things", habit=True),
    Verb("likes", "enjoy", "things", habit=True),
    Verb("dislikes", "dislike", "things", habit=True),
    Verb("dislikes", "hate", "things", habit=True),
    Verb("allergic_to", "be allergic to", "things"),
    Verb("married_to", "be married to"),
    Verb("studied_at", "study at"),
    Verb("studied_at", "graduate from"),
    Verb("member_of", "be a member of"),
    Verb("member_of", "belong to"),
    Verb("ceo_of", "be the ceo of"),
    Verb("capital_of", "be the capital of"),
    Verb("owns", "own", "thing", common=True),
    Verb("owned_by", "be owned by", "thing", common=True),
    Verb("located_in", "be located in", common=True),
    Verb("part_of", "be part of", common=True),
    Verb("depends_on", "depend on", "things", common=True),
    Verb("deploys_on", "deploy on|to", "thing", common=True),
    Verb("deploys_on", "be deployed on|to", "thing", common=True),
    Verb("hosted_on", "be hosted on", "thing", common=True),
    Verb("hosted_on", "run on", "thing", common=True),
    Verb("written_in", "be written in", "names", common=True),
    Verb("replaced_by", "be replaced by|with", "thing", common=True),
    Verb("preferred_name", "go by"),
    Verb("preferred_name", "be called"),
)


class Change(NamedTuple):
    """A turn for something that begins: the predicate that it sets, and its pattern.

    The pattern has groups `new`, perhaps `old`, and `plan` for what is to come.
    """

    predicate: str
    pattern: str
    kind: Literal["state", "change"] = "change"
    object: ObjectKind = "name"


CHANGES: Final = (
    Change(
        "lives_in",
        r"(?:moved|relocated|(?P<plan>(?:will|am going to|is going to) move|(?:am|is|are) moving))(?: back)?"
        r"(?: from (?P<old>.+?))? to (?P<new>.+)",
    ),
    Change(
        "works_at",
        r"(?:started|began|(?P<plan>(?:will|am going to|is going to) start|(?:am|is|are) starting)) (?:working|work|"
        r"a job|a new job|a position) (?:at|for|with) (?P<new>.+)",
    ),
    Change("works_at", r"(?:got|took|accepted) a (?:new )?job (?:at|with) (?P<new>.+)"),
    Change("works_at", r"was (?:hired|recruited) by (?P<new>.+)"),
    Change("works_at", r"joined (?P<new>.+)", "state"),
    Change("uses", "(?:switched|migrated|changed)(?: over)? from (?P<old>.+?) to (?P<new>.+)", "state", "thing"),
    Change("uses", r"(?:switched|migrated)(?: over)? to (?P<new>.+)", "state", "thing"),
    Change("uses", r"started using (?P<new>.+)", "state", "thing"),
    Change("married_to", r"(?:got married to|married) (?P<new>.+)", "state"),
)


class End(NamedTuple):
    """A turn for something that stops: its pattern, with a group `old`, and the predicate that it ends."""

    predicate: str
    pattern: str
    object: ObjectKind = "name"


ENDS: Final = (
    End("works_at", r"(?:quit|resigned from|retired from|left (?:(?:my|his|her|their) job at )?) ?(?P<old>.+)"),
    End("works_at", r"(?:was|got) (?:fired|laid off) (?:from|by) (?P<old>.+)"),
    End("uses", r"(?:gave up|got rid of|dropped) (?:using )?(?P<old>.+)"),
)


class Noun(NamedTuple):
    """What "X's noun is Y" says; turned, Y is the subject of the claim."""

    predicate: str
    object: ObjectKind = "name"
    turned: bool = False


NOUNS: Final = {
    "name": Noun("name"),
    "full name": Noun("name"),
    "nickname": Noun("preferred_name"),
    "pronouns": Noun("pronouns", "text"),
    "birthday": Noun("birth_date", "date"),
    "date of birth": Noun("birth_date", "date"),
    "birthplace": Noun("birth_place"),
    "place of birth": Noun("birth_place"),
    "time zone": Noun("timezone", "text"),
    "timezone": Noun("timezone", "text"),
    "preferred language": Noun("preferred_language"),
    "email": Noun("email", "text"),
    "email address": Noun("email", "text"),
    "phone number": Noun("phone", "text"),
    "diet": Noun("dietary_preference", "text"),
    "employer": Noun("works_at"),
    "job title": Noun("job_title", "text"),
    "manager": Noun("reports_to"),
    "boss": Noun("reports_to"),
    "wife": Noun("married_to"),
    "husband": Noun("married_to"),
    "spouse": Noun("married_to"),
    "partner": Noun("partner_of"),
    "girlfriend": Noun("partner_of"),
    "boyfriend": Noun("partner_of"),
    "sister": Noun("sibling_of"),
    "brother": Noun("sibling_of"),
    "mother": Noun("parent_of", turned=True),
    "father": Noun("parent_of", turned=True),
    "son": Noun("parent_of"),
    "daughter": Noun("parent_of"),
    "friend": Noun("friend_of"),
    "dog": Noun("has_pet"),
    "cat": Noun("has_pet"),
    "pet": Noun("has_pet"),
    "keyboard layout": Noun("keyboard_layout", "thing"),
    "editor": Noun("editor", "thing"),
    "operating system": Noun("operating_system", "thing"),
    "theme": Noun("ui_theme", "thing"),
    "goal": Noun("goal", "text"),
    "owner": Noun("owned_by", "thing"),
    "founder": Noun("founded_by"),
    "author": Noun("created_by"),
    "ceo": Noun("ceo_of", turned=True),
    "capital": Noun("capital_of", turned=True),
    "currency": Noun("uses_currency", "thing"),
    "repository": Noun("repository", "text"),
    "version": Noun("version", "text"),
    "license": Noun("license", "text"),
    "licence": Noun("license", "text"),
    "price": Noun("price", "text"),
    "deadline": Noun("deadline", "date"),
    "deploy day": Noun("deploy_day", "text"),
}

# What somebody may be said to be by words that look like a name: "my brother is Norwegian".
DESCRIBED: Final = frozenset(
    words(
        "afghan african albanian algerian american angolan arab argentinian armenian asian atheist australian austrian "
        "azerbaijani bangladeshi basque belarusian belgian bolivian bosnian brazilian british buddhist bulgarian "
        "cambodian canadian catalan catholic chilean chinese christian colombian croatian cuban cypriot czech danish "
        "dutch ecuadorian egyptian english estonian ethiopian european filipino finnish flemish french gay georgian "
        "german ghanaian greek guatemalan haitian hindu hungarian icelandic indian indonesian iranian iraqi irish "
        "israeli italian jamaican japanese jewish jordanian kazakh kenyan korean kurdish latvian lebanese lesbian "
        "libyan lithuanian lutheran macedonian malaysian maltese mexican moldovan mongolian moroccan muslim nepali "
        "nigerian norwegian orthodox pakistani palestinian peruvian polish portuguese protestant romanian russian "
        "saudi scottish senegalese serbian sikh singaporean slovak slovenian somali spanish sudanese swedish swiss "
        "syrian taiwanese tanzanian thai tibetan tunisian turkish ugandan ukrainian uruguayan vegan vegetarian "
        "venezuelan vietnamese welsh zimbabwean"
    )
)

# Nouns at the end of what somebody does for a living.
JOBS: Final = frozenset(
    words(
        "accountant actor actress administrator analyst architect artist author baker biologist carpenter chef chemist "
        "consultant cook dentist designer developer director doctor economist editor electrician engineer farmer "
        "firefighter gardener historian journalist judge lawyer lecturer librarian manager mathematician mechanic "
        "musician nurse officer painter pharmacist photographer physicist physiotherapist pilot plumber policeman "
        "policewoman professor programmer psychologist recruiter researcher scientist secretary singer student surgeon "
        "teacher technician therapist translator tutor veterinarian waiter waitress writer"
    )
)
