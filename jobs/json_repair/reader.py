"""The state while one container is read: the stack of open containers, and what every kind of container needs."""

import re
from typing import Any

from jobs.json_repair.brackets import doubled, swapped
from jobs.json_repair.frames import Frame, ListFrame, ObjectFrame
from jobs.json_repair.result import MAX_DEPTH, NotRepairable, RepairKind
from jobs.json_repair.source import FENCE_LABEL, Source
from jobs.json_repair.strings import Strings
from jobs.json_repair.verdicts import Context
from jobs.json_repair.words import Words

CLOSERS = "}])"

_PREFIX = re.compile(r"(?:[bBuUrRfF]|[bB][rR]|[rR][bB])(?=[\"'][^\s,:}\]])")
_KEYWORD_ARGUMENT = re.compile(r"\s*+[A-Za-z_]\w*+\s*+=(?!=)")


class Reader:
    """The reader's state.

    Attributes:
        i: the position in the text.
        stack: the open containers, the innermost last.
        deepest: the largest number of open containers so far.
        value: the last container that was read, when the stack is empty again.
        solid: whether this value is certainly data, and not a bracket in prose.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.strings = Strings(source)
        self.words = Words(source, self.strings)
        self.stack: list[Frame] = []
        self.deepest = 0
        self.i = 0
        self.value: Any = None
        self.solid = False
        self._open: dict[str, int] = {"}": 0, "]": 0, ")": 0, "": 0}

    def at_end(self) -> bool:
        """Whether the text or the enclosing code block ends here."""
        return self.i >= self.source.size or self.source.fence(self.i) is not None

    def push(self, frame: Frame) -> None:
        """Open a container.

        Raises:
            NotRepairable: it would be deeper than MAX_DEPTH.
        """
        if len(self.stack) >= MAX_DEPTH:
            raise NotRepairable("too_complex")
        self.stack.append(frame)
        self.deepest = max(self.deepest, len(self.stack))
        self._open[frame.closer] += 1

    def open(self) -> bool:
        """Open the container that starts here, if there is one."""
        c = self.source.at(self.i)
        if self.stack and c in ("{", "(") and self.words.opaque(self.i):
            return False
        if c == "{":
            self._enter(ObjectFrame("}"), self.i + 1)
        elif c == "[":
            self._enter(ListFrame("]"), self.i + 1)
        elif c == "(":
            self.source.note(RepairKind.PARENTHESES, self.i)
            self._enter(ListFrame(")"), self.i + 1)
        else:
            arguments = self.words.call(self.i)
            if arguments is None:
                return False
            self.source.note(RepairKind.FUNCTION_CALL, self.i)
            named = _KEYWORD_ARGUMENT.match(self.source.text, arguments)
            self._enter(ObjectFrame(")") if named else ListFrame(")", called=True), arguments)
        return True

    def pop(self) -> Frame:
        """Remove the innermost container and discard it."""
        frame = self.stack.pop()
        self._open[frame.closer] -= 1
        return frame

    def close(self, *, closed: bool) -> None:
        """Complete the innermost container. `closed` says whether it had its bracket."""
        frame = self.pop()
        value, solid = frame.value(closed=closed), frame.solid
        if self.stack:
            self.stack[-1].add(value, solid=True)
        else:
            self.value, self.solid = value, solid

    def close_unclosed(self) -> None:
        """Complete the innermost container, which ends here without its bracket."""
        closer = self.stack[-1].closer
        if closer:
            after = closer if closer in "}]" else None
            self.source.note(RepairKind.MISSING_BRACKET, min(self.i, self.source.content_end), after)
        self.close(closed=False)

    def is_closing(self, c: str) -> bool:
        """Whether a character can only be a closing bracket here. A `)` is one when a `(` is open."""
        return c in ("}", "]") or (c == ")" and self._open[")"] > 0)

    def closing_bracket(self, c: str) -> None:
        """Read a closing bracket: the innermost container's own, another's, or an extra one."""
        frame, source = self.stack[-1], self.source
        if c == frame.closer or (c == "}" and not frame.closer):
            if not frame.closer:
                source.note(RepairKind.MISSING_BRACKET, self.i, "{")
            self.i += 1
            self.close(closed=True)
        elif self._open[c]:
            closers = [open_frame.closer for open_frame in self.stack[-20:]]
            if c != ")" and (doubled(source, self.i, closers) or (c == "}" and self._one_too_many())):
                source.note(RepairKind.REDUNDANT_BRACKET, self.i)
                self.i += 1
            elif c != ")" and swapped(source, self.i, closers):
                source.note(RepairKind.MISMATCHED_BRACKET, self.i)
                self.close(closed=True)
                self.close(closed=True)
                self.i = source.gap(self.i + 1) + 1
            elif c == "]" and self._meant_brace():
                source.note(RepairKind.MISMATCHED_BRACKET, self.i)
                self.i += 1
                self.close(closed=True)
            else:
                self.close_unclosed()
        elif not frame.closer:
            self.close_unclosed()
        elif c != ")" and (self._ends_after(self.i + 1) or (c == "]" and source.balanced)):
            source.note(RepairKind.MISMATCHED_BRACKET, self.i)
            self.i += 1
            self.close(closed=True)
        else:
            source.note(RepairKind.REDUNDANT_BRACKET, self.i)
            self.i += 1

    def separators(self, frame: Frame) -> int:
        """Skip commas, semicolons, `...` and blanks. Returns the number of commas."""
        source = self.source
        commas = 0
        last = 0
        while True:
            self.i = i = source.space(self.i)
            c = source.at(i)
            if c == "," or c == ";":
                if c == ";":
                    source.note(RepairKind.WRONG_SEPARATOR, i)
                commas += 1
                last = i
                self.i += 1
                continue
            end = source.ellipsis(i)
            if end is None:
                break
            source.note(RepairKind.ELLIPSIS, i)
            self.i = end
        if commas and frame.empty:
            source.note(RepairKind.LEADING_COMMA, last)
        elif commas and (c == "" or c in CLOSERS):
            source.note(RepairKind.TRAILING_COMMA, last)
        elif commas > 1:
            source.note(RepairKind.REDUNDANT_COMMA, last)
        return commas

    def scalar(self, context: Context) -> tuple[Any, bool]:
        """Read a value that is not a container. Returns also whether it is more than an unquoted word. Always moves on."""
        source, start = self.source, self.i
        prefix = _PREFIX.match(source.text, start)
        if prefix:
            source.note(RepairKind.PYTHON_LITERAL, start)
            start = prefix.end()
        if self.strings.opens(start):
            text, self.i = self.strings.read(start, context)
            return text, True
        value, self.i, literal = self.words.value(start, context)
        if self.i == start:
            source.note(RepairKind.STRAY_TEXT, start)
            self.i += 1
        return value, literal

    def skip_opening_fence(self) -> bool:
        """Skip a code fence directly after an opening bracket."""
        end = self.source.fence(self.i)
        if end is None:
            return False
        self.source.note(RepairKind.CODE_FENCE, self.i)
        label = FENCE_LABEL.match(self.source.text, end)
        self.i = label.end() if label else end
        return True

    def _enter(self, frame: Frame, i: int) -> None:
        self.push(frame)
        self.i = i

    def _meant_brace(self) -> bool:
        """Whether the `]` here was meant as `}`: the enclosing array continues with `, {`, and no other reading is possible."""
        stack, source = self.stack, self.source
        if len(stack) < 2 or stack[-1].closer != "}" or stack[-2].closer != "]":
            return False
        if len(stack) > 2 and isinstance(stack[-3], ListFrame):
            return False
        return self._object_follows(source.gap(self.i + 1))

    def _one_too_many(self) -> bool:
        """Whether the `}` here closes an element of an array a second time, `[{"a": 1}}, {"a": 2}]`, in no outer array."""
        frame = self.stack[-1]
        if not isinstance(frame, ListFrame) or not frame.items or not isinstance(frame.items[-1], dict):
            return False
        further = [i for i in range(max(0, len(self.stack) - 20), len(self.stack)) if self.stack[i].closer == "}"]
        if not further or (further[-1] and isinstance(self.stack[further[-1] - 1], ListFrame)):
            return False
        return self._object_follows(self.source.gap(self.i + 1))

    def _object_follows(self, comma: int) -> bool:
        source = self.source
        return source.at(comma) == "," and source.at(source.gap(comma + 1)) == "{"

    def _ends_after(self, i: int) -> bool:
        c = self.source.at(self.source.gap(i))
        return c == "" or c in "}]);"
