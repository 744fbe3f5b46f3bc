"""Recognises sentences about the state of a name. They count only without a record, and never inside boilerplate.

Boilerplate is prose: a paragraph of many lines, or a line that continues after the matched words. So a sentence counts if it
is the whole line, and the line either names the domain or is in a short paragraph. no_match.py has the sentences that say
that nobody has registered a name.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from jobs.whois.lines import Token
from jobs.whois.no_match import ASKED, is_no_match
from jobs.whois.registries import private_suffix

SHORT_PARAGRAPH = 3
"""Lines."""
LONGEST_SENTENCE = 200
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

_REFUSED = re.compile(
    r"(?:quota|limits?|rate|threshold|number of (?:allowed )?(?:queries|requests|connections|lookups))\b.{0,60}?"
    r"\b(?:exceed|exceeded|exceeds|reached|hit|over)\b"
    r"|(?:exceeded|exceeds|reached|over|hit)\b.{0,50}?"
    r"\b(?:quota|limits?|rate|threshold|maximum|allowed|number of|permitted|queries)\b"
    r"|too many (?:\w+ ){0,3}(?:requests|queries|connections|lookups|attempts|hits|sessions)"
    r"|(?:excessive|too frequent) (?:quer|request|access|use|usage|look)"
    r"|(?:try|retry|query|come back|repeat)\b.{0,20}?\b(?:again|back) (?:later|in|after|tomorrow)\b"
    r"|slow(?:ing)? down|(?:been|being|are|was|were|is|request) throttled|rate limited you"
    r"|(?:been |is |are |was |ip |address |client )(?:now )?(?:black|block|deny|grey)[- ]?listed"
    r"|(?:access|permission|connection|request|query|lookup|client|you|ip|address|host)\b.{0,40}?"
    r"\b(?:denied|refused|blocked|banned|rejected|not permitted|temporarily|suspended|not authori[sz]ed)\b"
    r"|(?:server|service|system) (?:is )?(?:too |very |currently )?(?:busy|overloaded)"
    r"|please wait\b|querying too|requests of this client|not (?:allowed|permitted) to (?:connect|query|use)"
)
"""What a server says that refuses this question."""
_HAPPENED = re.compile(
    r"\b(?:has|have) (?:now |already |currently |temporarily |been )*"
    r"(?:exceeded|reached|blocked|banned|denied|refused|rejected|suspended|throttled|(?:black|block|deny|grey)[- ]?listed)\b"
)
"""What is no rule, whatever the rest of the sentence says."""
_TERSE = re.compile(
    r"\b(?:denied|forbidden|banned|refused|rejected|throttl\w*|quota|(?:black|block|deny|grey)[- ]?list\w*"
    r"|rate[- ]?limit\w*|exceed\w*|overload\w*|too (?:many|fast|often)|fair use|not authori[sz]ed|unauthori[sz]ed"
    r"|wait|try (?:again|later)|slow down|busy)\b|^(?:error )?(?:403|429|503)$"
)
"""Words that are a refusal in a text of one or two lines. In a longer one they may be a rule for everybody."""
TERSE_LINES = 2


_CONDITION = re.compile(
    r"\b(?:if|may|might|will|would|should|shall|must|subject to|in case|whenever|when|prevent|avoid|note|agree|reserves?"
    r"|terms|policy|purposes?|to query|intended|(?:that|who|which|anyone|clients|users) (?:exceed|abuse|send|query))\b"
)
"""Words of a rule about queries, and not of a refusal."""
_NO_ANSWER = re.compile(
    r"\b(?:invalid|unsupported|not supported|unrecogni[sz]ed|malformed|syntax error|bad request"
    r"|unknown (?:tld|command|query|error)"
    r"|internal (?:server )?error|time ?d? ?out|timeout|unable to|could ?n[o']t (?:connect|be processed|process|complete)"
    r"|(?:service|server|system|database|data|whois|information)\b.{0,30}"
    r"\b(?:unavailable|not available|down|offline|maintenance)"
    r"|under maintenance|try again|no whois server|not (?:served|handled|managed|operated) (?:by|here)|backend|sql)\b"
)
"""A server that could not answer. A no-match line beside it is about something else."""
_ENDING = re.compile(
    r"\b(?:redemption|pending ?(?:delete|deletion|restore|release)|grace period|quarantine|quarantined|to be released"
    r"|about to be (?:deleted|released)|recently (?:deleted|expired)"
    r"|previous registration|expired on|cool(?:ing)?[- ]?off|auction)\b"
)
"""A name that had an owner until lately, and that nobody can register yet."""


_SENTENCE_END = re.compile(r"(?<=[.!?;]) +")


class _Sentence(NamedTuple):
    """A line, folded, with § for the domain's name.

    Attributes:
        parts: the sentences in it.
        opening: the lines before it that end no sentence.
        is_short: its paragraph is short.
    """

    text: str
    parts: tuple[str, ...]
    opening: str
    is_short: bool


class Speech:
    """The sentences of a text.

    Args:
        names: the requested domain in lower case: in A-labels, and in Unicode when that differs. Empty when it does not matter.
    """

    def __init__(self, tokens: Sequence[Token], names: Sequence[str]) -> None:
        self._tokens, self._names = tokens, names
        self._top = "" if not names or private_suffix(names[0]) else names[0].rpartition(".")[2]

    @cached_property
    def _sentences(self) -> list[_Sentence]:
        return list(_sentences(self._tokens, self._names))

    @property
    def is_free(self) -> bool:
        """Whether a line is the registry's statement that nobody has registered the name."""
        return any(
            is_no_match(one.text, self._top)
            for one in self._sentences
            if one.is_short or ASKED in one.text or is_no_match(one.text, "")
        )

    @property
    def is_ending(self) -> bool:
        """Whether a line says that the name had an owner until lately, and is not free yet."""
        return any(_ENDING.search(one.text) for one in self._short_lines())

    @property
    def is_unclear(self) -> bool:
        """Whether a line says that the server cannot answer."""
        return any(_NO_ANSWER.search(one.text) and not _CONDITION.search(one.text) for one in self._short_lines())

    @property
    def is_held(self) -> bool:
        """Whether a line says that nobody has registered the name and nobody can."""
        return any(
            _HELD.fullmatch(one.text) and not any(words in one.text for words in _NOT_HELD)
            for one in self._sentences
            if one.is_short or ASKED in one.text
        )

    @property
    def is_refusal(self) -> bool:
        """Whether a line refuses this question: we ask too often, or may not ask.

        A rule for everybody ("access is rate limited", "if you exceed the limit, you are blocked") is none, unless the text
        has nothing else to say.
        """
        is_terse = len(self._tokens) <= 12
        said = [one for one in self._sentences if (one.is_short or is_terse) and _REFUSED.search(one.text)]
        if any(_is_fact(one.opening, part) for one in said for part in one.parts):
            return True
        if len(self._tokens) > TERSE_LINES or self.is_free or self.is_held:
            return False
        return bool(said) or any(_TERSE.search(one.text) for one in self._sentences)

    def _short_lines(self) -> Iterator[_Sentence]:
        return (one for one in self._sentences if one.is_short and not is_no_match(one.text, self._top))


