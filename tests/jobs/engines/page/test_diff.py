"""Hunks say what changed, exactly."""

import random
import re
import time
from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from jobs.engines.page.compare import compared
from jobs.engines.page.diff import Hunk, changes
from jobs.engines.page.text import lines_of, normalised
from tests.each import each

LINE = st.text(alphabet="ab \t-+@\u00e9\r", max_size=4)
TEXT = st.lists(LINE, max_size=12).map("\n".join).map(normalised)
ANY = st.text(max_size=60)


def applied(hunks: Iterable[Hunk], old: str) -> str:
    """Apply hunks to the text that they were made from."""
    lines = lines_of(old)
    result: list[str] = []
    at = 0
    for item in hunks:
        start = item.old_start - bool(item.old_lines)
        assert start >= at
        assert lines[start : start + item.old_lines] == item.removed
        result += lines[at:start]
        result += item.added
        at = start + item.old_lines
    return "\n".join(result + lines[at:])


def patched(diff: str, old: str) -> str:
    """Apply a unified diff, implemented from its specification."""
    source, result, at = lines_of(old), list[str](), 0
    for line in diff.split("\n")[2:-1]:
        if found := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line):
            start = int(found[1]) - (found[2] != "0")
            result += source[at:start]
            at = start
            assert len(result) == int(found[3]) - (found[4] != "0")
        elif line[0] == "+":
            result.append(line[1:])
        else:
            assert source[at] == line[1:]
            at += 1
            if line[0] == " ":
                result.append(line[1:])
    return "\n".join(result + source[at:])


@given(TEXT, TEXT, st.sampled_from([0, 1, 9, 10**6]))
def test_applying_the_hunks_to_the_old_text_gives_the_new_one(old: str, new: str, max_cells: int) -> None:
    """To the character, whatever is compared in blocks; and so does the unified diff."""
    diff = compared(old, new, max_cells=max_cells)
    assert applied(diff.hunks, old) == new
    assert patched(diff.unified, old) == new if diff.unified else old == new
    assert (old == new) == (not diff.hunks) == (diff.similarity == 1)
    assert diff.added_lines - diff.removed_lines == len(lines_of(new)) - len(lines_of(old))


@given(ANY, ANY)
def test_any_two_texts_are_compared_exactly(one: str, other: str) -> None:
    """The hunks of two normalised texts are exact."""
    old, new = normalised(one), normalised(other)
    assert applied(compared(old, new).hunks, old) == new


@given(TEXT, TEXT)
def test_two_changes_never_touch(old: str, new: str) -> None:
    """Each hunk is as large as it can be."""
    found = changes(lines_of(old), lines_of(new))
    for one, other in pairwise(found):
        assert one.old_end < other.old_start
        assert one.new_end < other.new_start


def test_lines_are_counted_as_in_a_unified_diff() -> None:
    """From 1; where there is none, the line before it."""
    diff = compared("a\nb\nc", "a\nc\nd")
    assert [(h.old_start, h.old_lines, h.new_start, h.new_lines) for h in diff.hunks] == [(2, 1, 1, 0), (3, 0, 3, 1)]
    assert diff.unified == "--- previous\n+++ current\n@@ -1,3 +1,3 @@\n a\n-b\n c\n+d\n"


def test_distant_changes_have_separate_sections() -> None:
    """Each section has three lines of context."""
    old = [str(number) for number in range(30)]
    new = [*old[:5], "x", *old[6:20], *old[21:]]
    diff = compared("\n".join(old), "\n".join(new))
    assert re.findall("@@.*@@", diff.unified) == ["@@ -3,7 +3,7 @@", "@@ -18,7 +18,6 @@"]


def test_words_are_shown_where_lines_were_replaced() -> None:
    """Blanks between changed words belong to the change."""
    (hunk,) = compared("The price is 10 US dollars.", "The price is 12 euros now.").hunks
    assert hunk.words == "The price is [-10 US dollars-]{+12 euros now+}."
    assert compared("a", "a\nb").hunks[0].words is None


def test_similarity_is_the_share_of_what_is_common() -> None:
    """By words, so that one long line with one changed word is nearly the same."""
    line = "word " * 200
    assert compared(line + "one", line + "two").similarity > 0.99
    assert compared("abc", "xyz").similarity < 0.3
    assert compared("", "").similarity == 1
    assert compared("", "abc").similarity == 0


@each("separator", ["\n", "\n\n"])
@each("alphabet", ["a", "ab", "abcdefgh"])
def test_repeated_lines_take_a_moment(alphabet: str, separator: str) -> None:
    """difflib takes over 30 s for such texts."""
    chosen = random.Random(7)
    old = separator.join(chosen.choice(alphabet) for _ in range(60_000))
    new = separator.join(chosen.choice(alphabet) for _ in range(25_000))
    begin = time.process_time()
    assert applied(compared(old, new).hunks, old) == new
    assert time.process_time() - begin < 10


def test_what_is_too_much_for_lines_is_compared_in_blocks() -> None:
    """So one changed paragraph among many stays one hunk."""
    old = [f"{number}\nline\n" for number in range(50)]
    new = [*old[:20], "another\nline\n", *old[21:30], "more\n", *old[30:]]
    texts = normalised("\n".join(old)), normalised("\n".join(new))
    diff = compared(*texts, max_cells=60 * 60)
    assert [hunk.added for hunk in diff.hunks] == [["another"], ["", "more"]]


@given(ANY)
def test_normalising_twice_is_normalising_once(text: str) -> None:
    """So a caller may send back what it was given."""
    assert normalised(normalised(text)) == normalised(text)
