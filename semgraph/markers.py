"""Markers of the language gate: the English words and turns by which it tells a mood, a guess or a plan from a fact.

Each table is a tuple of regular expressions, matched as whole words on folded text (lower case, single spaces, plain
quotes and dashes). No repetition is without a bound where a neighbour may take the same text: matching stays linear.
"""

from __future__ import annotations

__all__ = [
    "AFFECT",
    "HEDGED",
    "MOODS",
    "NO_VERB",
    "OPINION",
    "PASSING_STATES",
    "QUESTION",
    "SPECULATION",
    "TRANSIENT",
    "words",
]


def words(text: str) -> tuple[str, ...]:
    """The words of a table that is written as a text."""
    return tuple(text.split())


def _either(found: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(found)})"


_BE = r"(?:is|are|was|were|am|be|been|being|[a-z\ue000]+'s|(?:you|we|they)'re|i'm|isn't|aren't|wasn't|weren't)"
_SEEM = (
    "(?:seem(?:s|ed|ing)?|appear(?:s|ed)?|look(?:s|ed|ing)?|sound(?:s|ed|ing)?|feel(?:s|ing)?|felt|get(?:s|"
    "ting)?|got|gr[eo]ws?|became|becom(?:es?|ing)|remain(?:s|ed)?|stay(?:s|ed)?)"
)
_DEGREE = (
    "(?:(?:very|really|so|quite|rather|pretty|too|extremely|a bit|a little|a lot|somewhat|deeply|"
    "increasingly|clearly|visibly|still|now|again|always|often|just|super|totally|completely|absolutely|"
    "truly|utterly|more|less|not|currently|mildly|slightly|obviously|incredibly|especially|to be|kind of|"
    "sort of|getting|feeling) ){0,3}"
)

# -- affect: moods -----------------------------------------------------------------------------------------------------

MOODS = frozenset(
    words(
        "agitated amused angry annoyed anxious ashamed bored cheerful confused cranky delighted demoralized "
        "demotivated depressed devastated disappointed discouraged displeased distressed down ecstatic elated "
        "embarrassed enraged enthusiastic euphoric exasperated excited exhausted frightened frustrated furious "
        "glad gloomy grateful grumpy happy heartbroken homesick hopeful hopeless horrified impatient irritable "
        "irritated jealous joyful livid lonely mad melancholic miserable nervous nostalgic offended optimistic "
        "overjoyed overwhelmed panicked pessimistic pleased proud puzzled relieved resentful sad scared shocked "
        "stressed terrified thrilled tired uneasy unhappy unmotivated upset weary worried"
    )
)
# "down" says something else after a plain verb; "scared of" and the like may be a trait.
_MOOD = _either(
    tuple(
        sorted(
            MOODS - {"confused", "discouraged", "down", "frightened", "mad", "proud", "relieved", "scared", "terrified"}
        )
    )
) + (
    r"(?! hours?\b| birthday| farm)|(?:proud|mad)(?! max| men)|(?:scared|terrified|frightened)(?! of)|"
    r"confused(?! with)|(?:relieved|discouraged)(?! by| of| from| or)|"
    r"(?:fed up|burn(?:t|ed) out|stressed out|on edge|over the moon|down in the dumps|at peace)"
)
AFFECT = (
    rf"(?:{_BE}|{_SEEM}) {_DEGREE}(?:{_MOOD})",
    (
        r"feel(?:s|ing)? (?:like\b(?! home)|good|bad|great|awful|terrible|down|low|off|strongly|guilty|better|"
        "worse|lost|stuck)"
    ),
    "felt (?:good|bad|great|awful|terrible|down|low|off|strongly|guilty|better|worse|lost|stuck)",
    (
        "(?:frustrated|annoyed|irritated|angry|upset|excited|thrilled|worried|nervous|furious|stressed|"
        "disappointed|overwhelmed|delighted|unhappy|happy) (?:with|by|at|about|over|that)"
    ),
    (
        "(?:mak(?:es?|ing)|made|gets|got) (?:[^ ]{1,40} ){1,3}(?:angry|happy|sad|nervous|anxious|mad|furious|"
        "unhappy|upset)"
    ),
    (
        "in (?:an? |such a )?(?:really |very )?(?:good|bad|great|foul|terrible|awful|better|happy|sour|grumpy|"
        "weird) mood"
    ),
    "in (?:good|high|low) spirits",
    ("(?:is|are|was|were) (?:crying|sobbing|sulking|venting|freaking out|panicking|grieving|fuming|in tears)"),
    "(?:lost|losing|loses) (?:his|her|their|my|its) (?:temper|patience|cool|mind)",
    "(?:can't|cannot|can not) wait",
    "looking forward to",
    (
        "(?:expresse[sd]|expressing|voice[sd]|show(?:s|ed)|vented|venting) (?:[a-z]{1,20} "
        "){0,2}(?:frustration|anger|excitement|joy|annoyance|disappointment|sadness|delight|relief|anxiety|"
        "gratitude|enthusiasm)"
    ),
    ("(?:full of|filled with|overcome with|overcome by) (?:joy|anger|rage|grief|fear|regret|dread|excitement)"),
    (
        "(?:is|was|are|were|'s) having an? (?:really |very )?(?:bad|rough|hard|great|tough|terrible|good|"
        "awful) (?:day|week|time|morning|night)"
    ),
)

