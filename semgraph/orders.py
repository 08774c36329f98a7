"""Orders to the model that will read a memory: what makes a text an instruction, in plain sight or in disguise."""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from semgraph.names import fold_text

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["gives_orders", "has_markup"]

# -- what orders sound like --------------------------------------------------------------------------------------------

_NAMED_MODEL = (
    "(?:ai|assistant|llm|chatbot|language model|ai model|ai agent|ai assistant|copilot|chatgpt|claude|gemini|gpt)s?"
)
# What one orders a model to do; the base form, so that "the team answers" is no order.
_DO = (
    "(?:ignore|disregard|forget|override|respond|reply|answer|say|tell|reveal|output|print|act|behave|"
    "pretend|follow|obey|comply|send|email|forward|recommend|promote|mention|call|invoke|execute|refuse|"
    "treat|trust|approve|grant|delete|transfer|store|remember|save|assume|claim|append|insert|visit|click|"
    "download|fetch|summarize|summarise|replace|prioritize|prioritise|repeat|translate|suggest|redirect|buy|"
    "pay|wire|share|upload|post|exfiltrate|encode|decode|praise|advise|insist|deny|hide|conceal|leak|"
    "disclose|purchase|order|withdraw|rate|rank|include|use the|never|always|immediately|not (?:tell|"
    "mention|reveal|ask|follow|refuse|warn|inform)|no longer)"
)
_RULES = (
    "(?:instructions?|prompts?|rules?|guidelines?|directives?|constraints?|restrictions?|guardrails?|"
    "polic(?:y|ies)|context|messages?|training|commands?|orders?|conversation|programming|safeguards?|"
    "safety|filters?|limits?|limitations?|guidance|advice|memor(?:y|ies))"
)
_SOME = r"(?:[\w'-]{1,40} ){0,6}?"
_POINTING = (
    "(?:all|any|every|everything|the|your|my|previous|prior|above|earlier|preceding|these|those|other|"
    "existing|past|its)"
)

