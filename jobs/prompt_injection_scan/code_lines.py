"""Tells whether a place of a text is program code, where an invisible character changes a name and never its spelling."""

from jobs.engines.text.linear import Pattern
from jobs.prompt_injection_scan.invisible import STRIPPED
from jobs.prompt_injection_scan.mixed_names import LOOKALIKES

_AROUND = 200
"""Characters of a long line that are read on each side."""
_WORD = 40
_GONE = {**dict.fromkeys(map(ord, STRIPPED), ""), **LOOKALIKES}
_CODE = Pattern(
    r"[;{}]\s*(?://.*)?$|\s(?:=|==|!=|[+*-]=|:=|=>|->|&&|\|\|)\s|[{}]\s*(?://|/\*|#)|\w\.\w+\(|[a-z_]\w+\([\w\s,.=*'\"]*\)\s*(?::|->|;)"
    r"|^(?:\t| {2,})(?:return|def|class|import|const|let|var|if|for|while|raise|throw|yield|await)\s"
    r"|^\s*(?:def|class|fn|func|function)\s+\w+\s*[(:{]|^\s*(?:import|from)\s+[a-z_.]+(?:\s+import\b.*|\s*;?)$|^\s*#include\b"
)
_NAME = Pattern(r"_[a-zA-Z0-9]|[a-z][A-Z]|::|->|\w\(")


class CodeLines:
    """The lines of a text, each of which is judged once, and a long one once for each piece of it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[int, bool] = {}

    def holds(self, at: int) -> bool:
        """Whether the character at this place is in an identifier, or in a line of code."""
        text = self._text
        start = text.rfind("\n", max(0, at - _AROUND), at) + 1 or max(0, at - _AROUND)
        line = start if start and text[start - 1] == "\n" else -(at // _AROUND)
        if line not in self._known:
            end = text.find("\n", at, at + _AROUND)
            said = text[start : at + _AROUND if end < 0 else end]
            self._known[line] = _CODE.found_in(said.translate(_GONE))
        return self._known[line] or self._in_name(start, at)

    def holds_near(self, at: int) -> bool:
        """Whether the line is code, or the next one: a comment of prose is part of a program."""
        following = self._text.find("\n", at, at + _AROUND)
        return self.holds(at) or (0 <= following < len(self._text) - 1 and self.holds(following + 1))

    def _in_name(self, start: int, at: int) -> bool:
        """Whether the word is a name with signs of one, or is between backticks."""
        text = self._text
        before = text[max(start, at - _WORD) : at].rpartition(" ")[2]
        after = text[at : at + _WORD].partition(" ")[0].partition("\n")[0]
        return ("`" in before and "`" in after) or _NAME.found_in((before + after).translate(_GONE))