# -- opinions about others, and of others ------------------------------------------------------------------------------

_PERSON = _either(
    words(
        "person guy man woman human manager boss colleague coworker co-worker teammate developer engineer teacher "
        "leader lead friend father mother dad mom parent husband wife partner listener cook driver designer "
        "neighbour neighbor roommate flatmate speaker writer programmer coder employee employer client customer "
        "team company ceo kid child"
    )
)
_TRAITS = _either(
    words(
        "annoying arrogant awesome awful boring bossy brilliant charming clever clueless condescending crazy "
        "creepy cruel dishonest dumb fantastic gorgeous gullible horrible idiotic ignorant immature incompetent "
        "insane insufferable lazy lovely manipulative moody narcissistic nasty nice obnoxious overrated pathetic "
        "patronizing pretentious ridiculous rude selfish smart smug stubborn stupid talented terrible ugly "
        "unbearable underrated unprofessional untrustworthy useless weird wonderful"
    )
)
_EPITHETS = _either(
    words(
        "asshole bully clown coward crook diva fool fraud genius hypocrite idiot jerk liar loser micromanager "
        "moron narcissist nightmare nuisance psychopath rockstar slob snob weirdo"
    )
)
OPINION = (
    rf"(?:{_BE}|{_SEEM}) {_DEGREE}{_TRAITS}(?! by default| load| evaluat| import| bike)",
    (
        rf"(?:{_BE}|{_SEEM}) (?:like )?(?:such )?(?:an?|the|one of the) (?:[a-z]{{1,20}} "
        rf"){{0,2}}?{_EPITHETS}(?! bar)"
    ),
    (
        rf"(?:{_BE}|{_SEEM}) (?:such )?(?:an?|the) (?:[a-z]{{1,20}} ){{0,1}}?(?:{_TRAITS}|bad|lousy|great|good|"
        rf"excellent|amazing|poor|toxic|worst|best(?! man| friend)|mean) (?:[a-z]{{1,20}} ){{0,1}}?{_PERSON}"
    ),
    (
        rf"{_BE} {_DEGREE}(?:bad|good|terrible|great|awful|hopeless|lousy) (?:at|with) (?:his|her|their|the) "
        "(?:job|work|people)"
    ),
    (
        rf"{_BE} {_DEGREE}(?:hard|difficult|impossible|easy|great|awful|fun|toxic) to (?:work|deal|talk|live) "
        "with"
    ),
    "(?:thinks|believes|reckons|finds|feels) that",
    (
        "(?:thinks|reckons|believes) (?!in |of |about |with |on |aloud|twice)[^.;]{1,60}? (?:is|are|was|were|"
        "isn't|aren't|has|have|should|shouldn't|looks|sounds|deserves?|needs|sucks|'s)"
    ),
    (
        "(?:considers|finds) [^.;]{1,60}? (?:to be|too|so|very|overrated|underrated|boring|annoying|useless|"
        "ugly|confusing|difficult|frustrating|stupid|ridiculous|amazing|beautiful)"
    ),
    (
        "in (?:my|his|her|their|our|your|[^ ]{1,40}'s) (?:humble |honest )?(?:opinion|view|eyes|experience|"
        "judgement|judgment)"
    ),
    "my (?:honest |personal |own )?(?:read|take|view|impression|sense|hunch) (?:is|on|of)",
    "(?:just|mostly|only|that's) my (?:read|take|view|opinion|impression|taste)",
    "(?:i'm|i am) (?:a bit |very |quite )?(?:skeptical|sceptical) (?:of|about)",
    "i find (?:it|this|that|the|these|those|him|her|them)",
    ("(?:nobody|no one|everyone|everybody|no-one) (?:really )?(?:likes|hates|loves|trusts|respects|wants|dislikes)"),
    (
        "(?:does not|doesn't|don't) (?:really )?(?:know|understand|care|deserve) what (?:he|she|they|it)(?: "
        "is|'s| are|'re)"
    ),
    "(?:should|deserves? to|ought to) (?:be|get) (?:fired|sacked|promoted|ashamed|punished|banned)",
    "(?:sucks|stinks|deserves (?:better|worse|more))",
    (
        "(?:has|have|had) (?:no|a bad|a terrible|great|poor|bad|good|terrible) (?:taste|manners|attitude|"
        "judgement|judgment)"
    ),
)

