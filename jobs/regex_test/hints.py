"""Recognises patterns that were written for another engine, or with a literal's slashes, and says what to write instead.

Most of them are valid in JavaScript, too, and mean something else: `/a+/g` matches slashes, `\\A` is the letter A.
"""

import re

_LITERAL = re.compile(r"/(?P<pattern>.+)/(?P<flags>[a-zA-Z]{0,8})", re.DOTALL)
_PYTHON_LITERAL = re.compile(r"[rR][bB]?(?P<quote>[\"']).*(?P=quote)", re.DOTALL)
_CALL = re.compile(r"(?:re\.\w+|new RegExp|RegExp|[Rr]egexp?\.\w+|preg_\w+|std::regex)\s*\(.*", re.DOTALL)
_REPLACEMENT = re.compile(r"s/(?P<pattern>[^/]+)/[^/]*/[a-z]{0,4}")
_TOKEN = re.compile(r"\\[pP]\{|\\.|\[\[?:?|\(\?P?.?|[*+?}]\+|.", re.DOTALL)

_GROUPS = {
    "(?P<": "(?P<name>...) is Python's notation: in JavaScript write (?<name>...).",
    "(?P=": "(?P=name) is Python's notation: in JavaScript write \\k<name>.",
    "(?P>": "(?P>name) is PCRE's recursion, which JavaScript does not have.",
    "(?#": "(?#...) is a comment of Python and PCRE, which JavaScript does not have: leave it out.",
    "(?>": "(?>...) is an atomic group, which JavaScript does not have: (?=(...))\\1 does the same.",
    "(?(": "(?(...)...) is a condition of Python and PCRE, which JavaScript does not have.",
    "(?|": "(?|...) is PCRE's branch reset, which JavaScript does not have.",
    "(?R": "(?R) is PCRE's recursion, which JavaScript does not have.",
}
_ESCAPES = {
    "\\A": "\\A is the start of the text in Python and PCRE: in JavaScript write ^ without the flag m.",
    "\\Z": "\\Z is the end of the text in Python and PCRE: in JavaScript write $ without the flag m.",
    "\\z": "\\z is the end of the text in PCRE: in JavaScript write $ without the flag m.",
    "\\h": "\\h is horizontal space in PCRE: in JavaScript write [ \\t].",
    "\\Q": "\\Q...\\E quotes in PCRE and Java: in JavaScript escape each character.",
    "\\K": "\\K is PCRE's: in JavaScript write a look-behind, (?<=...).",
    "\\G": "\\G is PCRE's: in JavaScript use the flag y.",
}
_AT_MOST = re.compile(r"(?<![\\[])\{,([0-9]{1,9})\}")
_DOUBLED = re.compile(r"(?<!\\)\\{2}([dDwWsSbB])")
_INLINE = re.compile(r"\(\?[a-zA-Z]{1,8}\)")


def hint(pattern: str, flags: str, *, matched: bool | None) -> str | None:
    """One sentence about what the pattern was probably meant as. None when nothing is odd.

    Args:
        matched: whether it matched. A pattern of a path may begin and end with a slash, and match.
    """
    literal = _LITERAL.fullmatch(pattern)
    if literal and not matched:
        meant = f"flags `{literal['flags']}`" if literal["flags"] else "flags apart"
        return f"The pattern has a literal's slashes, which count as text here: send `{literal['pattern'][:100]}`, {meant}."
    if _PYTHON_LITERAL.fullmatch(pattern) and not matched:
        return "The pattern has the quotes of a Python string, which count as text here: send what is between them."
    if _CALL.fullmatch(pattern) and not matched:
        return "The pattern is a call of a program, which counts as text here: send what is between its quotes."
    if (replacement := _REPLACEMENT.fullmatch(pattern)) and not matched:
        return f"s/.../.../ is a replacement of sed and Perl, and text here: send `{replacement['pattern'][:100]}`."
    if (found := _of_syntax(pattern, flags)) or matched:
        return found
    if at_most := _AT_MOST.search(pattern):
        return f"{at_most[0]} is text in JavaScript, and at most {at_most[1]} in Python: write {{0,{at_most[1]}}}."
    if doubled := _DOUBLED.search(pattern):
        letter = doubled[1]
        return f"The two backslashes before {letter} match a backslash and that letter: send one, which JSON writes as two."
    return None


def _of_syntax(pattern: str, flags: str) -> str | None:
    in_class = False
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if text in ("\\p{", "\\P{") and "u" not in flags:
            return f"{text[:2]}{{...}} means a Unicode property only with the flag u."
        if text in ("\\x", "\\u") and "u" not in flags and pattern.startswith("{", token.end()):
            return f"{text}{{...}} is no character here: in JavaScript write \\u{{...}} with the flag u."
        if text.startswith("\\"):
            if not in_class and text in _ESCAPES:
                return _ESCAPES[text]
        elif in_class:
            in_class = text != "]"
        elif text == "[[:":
            return "[[:alpha:]] and the like are POSIX classes, which JavaScript does not have: write [a-zA-Z] or so."
        elif text[0] == "[":
            in_class = True
        elif (found := _of_token(pattern, token.start(), text)) is not None:
            return found
    return None


def _of_token(pattern: str, at: int, text: str) -> str | None:
    for start, sentence in _GROUPS.items():
        if pattern.startswith(start, at):
            return sentence
    if text.startswith("(?") and (inline := _INLINE.match(pattern, at)):
        if "x" in inline[0]:
            return f"{inline[0]} allows spaces and comments in Python and PCRE. JavaScript has no such flag: leave them out."
        return f"{inline[0]} sets flags in Python and PCRE: in JavaScript send them as `flags`, or write (?i:...) for a part."
    if len(text) == 2 and text[1] == "+" and text[0] in "*+?}":
        return f"{text} is a possessive quantifier, which JavaScript does not have: (?=(...))\\1 does the same."
    return None
