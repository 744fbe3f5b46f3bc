"""Lines and headings of a page that are no text: controls, notes of who and when, and what leads to other pages."""

import re

from jobs.engines.page.ignoring import MONTHS
from jobs.engines.page.text import normalised
from jobs.engines.text.linear import compiled

SHORT = 80
"""Code points of the longest line that is looked at."""

_UNIT = "(?:sec(?:ond)?|min(?:ute)?|hour|day|week|month|year)s? ago"
_CONTROL = compiled(
    "(?i)(?:"
    + "|".join(
        (
            r"[-*•·|▲▼»«\s]",
            r"\d{1,3}(?:,\d{3})*k?\b",
            r"(?:like|comment|reply|replie|view|point|vote|share|answer|rating|review|upvote)s?\b",
            r"\d(?:\.\d)? out of \d(?: stars)?",
            r"rated\b[^!?]{0,30}",
            r"(?:quote|report|save|hide|flag|edit|delete|copy|print|award|follow|downvote|up|down|next|prev|previous|parent)\b",
            r"add to (?:cart|basket|bag|list|wish ?list)",
            r"(?:buy now|quick add|add|install|choose|in stock|tax included|quantity|wish list)\b",
            r"(?:read|show|load|view|see|learn|find out) (?:more|all|details)",
            r"(?:log ?in|sign in|sign up|register|subscribe|menu|search|close|ask question|post reply)\b",
            r"(?:facebook|instagram|twitter|pinterest)\b",
            r"(?:older|newer) posts",
            r"\[[–+-]\]",
            r"(?:posted|asked|answered|submitted|last updated|by)\b[^.!?]{0,50}",
            rf"(?:about |over )?(?:an?|\d+) ?(?:(?:s|m|h|d|mo|y)(?: ago)?|{_UNIT})\b",
            r"\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}(?:,? \d{1,2}:\d{2}(?: ?[ap]m)?)?\b",
            r"(?:posts|joined|messages|location): .{0,30}",
            r"(?:senior|junior|new|active|registered) member",
            r"(?:copyright|©|\(c\)) .{0,60}",
            rf"\d{{1,2}}\.? (?:{MONTHS})\b\.?,?(?: \d{{4}})?",
            rf"(?:{MONTHS})\b\.? \d{{1,2}}(?:,? \d{{4}})?\b",
        )
    )
    + ")+"
)
_ELSEWHERE = compiled(
    "(?i)(?:"
    + "|".join(
        (
            "you (?:may|might) also (?:like|enjoy)",
            r"(?:related|recommended)\b.{0,30}",
            "similar (?:items|products|posts)",
            r"more (?:lists|from|stories|articles|like this)\b.{0,30}",
            r"(?:customers|people|others) (?:who|also)\b.{0,60}",
            "suggested (?:topics|posts)",
            "most (?:read|popular|viewed)",
            "hot network questions",
            "who is online",
            "recent (?:comments|posts)",
            "complete the (?:set|look)",
            "(?:often|frequently) bought together",
            "recently viewed",
            r"(?:share this|follow us)\b.{0,20}",
            "help improve this page",
            "was this (?:page )?helpful.{0,10}",
            r"(?:never miss|sign up for)\b.{0,40}",
            "archives|newsletter|tags|categories|trending(?: now)?|(?:read|up) next|explore more",
        )
    )
    + r")\W*"
)
_REPLY_TITLE = re.compile(r"#{1,6} Re: ", re.IGNORECASE)
_LIST = re.compile(r"\s*(?:[-*]|\d+\.) ")
_BLANK_LINES = re.compile(r"\n{3,}")


def leads_elsewhere(heading: str) -> bool:
    """Whether what follows a heading leads to other pages."""
    text = " ".join(heading.split())
    return 0 < len(text) <= SHORT and _ELSEWHERE.fullmatch(text) is not None


def without_controls(markdown: str) -> str:
    """The lines that are more than controls and notes of who and when. What is code stays."""
    lines: list[str] = []
    is_code = False
    for line in markdown.split("\n"):
        is_code ^= line.startswith("```")
        text = _LIST.sub("", line, count=1).strip()
        if is_code or not 0 < len(text) <= SHORT or not _is_control(text):
            lines.append(line)
    return normalised(_BLANK_LINES.sub("\n\n", "\n".join(lines)))


def _is_control(line: str) -> bool:
    if line[0] in "#|`":
        return _REPLY_TITLE.match(line) is not None
    return _CONTROL.fullmatch(line) is not None