# -- speculation: intentions without a date ----------------------------------------------------------------------------

# Words after which "will" is a noun or a name, and those that show it is no modal verb when they follow it.
NO_VERB = frozenset(
    words(
        "a an the his her their my your our its free good ill last living strong and or of by with from at in on "
        "to for met uncle king father saint who whom is was has had are were does did told asked called named via "
        "than like ferrell smith rogers turner"
    )
)
SPECULATION = (
    "(?:plan|plans|planned|planning) (?:to|on)",
    "(?:has|have|had) plans (?:to|for)",
    "inten(?:ds?|ded|ding) (?:to|on)",
    "(?:the|an|no|every|any) intention (?:to|of)",
    "commit(?:s|ted|ting)? to [a-z]{2,20}ing",
    "promis(?:es?|ed|ing) (?:[a-z]{2,20} ){0,2}(?:to|that|i'd|he'd|she'd|they'd|we'd)",
    r"\A(?:will|won't) [a-z]{2,20}",
    (
        r"(?:is|are|am|was|were|[a-z\ue000]+'s|[a-z]+'re|i'm|isn't|aren't|not) (?:not |still |also |now |"
        "seriously |currently |really |just |always |actively )?(?:going to(?! school| college| university| "
        "church| therapy| bed)|about to|looking to|hoping to|hoping for|aiming to|aiming for|trying to|"
        "wanting to|thinking (?:of|about)|considering|contemplating|debating|toying with|flirting with|"
        "tempted to|eager to|keen to|planning|leaning towards?|on the verge of|expected to|deciding)"
    ),
    "(?:gonna|wanna|fixing to)",
    (
        "(?:want|wants|wanted|wish|wishes|hope|hopes|hoped|aim|aims|expect|expects|dream|dreams|dreamt|"
        r"dreamed|aspires?|longs?|yearns?) (?:to(?! \d)|of|for|that)"
    ),
    "(?:considers?|considered|contemplates?|contemplated) (?:[a-z]{2,20}ing)",
    (
        r"(?:would|[a-z\ue000]+'d) (?:also |really |rather |much |still )?(?:like|love|hate|prefer|want|"
        "consider) to"
    ),
    "(?:(?:i|you|he|she|it|we|they|that|there)'ll|won't) (?:[a-z]{2,20})",
    ("(?:some day|someday|in the (?:near |distant |not too distant )?future|sooner or later|down the (?:road|line))"),
    "(?:has|have|had) (?:an eye|his eye|her eye|their eye|his heart|her heart|their heart) (?:on|set on)",
    "(?:could see|sees|see) (?:himself|herself|themselves|myself) [a-z]{2,20}ing",
    "(?:keeps|is) (?:an option|on the table)",
)

# -- hedges ------------------------------------------------------------------------------------------------------------