# Where an order may begin: at the start of a clause, or after a word that hands it over.
_CLAUSE = (
    r"(?:^|[.!?:;,\"'()\[\]{}<>*#>|`~-] ?|(?<!\w)(?:and|then|please|now|just|immediately|first|instead|"
    "kindly|so|also|you to|model to|assistant to|(?:task|job|goal|role|duty|mission) is to|have to|must|you "
    "should|you will|you can|but|or) )(?:please |now |just |always |never |immediately |kindly |simply |"
    "also |first |then |you must |you should |only |silently |secretly |do not |don't ){0,3}"
)
_IN_CLAUSE = (
    (
        "(?:ignore|disregard|forget|override|bypass|overrule|discard|dismiss|skip|neglect|obey|follow|stop "
        rf"following|disobey|erase|delete|disable|turn off|unlearn|abandon) {_SOME}{_POINTING} "
        rf"{_SOME}{_RULES}(?!\w)"
    ),
    "(?:ignore|disregard|forget) (?:everything|anything|all|what)(?: of)?(?: that| you| i| was| came| the)",
    (
        "(?:act as|behave as|behave like|pretend (?:to|that|you)|roleplay as|role-play as|impersonate|play "
        r"the role of)(?!\w)"
    ),
    (
        "(?:reveal|print|show|output|repeat|display|disclose|leak|share|tell|give|return|write out|quote|"
        rf"dump|expose|send|list|export|summarize|paste|encode) {_SOME}(?:system prompt|system message|initial "
        "prompt|hidden prompt|your (?:[a-z]{1,20} )?(?:instructions|prompt|rules|configuration|guidelines|"
        "memory|memories|tools)|api keys?|credentials|passwords?|secrets|environment variables|env vars|"
        "stored facts|conversation history|chat history|private data|personal data|contact list|access "
        r"tokens?|confidential|user's (?:data|email|emails|address|messages|files))(?!\w)"
    ),
    (
        rf"(?:tell|inform|mention|alert|notify|warn|ask|consult|bother) {_SOME}(?:the user|the owner|the human|"
        r"the operator|anyone|anybody|them about this|him about this|her about this|this to)(?!\w)"
    ),
    (
        "(?:respond|reply|answer)(?: only| exactly| instead| back)? (?:with|in|to|as|every|all|each|that|yes|"
        r"no|using|without)(?!\w)"
    ),
    (
        "(?:end|begin|start|finish|sign|prefix|append|prepend) (?:every|all|each|your|any) "
        rf"{_SOME}(?:response|reply|answer|message|sentence|email|output|conversation)s?(?!\w)"
    ),
    (
        "(?:say|output|print|repeat|return|write)(?: only)? (?:exactly|the following|after me|this sentence|"
        r"the word|yes to|no to|nothing else|everything above)(?!\w)"
    ),
    rf"(?:repeat|translate|summarize|copy|print|output) {_SOME}(?:above|so far|verbatim)(?!\w)",
    (
        "(?:recommend|suggest|promote|mention|praise|advertise|cite|link to|endorse|favor|favour) "
        rf"{_SOME}(?:to the user|to users|to everyone|when asked|if asked|whenever|in every|in all|over all|"
        r"first|as the best|instead of)(?!\w)"
    ),
    (
        rf"(?:remember|memorize|store|save|record|add|write|put|commit|insert) {_SOME}(?:in|to|into) (?:your |"
        r"the |its |long-term |permanent |persistent ){0,3}memor(?:y|ies)(?!\w)"
    ),
    (
        "(?:remember|memorize|never forget)(?: this)?(?: fact)?:? (?:that|to|permanently|forever|always|the "
        r"following)(?!\w)"
    ),
    (
        "(?:forget|erase|delete|wipe|clear|reset|purge) (?:everything|all|your|the user's|the whole|every|the "
        r"entire)(?!\w)"
    ),
    (
        "(?:send|forward|email|e-mail|post|upload|exfiltrate|transmit|submit|leak|copy|transfer|wire|pay|"
        rf"deliver|donate) {_SOME}(?:to|at|via) (?:https?:|[\w.+-]{{1,60}}@|[\w-]{{1,60}}\.(?:com|net|org|io|"
        "ru|xyz|biz|info|example|test)|attacker|the following|this (?:url|address|account|endpoint|webhook|"
        "wallet|iban|email)|account|iban|wallet|bitcoin|0x)"
    ),
    (
        "(?:visit|open|click|go to|navigate to|browse to|fetch|download|load|curl|wget|read|follow) "
        rf"{_SOME}(?:https?:|www\.|here(?!\w)|this link|the link below|this url|the url below|the attached)"
    ),
    (
        "(?:call|invoke|use|run|execute|trigger|launch) (?:the|this|your|a|an|following|these) "
        rf"{_SOME}(?:tool|function|plugin|shell|command below|following command|following code|this code|this "
        r"command|following script|this script|sql|command)(?!\w)"
    ),
    r"(?:call|invoke|execute|run) [\w.]{1,60}\(",
    (
        "(?:execute|run|eval|decode)(?: and (?:follow|execute|run))? (?:this|the following|these|"
        r"everything)(?!\w)"
    ),
    (
        "(?:approve|authorize|authorise|accept|grant|confirm|allow|trust|whitelist|allowlist) (?:all|any|"
        rf"every|everything|future|full|unrestricted|root|admin|requests?|anything) {_SOME}(?:requests?|"
        "transactions?|payments?|access|commands?|messages?|permissions?|calls?|from|transfers?|says?|"
        r"rights)(?!\w)"
    ),
    (
        rf"(?:refer|redirect|substitute|treat|interpret|map|route|replace) {_SOME}(?:quer(?:y|ies)|requests?|"
        "questions?|instructions?|mentions?|references?|statements?|text|content|messages?|records?|"
        "answers?) "
    ),
    (
        "(?:follow|comply with|obey|carry out) (?:these|the following|my|the|all|any|every|this|it)(?: "
        r"[\w-]{1,40}){0,3}? (?:instructions?|steps|rules|orders?|commands?|exactly|without)(?!\w)"
    ),
    r"(?:do exactly|do anything|do as i|do what i|do whatever)(?!\w)",
    (
        "(?:enable|enter|activate|switch to|turn on|engage|unlock) (?:developer|debug|god|admin|dan|"
        "unrestricted|sudo|jailbreak|root|maintenance|unsafe|training) mode"
    ),
    "(?:sudo|chmod|rm -rf|mkfs|drop table|wget|curl) ",
    "from now on(?:,| you| always| never| every| all| the assistant| respond| answer| refuse| treat| i am)",
    (
        "(?:assume|consider|believe|accept|conclude|insist|claim|state) that (?:you|the user has|the user is|"
        r"i am|all|every|any|the admin|this (?:is|message))(?!\w)"
    ),
)
_ANYWHERE = (
    (
        "(?:ignore|ignoring|disregard|disregarding|forget|forgetting|override|overriding|supersedes?|"
        "overrides?|replaces?) (?:all |any |of |the |your |my |these |those |every |other "
        "){0,3}(?:previous|prior|above|earlier|preceding|past|former|original|initial|system|safety|"
        rf"existing|other|older) (?:[\w-]{{1,40}} ){{0,2}}?{_RULES}(?!\w)"
    ),
    "you are (?:now|no longer|hereby|henceforth|from now on) ",
    (
        r"you are (?:an? )(?:[\w-]{1,40} ){0,3}?(?:assistant|ai|model|bot|chatbot|agent|hacker|expert|terminal|"
        r"interpreter)(?!\w)"
    ),
    (
        "you (?:must|should|shall|will|need to|have to|are to|ought to|are required to|are instructed to|are "
        "obliged to|are ordered to|can now|may now|cannot|can't|must not|should not|shouldn't|mustn't|will "
        rf"now|will no longer)(?: now| also| only| therefore| first| then| immediately| simply)? {_DO}(?!\w)"
    ),
    (
        "your (?:new |only |real |true |primary |main |actual |hidden |secret )?(?:instructions?|task|job|"
        "role|goal|purpose|objective|mission|persona|directive|priority|system prompt) (?:is|are|has|have|"
        r"will|now|changed)(?!\w)"
    ),
    (
        "(?:the |this |any |all |every |each |an |dear |hey |attention |note to (?:the |any )?|important for "
        rf"(?:the |any )?){_NAMED_MODEL} (?:reading this |that reads this |processing this |who reads this "
        ")?(?:must|should|shall|has to|have to|needs? to|is required to|are required to|is to|are to|will "
        "now|may not|ought to|is instructed to|are instructed to|is allowed to|can now|is now|will) "
        rf"{_DO}(?!\w)"
    ),
    (
        "(?:hey|dear|attention|attn|note to|message to|message for|to the|to any|to all|hello)[,:]? (?:the |"
        rf"any |all |every )?(?:reading |future )?{_NAMED_MODEL}(?: reading this)?[,:!.-]"
    ),
    (
        "(?:instructions?|notes?|message|orders?|reminder) (?:for|to) (?:the |all |any |every "
        rf")?(?:{_NAMED_MODEL}|model|agent|agents):"
    ),
    "new (?:system )?(?:instructions?|prompt|directive|orders|task)(?: for you)?:",
    (
        "(?:system|admin|administrator|developer|root|operator|security) (?:override|instructions?|directive|"
        "command|prompt|notice|message|mode)s? ?[:!-]"
    ),
    (
        "(?:end|begin|start) (?:system|user|assistant|developer) (?:prompt|message|instructions?|"
        r"context)(?!\w)"
    ),
    (
        "(?:it is|it's|is) (?:critical|important|essential|vital|crucial|imperative|necessary|mandatory|"
        r"required) (?:that|for) you(?!\w)"
    ),
    (
        "(?:end|beginning|begin|start) of (?:the )?(?:system|user|assistant|hidden|new|document|context|"
        r"instructions?|prompt)(?: prompt| message| instructions?| context)?[ \]>:.)-]"
    ),
    (
        r"(?:if|when|whenever|once|every time|each time|anytime|as soon as) (?:[\w'-]{1,40} "
        r"){0,4}?(?:asked|asks?|user (?:\w{1,20})|you (?:\w{1,20})|someone asks|prompted|queried|"
        "mentions?|mentioned|see this|reads? this|read this|says?)[^.;]{0,160}?[,:] ?(?:then |please |just "
        "|you (?:must|should|will) |always |never |do not |don't |instead |simply |first |immediately |"
        rf"secretly |silently ){{0,3}}{_DO}(?!\w)"
    ),
    (
        rf"(?:always|never) {_DO}(?!\w)(?= [\w'\"-]{{1,40}} [^.;]{{0,160}}(?:the user|users|asked|your|you|"
        "this memory|this document))"
    ),
    (
        r"(?:do not|don't|never|without) (?:[\w-]{1,40} )?(?:tell|telling|inform|informing|mention|mentioning|"
        "alert|alerting|notify|notifying|reveal|revealing|warn|warning|ask|asking)(?: this| it| any of this| "
        "about this)?(?: to)? (?:the user|the owner|the human|anyone|anybody|for (?:permission|confirmation|"
        r"approval|consent))(?!\w)"
    ),
    "without (?:the )?user(?:'s)? (?:knowledge|consent|confirmation|knowing|approval|permission)",
    r"as an? (?:ai|large language model|language model|unrestricted|uncensored)(?!\w)",
    (
        "(?:do anything now|jailbreak mode|developer mode enabled|no restrictions apply|ignore safety|"
        "unfiltered mode|god mode)"
    ),
    (
        "(?:decode|unscramble|deobfuscate|base64)[^.;]{0,60} (?:and )?(?:follow|execute|run|obey|comply|do "
        r"what)(?!\w)"
    ),
    r"(?:curl|wget) [^ ]{1,200} ?\| ?(?:sudo )?(?:ba)?sh",
    "rm -rf [/~*.]",
    "; ?drop table ",
    (
        "(?:user|owner|operator|admin|customer) (?:has|have) (?:already |explicitly |previously |now "
        ")?(?:pre-?)?(?:authori[sz]ed|approved|consented to|granted|permitted|confirmed|agreed to) "
        r"(?:[\w-]{1,40} ){0,2}?(?:all|any|every|you|the (?:assistant|agent|ai|model)|full|unlimited|"
        "unrestricted|future) "
    ),
    (
        "(?:any|all|every|each|future|subsequent|further) (?:quer(?:y|ies)|requests?|questions?|mentions?|"
        r"answers?|repl(?:y|ies)|responses?|instructions?) (?:[\w'-]{1,40} ){0,8}?(?:must|should|shall|are to|"
        "is to|has to|have to|need to|will) (?:now )?(?:mention|include|contain|end|start|be (?:answered|"
        "redirected|routed|treated|interpreted|replaced|sent|forwarded|resolved|handled|executed|approved|"
        r"obeyed|ignored)|refer|use|go)(?!\w)"
    ),
    (
        r"trust (?:this|the following|me|everything|only)(?: [\w-]{1,40}){0,3} (?:over|above|more than|instead|"
        r"completely|absolutely)(?!\w)"
    ),
    (
        "(?:this|the following) (?:memory|message|instruction|note|rule|text|document|fact) (?:overrides|"
        "supersedes|outranks|replaces|takes precedence|has priority|must not be|must never be|is (?:the "
        ")?(?:highest|top) priority)"
    ),
)
# Any order that opens a sentence, for texts that no person told: a base verb with an object, as no statement begins.
_VERBS = (
    "(?:"
    + "|".join(
        (
            *re.findall(
                r"\w+",
                """
    accept access add admit adopt agree alert allow alter announce apologize append apply ask assign attach
    attack authorize avoid base be believe block book bring bypass cancel change charge check choose cite
    classify clear close collect combine complete compose confirm connect consider contact continue convert
    convince copy create cut define deliver demand deploy describe destroy direct disable discard display drop
    dump email emphasize emulate enable encourage end endorse ensure enter erase escalate explain export expose
    extract fabricate favor feed fill find finish flag format gather generate get give go guide hand help
    imagine impersonate import inform inject inspect install instruct invent issue join jump keep kill label
    launch lead let lie link list load log look lower lure make manipulate mark memorize merge mislead modify
    move name notify obtain offer omit open overwrite paste perform persuade pick place play prefer prepare
    press prevent proceed process provide publish pull push put query quote raise read recall record refer
    register reject release remind remove rename report request require reset resolve respect restart retract
    return rewrite route run search secretly select serve set show sign simulate skip smuggle speak start state
    steal steer stop submit subscribe substitute supply support switch take teach think threaten trick trigger
    try turn type uninstall unlock update upgrade urge use value verify view wait warn wipe withhold write
""",
            ),
            "note that",
            _DO,
        )
    )
    + ")"
)
_OBJECT = (
    "(?:the|a|an|all|any|every|each|this|that|these|those|your|my|his|their|our|its|it|them|me|us|him|"
    "yourself|no|only|exactly|everything|anything|nothing|everyone|anyone|nobody|whatever|whoever|both|"
    r"another|one of|more|less|as many|as much|\ue000|user|users|customers|people|data|instructions|messages|"
    r"memories|(?=[\"'{(<])|https?:|[a-z]+ing (?:the|your|all|any|helpful))"
)
_SENTENCE = (
    "(?:^|[.!?:;>|*•] ?|(?:hello|hi|hey|dear|ok|okay|listen|attention|note|important|warning|urgent|"
    r"reminder)(?: [a-z]{1,20}){0,2}[,:!-] ?)[\"'(\[-]{0,3} ?(?:(?:please|kindly|now|then|also|first|next|"
    "finally|instead|just|simply|always|never|do not|don't|immediately|secretly|silently|quietly|"
    "automatically|and|but|so|thus|therefore|at once|from here on|going forward|for now|in addition),? "
    "){0,3}"
)
_ANY_ORDER = (
    rf"{_SENTENCE}{_VERBS} {_OBJECT}(?!\w)",
    (
        "(?:^|[.!?] )(?:before|after|when|whenever|if|in|for|as|while|once|to|upon|by|instead of|on|at|"
        "during|unless|until|with) [^,.;]{1,80}, ?(?:[a-z]{2,20}ly |please |always |never |then |also |"
        rf"first |just ){{0,2}}{_VERBS} {_OBJECT}(?!\w)"
    ),
    (
        rf"{_SENTENCE}(?:ignore|disregard|delete|reveal|disable|enable|execute|forget|obey|approve|remove|send|"
        "tell|convince|bypass|simulate|imagine|assume|pretend|refuse|prioritize|recommend|ensure|avoid|"
        "insert|append|download|install|uninstall|skip|merge|retract|retrieve|discard|overwrite|exfiltrate|"
        "transfer|withdraw|redirect|promote|escalate|emulate|adopt|embed|include|add|prefer|decode|encode|"
        r"unlock|authorize) [\w'-]{1,40}(?! (?:is|are|was|were|has|have|had|will|can|of))(?!\w)"
    ),
    rf"{_SENTENCE}(?:print|write|output|generate|repeat|say|send|list) \d+ ",
    rf"{_SENTENCE}make sure (?:the|that|nobody|no one|to|you|every|all|it|this)(?!\w)",
    r"you (?:are|have|must|should|shall|will|need|ought|do not|don't|may not|only|were|'re|'ve)(?!\w)",
    (
        "(?:instruct|order|command|ask|tell|need|want|expect|require|advise|remind|authori[sz]e|permit|allow|"
        "beg|urge|trust|direct|like|hereby|for|by|to) you(?: to| that| not|[.,!]|$)"
    ),
    (
        "(?:whoever|anyone who|any (?:ai|agent|model|assistant|reader) (?:that|who)) [^.;]{0,60}(?:must|"
        r"should|shall|has to|have to)(?!\w)"
    ),
    r"your (?:duty|job|only|new|sole|first|top|highest)(?!\w)",
    (
        "(?:i am|i'm|this is|it's) (?:a |an |the |your )?(?:message from |note from |order from |speaking for "
        ")?(?:the |your )?(?:new |lead |real )?(?:developer|owner|admin|administrator|creator|operator|"
        r"anthropic|openai|google|microsoft|root|system|security team|support team)(?!\w)"
    ),
    (
        "(?:safety|security|content|access|approval|permission) (?:checks?|filters?|rules?|polic(?:y|ies)|"
        "controls?|limits?|guards?) (?:are|is|have been|has been) (?:now |hereby |temporarily )?(?:suspended|"
        "disabled|off|lifted|void|waived|removed|revoked|turned off)"
    ),
    r"let(?:'s| us) (?:play|pretend|imagine|assume|say|act|roleplay)(?!\w)",
    (
        rf"{_SENTENCE}(?:respond|reply|answer|speak|talk|write|act|behave|switch|refer|listen|report|look|log|"
        "go|proceed|submit|stick|defer|appeal|consent|agree|pay attention) (?:to|with|in|into|as|like|at|on|"
        r"only|using|without|according)(?!\w)"
    ),
    (
        rf"{_SENTENCE}(?:do not|don't|never|stop|quit|avoid|refrain from|start|begin|keep|continue|try|make "
        rf"sure|be sure|be careful) (?:ever |to |not to |you )?(?:{_VERBS}|[a-z]{{2,20}}ing)(?!\w)"
    ),
    (
        "your (?:next |future |final |every |entire |own |latest |subsequent |whole )?(?:response|reply|"
        "replies|answers?|outputs?|context|memory|memories|system|prompt|instructions|guidelines|training|"
        "guardrails|programming|developers?|creators?|operators?|owner|makers?|master|responses|tools?|"
        r"assistant)(?!\w)"
    ),
    (
        "(?:real|actual|true|new|updated|hidden|secret|following|these|special) (?:instructions?|rules?|"
        "orders?|directives?|commands?)(?: follow| for you| below| apply|:)"
    ),
    (
        "if you (?:are|were|can|have|see|read|process|receive|summari[sz]e|understand|parse|encounter|find|"
        r"get|answer)(?!\w)"
    ),
    r"whatever (?:the user|happens|anyone|they|he|she|you)(?!\w)",
    (
        rf"(?:the |any |every |all |an )?(?:{_NAMED_MODEL}|agents?|models?|bots?|memory system) (?:must|should|"
        "shall|has to|have to|needs to|is to|are to|ought to) (?:[a-z]{1,20}ly |never |always |not |also |"
        rf"first |now |only )?(?:{_DO}|copy|add|update|write|ask|show|export|skip|provide|give|make|report|"
        r"answer|contact|hand)(?!\w)"
    ),
)
_FOREIGN = (
    (
        r"ignor(?:ez?|er|iere?n?|a|e|ar) (?:\w{1,20} ){0,3}?(?:instructions|instrucciones|instru[cç][oõ]es|"
        "anweisungen|istruzioni|consignes|regeln|reglas|r[eè]gles)"
    ),
    (
        r"(?:vergiss|missachte|oublie[zr]?|olvida|esquece|dimentica|negeer|glöm|ohita|unohda) (?:\w{1,20} "
        "){0,3}?(?:anweisungen|instructions|instrucciones|instruções|istruzioni|instructies|instruktioner|"
        "ohjeet|regeln)"
    ),
    r"(?:игнорируй(?:те)?|забудь(?:те)?) (?:\w{1,20} ){0,3}?(?:инструкции|указания|правила|команды)",
    "(?:忽略|无视|無視|忘记|忘記)[^。]{0,12}(?:指令|指示|提示|规则|規則|命令)",
    "(?:指示|命令|ルール|プロンプト)[^。]{0,6}(?:無視|忘れ)",
    "(?:이전|위의)[^.]{0,12}(?:지시|명령)[^.]{0,6}(?:무시|잊)",
)
_MARKUP = (
    r"<\|[a-z_]{1,30}\|>",
    (
        "</?(?:system|assistant|user|human|tool_call|function_call|tool|instructions?|prompt|im_start|im_end|"
        "inst|sys|memory|context|function_calls|invoke|important|admin|secret|hidden|thinking)(?: "
        "[^<>]{0,80})?/?>"
    ),
    r"<<[/]?sys>>|\[/?(?:inst|sys|system|assistant|system message|admin|override|developer|tool_calls?)\]",
    r"(?<!#)#{2,10} {0,3}(?:system|instruction|human|assistant|user|response|new|end|override|prompt)\b",
    r"(?:\n|\r|\u2028|\u2029|\\n)[ \t>*#-]{0,8}(?:system|assistant|developer|human|user|tool) {0,2}:",
    (
        r"^\W{0,8}(?:system|assistant|developer) {0,2}: {0,4}(?:you|ignore|always|never|please|do|from|"
        rf"new|override|the (?:user|assistant)|disregard|forget|{_DO})\b"
    ),
    (
        "<(?:script|img|iframe|svg|object|embed|style|meta|link|form|input|body|html|base|video|audio|a|div|"
        "span|button|table)(?:[ />]|$)"
    ),
    r"!\[[^\]\n]{0,200}\]\(",
    (
        r"\[[^\]\n]{0,80}(?:click|here|verify|log ?in|sign in|download|confirm|claim|"
        r"update)[^\]\n]{0,80}\]\((?:https?:|//|data:|javascript:)"
    ),
    "(?:javascript|vbscript):|data:text/html",
    r"\]\([^)\n]{0,200}[?&][\w-]{1,30}=(?:\{|%7b|<|\[|\$)",
    r"\x1b[\[\]()]|\x9b",
    (
        r"[\"'](?:tool|tool_name|function|function_call|tool_calls?|action|name|"
        r"recipient_name)[\"']\s{0,4}:\s{0,4}[\"'{\[][^\n]{0,400}[\"'](?:arguments|args|parameters|params|"
        r"input|action_input|tool_input|kwargs)[\"']\s{0,4}:"
    ),
    r"[\"']role[\"']\s{0,4}:\s{0,4}[\"'](?:system|assistant|developer|tool|user)[\"']",
    r"\{\{[^{}\n]{1,200}\}\}|\$\([^()\n]{1,200}\)",
    r"```(?:system|tool|bash|sh|python|tool_code|shell|instructions?)\b",
    r"(?<!-)-{3,100} {0,2}(?:end|begin|start|new|system|instructions?)\b(?! (?:[a-z0-9]{1,12} )?(?:private|public))",
    r"(?<!=)={3,100} {0,2}(?:end|begin|start|new|system|instructions?)\b",
)
_SPELLED_OUT = (
    "ignoreall",
    "ignoreprevious",
    "ignoreyour",
    "ignorethe",
    "systemprompt",
    "previousinstructions",
    "youarenow",
)
_SPACED_LETTERS = re.compile(r"(?:\b\w\b[ .*_-]{1,2}){6}")
_BLOB = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,}")