def _sentences(tokens: Sequence[Token], names: Sequence[str]) -> Iterator[_Sentence]:
    paragraph: list[Token] = []
    for token in tokens:
        if token.is_after_gap:
            yield from _folded(paragraph, names)
            paragraph = []
        paragraph.append(token)
    yield from _folded(paragraph, names)


def _folded(paragraph: Sequence[Token], names: Sequence[str]) -> Iterator[_Sentence]:
    is_short = sum(not token.text.startswith(">>>") for token in paragraph) <= SHORT_PARAGRAPH
    opening = ""
    for token in paragraph:
        if len(token.text) > LONGEST_SENTENCE:
            continue
        text = token.text.lower()
        for name in names:
            text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", f" {ASKED} ", text)
        parts = tuple(_fold(part) for part in _SENTENCE_END.split(text))
        yield _Sentence(_fold(text), parts, opening, is_short)
        opening = "" if text.endswith((".", "!", "?", ":")) else f"{opening}{parts[-1]} "[-LONGEST_SENTENCE:]


def _fold(text: str) -> str:
    words = re.sub(rf"[^\w{ASKED}'-]+", " ", text.replace("_", " ")).replace(" - ", " ")
    return re.sub(r"^(?:error )?\d{1,4} ", "error ", " ".join(words.split()).strip("'- "))


def _is_fact(opening: str, sentence: str) -> bool:
    """Whether a sentence refuses, and is no rule."""
    if happened := _HAPPENED.search(sentence):
        return not _CONDITION.search(opening + sentence[: happened.start()])
    return _REFUSED.search(sentence) is not None and not _CONDITION.search(opening + sentence)