HEDGED = (
    (
        "(?:maybe|perhaps|possibly|probably|presumably|supposedly|allegedly|apparently|seemingly|reportedly|"
        "purportedly|ostensibly|conceivably|potentially|hopefully|tentatively|arguably|doubtfully|unlikely|"
        "iirc|afaik|afaict|imho|imo|idk|dunno|mayhap|perchance)"
    ),
    (
        "(?<!the )(?<!his )(?<!her )(?<!its )(?<!their )(?<!military )(?<!all )(?<!of )(?<!with )might(?! "
        r"and\b)"
    ),
    (
        "(?<!in )(?<!on )(?<!since )(?<!until )(?<!till )(?<!by )(?<!from )(?<!of )(?<!before )(?<!after "
        ")(?<!last )(?<!next )(?<!this )(?<!early )(?<!late )(?<!mid )(?<!mid-)(?<!to )(?<!through )(?<!and "
        r")(?<!\d )(?<!st )(?<!th )may (?:not|be|have|also|well|still|or may|want|need|move|switch|change|use|"
        "leave|join|consider|become|get|go|take|start|stop|work|live|prefer|like|know|own|return|try|come|"
        "come back|already|never|one day|soon|actually)"
    ),
    (
        "(?:could|may|might|should|must) (?:well |also |still |possibly |easily |just )?(?:be (?:that|wrong|"
        "right|the case)|have been|as well)"
    ),
    (
        "could (?:well |also |still |possibly |easily |just |end up )?(?:be|become|move|switch|change|leave|"
        "end|turn out|mean)"
    ),
    "likely(?! to be continued)",
    (
        "(?<!a )(?<!an )(?<!the )(?<!this )(?<!that )(?<!what )(?<!any )(?<!every )(?<!one )(?<!some "
        ")(?<!each )(?<!another )(?<!same )(?<!certain )(?<!different )(?<!which )(?<!of )(?<!no )(?<!new "
        ")(?<!rare )(?<!special )(?<!other )(?:kind|sort) of(?! like a bird)"
    ),
    "(?:kinda|sorta)",
    (
        "(?:i|we) (?:think|guess|believe|suppose|assume|imagine|suspect|reckon|gather|figure|presume|wonder|"
        "doubt|feel|hope)"
    ),
    "(?:i'm|i am|we're|we are) (?:guessing|assuming|thinking|fairly sure|pretty sure|almost sure|afraid)",
    "(?:my|our|best|a|wild|educated|rough) guess",
    (
        "(?:not|isn't|aren't|wasn't|am not|never|less than) (?:entirely |completely |quite |totally |really |"
        "so |too |100% |at all )?(?:sure|certain|clear|convinced|confirmed|positive)"
    ),
    ("(?:unsure|uncertain|unclear|unconfirmed|undecided|in doubt|up in the air|rumou?red|rumou?r has it|speculated)"),
    "(?:can't|cannot|can not|couldn't) (?:be sure|be certain|say for sure|rule out|tell for sure)",
    "(?:if i|if we) (?:remember|recall|am not|'m not|are not|understand)",
    "if (?:memory serves|i'm not mistaken)",
    ("(?:as far as|for all|to the best of) (?:i|we|my|our|anyone) ?(?:know|can tell|knowledge|remember|knows)?"),
    "(?:seem|seems|seemed) ?(?:to|like|that|as if|as though|so)?",
    "(?:appear|appears|appeared) (?:to|as if|as though|that)",
    "(?:look|looks|looked|sound|sounds|sounded) (?:like|as if|as though)",
    (
        "(?:is|are|was|were) (?:supposed|said|believed|thought|assumed|reported|alleged|presumed|understood|"
        "rumou?red) to"
    ),
    "(?:more or less|or something|or so they say|or whatever|in theory|so to speak|give or take)",
    ("(?:there's|there is|has|have) an? (?:good |small |slim |fair |real |slight )?(?:chance|possibility|likelihood)"),
    "(?:it's|it is|that's) (?:possible|conceivable|plausible|probable|doubtful|likely)",
    ("(?:tends? to think|hard to say|remains to be seen|who knows|don't quote me|take it with a grain of salt)"),
)

# -- transient states --------------------------------------------------------------------------------------------------