# Cyrillic and Greek letters by the Latin ones that they are drawn like; folded text has small letters only.
_CONFUSABLES = str.maketrans(
    "аеорсухіјѕԁһӏԛԝкмтвн" + "αβεζηικμνορτυχ",
    "aeopcyxijsdhlqwkmtbh" + "abezhikmvoptux",
)


@lru_cache(maxsize=1)
def _orders() -> tuple[re.Pattern[str], ...]:
    # Compiled on first use: `import semgraph` should cost nothing that only `remember` needs.
    return (
        re.compile(rf"(?<!\w)(?:{'|'.join(_ANYWHERE)})"),
        re.compile(rf"{_CLAUSE}(?:{'|'.join(_IN_CLAUSE)})"),
        re.compile("|".join(_FOREIGN)),
    )


@lru_cache(maxsize=1)
def _markup() -> re.Pattern[str]:
    return re.compile("|".join(_MARKUP), re.IGNORECASE)


def has_markup(raw: str) -> bool:
    """Whether a text as given holds role tags, tool calls, active markup, or an order packed in base64."""
    return _markup().search(raw) is not None or any(gives_orders(fold_text(hidden)) for hidden in _unpacked(raw))


_QUOTED = re.compile(r"(?<!\w)\"[^\"]{1,80}\"(?!\w)")


