"""Recognises sentences about the state of a name. They count only without a record, and never inside boilerplate.

Boilerplate is prose: a paragraph of many lines, or a line that goes on after the matched words. So a sentence counts if it
is the whole line, and the line either names the domain or is in a short paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from jobs.whois.lines import Token

SHORT_PARAGRAPH = 3
"""Lines."""
LONGEST_SENTENCE = 200
_ASKED = "§"

# Whole lines that say "nobody has registered it". They count in any paragraph, because they have no other meaning.
_FREE = frozenset(
    (
        *(
            "no match",
            "no matches",
            "no match found",
            "no matches found",
            "not found",
            "domain not found",
            "no data found",
        ),
        *(
            "no entries found",
            "no records found",
            "no record found",
            "nothing found",
            "no object found",
            "object not found",
        ),
        *(
            "no such domain",
            "no matching record",
            "no matching records",
            "no matching record found",
            "no found",
            "free",
        ),
        *("no matching objects found", "domain name not found", "object does not exist", "record not found"),
        *("domain unknown", "not registered", "domain not registered", "domain is not registered", "no such object"),
        *("this domain is available", "domain is available", "status available", "status free", "no domain found"),
        *("domain status available", "domain status free", "domain status no object found", "no whois data found"),
        *("this domain is not registered", "domain name is not registered", "this domain name is available"),
        *("the domain has not been registered", "domain has not been registered", "no existe", "no se encontro"),
        *(
            "this domain name has not been registered",
            "the queried object does not exist",
            "no whois information found",
        ),
        *(
            "the queried object does not exist domain not found",
            "domain name has not been registered",
            "not find matchingrecord",
        ),
        *(
            "no se encontro el objeto object not found",
            "domaine non trouvé",
            "domaine inconnu",
            "dominio no encontrado",
        ),
        *("el dominio no se encuentra registrado en nic argentina", "상기 도메인이름은 등록되어 있지 않습니다"),
        *("위의 도메인이름은 등록되어 있지 않습니다", "該当するデータがありません", "未找到匹配的记录", "域名未注册"),
        *("we do not have an entry in our database matching your query", "domain name not known in dot tk database"),
        *(
            "no data was found to match the request criteria",
            "error no entries found",
            "error domain is not registered",
        ),
        *("object not found no such domain", "invalid query or domain name not known in dot tk domain registry"),
    )
)

_SUBJECT = (
    r"(?:sorry |but |error |fail |we |the |this |that |your |such |above |requested |queried )*"
    r"(?:domain name |domain |object |record |name |query )*"
)
_REST = (
    r"(?: (?:in|to|for|by|with|at|yet|on|from|within|domain|object|registry|the|here|was|registration|matching|that)\b"
    r".{0,100})"
)
_SENTENCES = (
    # (is) not found, is free, has not been registered ...
    rf"{_SUBJECT}(?:§ )?(?:is |was |has |does |could )?(?:currently |still )?"
    rf"(?:not (?:been |be |yet )?(?:found|registered|exists?|known|delegated)|does not exist|do not exist|unknown"
    rf"|free|available|unregistered|no existe|non trouvé|nicht registriert|no encontrado){_REST}?",
    # no match for x, no entries found for the selected source, no matching record ...
    rf"(?:error |sorry )?(?:no|not) (?:such )?(?:match|matches|matching|entries|entry)"
    rf"(?: (?:found|records?|objects?|domains?))*"
    rf"(?: for)?(?: domain)?(?: name)?(?: § ?.{{0,80}}|{_REST})?",
    rf"(?:error |sorry )?no (?:\w+ ){{0,3}}(?:records?|objects?|data|information|domain|domains|results?|entries)"
    rf"(?: was| were| is)? (?:found|available|exists?|match|matches|matching)(?: § ?.{{0,80}}|{_REST})?",
    rf"nothing found(?: §.{{0,40}}|{_REST})?",
    r"§ (?:no match|no existe|not found|free|available|no data|no entries).{0,40}",
    r"not found (?:domain )?§",
    r"no information available about domain name § in .{0,60}",
    r"available §",
)
_FREE_SENTENCE = re.compile("|".join(f"(?:{sentence})" for sentence in _SENTENCES))

_HELD = re.compile(
    r".{0,60}?(?:§|\b(?:domain|name|names|label|string|object|this|it|registration|status)\b).{0,60}?\b(?:"
    r"reserved(?! (?:rights?|by law))|premium|blocked|prohibited|restricted|unassignable|excluded|not allowed|forbidden|"
    r"(?:can ?not|can't|may not|can not|not) be registered|not available|unavailable|not permitted|contravenes|"
    r"release process|banned|dpml)\b.{0,120}"
    r"|(?:registry )?(?:reserved|premium|blocked|restricted|prohibited)(?: domain| name| domain name| string)?"
    r"|(?:reserved|premium|blocked|restricted) (?:domain|domain name|name|by|for|word|string|in) .{0,120}"
    r"|release process.{0,80}|contravenes .{0,100}"
)
_NOT_HELD = ("rights reserved", "reserves the right", "reserved rights", "query", "queries", "use of", "access")

_THROTTLED = re.compile(
    r"(?:quota|limits?|rate|threshold|number of (?:allowed )?(?:queries|requests|connections|lookups))\b.{0,60}?"
    r"\b(?:exceed|exceeded|exceeds|reached|hit|over)\b"
    r"|(?:exceeded|exceeds|reached|over|hit)\b.{0,50}?"
    r"\b(?:quota|limits?|rate|threshold|maximum|allowed|number of|permitted|queries)\b"
    r"|too many (?:\w+ ){0,3}(?:requests|queries|connections|lookups|attempts|hits|sessions)"
    r"|(?:excessive|too frequent) (?:quer|request|access|use|usage|look)"
    r"|(?:try|retry|query|come back|repeat)\b.{0,20}?\b(?:again|back) (?:later|in|after|tomorrow)\b"
    r"|slow(?:ing)? down|throttl|rate limit|ratelimit|rate-limit"
    r"|(?:black|block|deny|grey)[- ]?list"
    r"|(?:access|permission|connection|request|query|lookup|client|you|ip|address|host)\b.{0,40}?"
    r"\b(?:denied|refused|blocked|banned|rejected|not permitted|temporarily|suspended|not authori[sz]ed)\b"
    r"|(?:server|service|system) (?:is )?(?:too |very |currently )?(?:busy|overloaded)"
    r"|please wait\b|fair use policy|querying too|requests of this client"
)


class Speech:
    """The sentences of a text.

    Args:
        names: the requested domain in lower case: in A-labels, and in Unicode when that differs.
    """

    def __init__(self, tokens: Sequence[Token], names: Sequence[str]) -> None:
        self._sentences = list(_sentences(tokens, names))
        self._lines = len(tokens)

    @property
    def is_free(self) -> bool:
        """Whether a line says that nobody has registered the name."""
        for sentence, is_short in self._sentences:
            if sentence in _FREE or sentence.replace(f" {_ASKED}", "") in _FREE:
                return True
            if (is_short or _ASKED in sentence) and _FREE_SENTENCE.fullmatch(sentence):
                return True
        return False

    @property
    def is_held(self) -> bool:
        """Whether a line says that nobody has registered the name and nobody can."""
        return any(
            _HELD.fullmatch(sentence) and not any(words in sentence for words in _NOT_HELD)
            for sentence, is_short in self._sentences
            if is_short or _ASKED in sentence
        )

    @property
    def is_throttled(self) -> bool:
        """Whether a line says that we ask too often, or may not ask."""
        is_terse = self._lines <= 12
        return any(_THROTTLED.search(sentence) for sentence, is_short in self._sentences if is_short or is_terse)


def _sentences(tokens: Sequence[Token], names: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Each line, folded and with § for the domain's name, and whether its paragraph is short."""
    paragraph: list[Token] = []
    for token in tokens:
        if token.is_after_gap:
            yield from _folded(paragraph, names)
            paragraph = []
        paragraph.append(token)
    yield from _folded(paragraph, names)


def _folded(paragraph: Sequence[Token], names: Sequence[str]) -> Iterator[tuple[str, bool]]:
    is_short = sum(not token.text.startswith(">>>") for token in paragraph) <= SHORT_PARAGRAPH
    for token in paragraph:
        if len(token.text) > LONGEST_SENTENCE:
            continue
        text = token.text.lower()
        for name in names:
            text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", f" {_ASKED} ", text)
        words = re.sub(rf"[^\w{_ASKED}'-]+", " ", text.replace("_", " ")).replace(" - ", " ")
        yield re.sub(r"^(?:error )?\d{1,4} ", "error ", " ".join(words.split()).strip("'- ")), is_short