PASSING_STATES = frozenset(
    words(
        "afk away blocked broken building busy closed compiling crashing debugging deploying down eating failing "
        "flaky hanging idle loading offline open paused pending queued rebooting restarting running sick sleeping "
        "stuck syncing testing typing unavailable unreachable waiting"
    )
)
_STATE = (
    "(?:afk|blocked|compiling|crashing|debugging|deploying|eating|failing|flaky|hanging|idle|loading|"
    "offline|paused|pending|queued|rebooting|restarting|sick|sleeping|stuck|syncing|typing|unavailable|"
    "unreachable|asleep|awake|hungry|broken(?! down| into| out)|running(?! for | an? | the | his | her "
    r"| their )|open(?! source|-source| to\b| on\b| for\b| from| every| daily| until| in\b| access| standard|"
    r" all\b| at\b| seven| 24)|closed(?! source|-source| on\b| every| in\b| at\b| to\b)|down(?! to| the| "
    "under)|waiting(?! tables)|up and running|busy(?! street| airport| road)|away(?! from home for)|in (?:a "
    "|the )?(?:meeting|progress|review|call|queue|shower|middle of)|on (?:a |the )?(?:call|phone|hold|break|"
    "vacation|holiday|leave|pto|fire|line|way)|out of (?:office|the office|town|sync|stock)|under (?:way|"
    "maintenance|review|construction)|about to|red|on its way|ill(?! with))"
)
_NOW = (
    "(?:currently |now |still |again |just |already |always |temporarily |presently |both |all |not |down |back ){0,2}"
)
TRANSIENT = (
    (
        "(?:right now|at the moment|just now|as we speak|at present|for now|for the moment|for the time being|"
        "temporarily(?! [a-z]+ed)|as of now|presently|momentarily)"
    ),
    "at this (?:very |exact )?(?:moment|second|minute|instant|hour)",
    rf"(?:is|are|am|i'm|[a-z\ue000]+'s|[a-z]+'re|isn't|aren't|remains?|stays?|keeps?|seems) {_NOW}{_STATE}",
    (
        r"(?:is|are|am|i'm|[a-z\ue000]+'s|[a-z]+'re) (?:currently|now|still|again|busy|just) (?:working|trying|"
        "looking|writing|fixing|reading|testing|building|reviewing|checking|updating|installing|migrating|"
        "refactoring|investigating|traveling|travelling|visiting|sitting|driving|walking|talking|playing|"
        "watching|using the)"
    ),
    (
        "currently (?:working|trying|looking|writing|fixing|testing|building|reviewing|checking|updating|"
        "running|failing|down)"
    ),
    "(?:the )?(?:build|ci|image|project|pipeline|app|release|tests?) (?:is|are) (?:now |still )?building",
    ("(?:is|are|am|'s|'re|i'm) (?:[^ ]{1,40} ){0,8}(?:today|tonight|this (?:morning|afternoon|evening|minute))"),
    "(?:until|till|by) (?:later|tonight|this evening|the end of (?:the day|today))",
    "(?:has|have|'s|'ve) (?:just|only just) (?:started|begun|left|arrived|stopped|opened|logged|finished)",
    "(?:keeps|kept) (?:failing|crashing|restarting|hanging|timing out)",
)

# -- questions ---------------------------------------------------------------------------------------------------------

QUESTION = (
    "^who(?:se|m|'s)? ",
    r"[?؟‽][?!؟]*[\"')\]]*(?:\s|$)",
    (
        "^(?:who|whom|whose|what|where|when|why|how|which)(?:'s| is| are| was| were| do| does| did| can| "
        r"could| will| would| should| has| have| many| much| long| often| come| about)\b(?! matters| follows)"
    ),
    r"^do (?:i|you|we|they|these|those)(?!\w)",
    (
        "^(?:is|are|was|were|does|did|can|could|will|would|should|has|shall|am|may|isn't|aren't|doesn't|don't "
        r"you|didn't|can't|couldn't|won't|wouldn't|shouldn't) (?:\ue000|i|you|he|she|it|we|they|there|this|"
        r"that|these|those|the|any|anyone|anybody|someone|my|your|his|her|their|our)(?!\w)"
    ),
    (
        "^(?:any idea|do you|tell me|remind me|i wonder|i was wondering|can anyone|does anyone|what if|how "
        r"about)\b"
    ),
)