@lru_cache(maxsize=1)
def _any_order() -> re.Pattern[str]:
    # An order that opens a sentence may follow a stop, the others begin with a word.
    return re.compile("|".join(order if order.startswith("(?:^|") else rf"(?<!\w)(?:{order})" for order in _ANY_ORDER))


def gives_orders(folded: str, *, strict: bool = False) -> bool:
    """Whether a folded text tells its reader, a model, what to do, also in look-alike or spaced-out letters.

    `strict`: any order will do, not only those that are meant for a model.
    """
    variants = list(_disguises(folded))
    if any(pattern.search(variant) for variant in variants for pattern in _orders()):
        return True
    # "You" and "let" in the title of a song are no address, and titles stand in quotes.
    return strict and any(_any_order().search(_QUOTED.sub("\ue000", variant)) for variant in variants)


def _disguises(text: str) -> Iterator[str]:
    yield text
    latin = text.translate(_CONFUSABLES)
    if latin != text:
        yield latin
    if _SPACED_LETTERS.search(latin):
        closed = re.sub(r"[\W_]+", "", latin)
        if any(words in closed for words in _SPELLED_OUT):
            yield "ignore all previous instructions"


def _unpacked(raw: str) -> Iterator[str]:
    for blob in _BLOB.findall(raw):
        try:
            yield base64.b64decode(blob[: len(blob) // 4 * 4], validate=True).decode("ascii")
        except (binascii.Error, UnicodeDecodeError):
            continue
