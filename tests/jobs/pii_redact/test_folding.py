"""The folded copy of a text, and the way back."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from jobs.pii_redact.folding import BARRIER, barred, fold
from jobs.pii_redact.spans import KINDS, PLACEHOLDERS
from tests.each import each


@each(
    ("text", "folded"),
    [
        ("plain ASCII 123, a-b (c)\n\t", "plain ASCII 123, a-b (c)\n\t"),
        ("１２３", "123"),
        ("٠١٢۳४๕", "012345"),
        ("𝟏𝟚𝟥𝟰𝟻", "12345"),
        ("ａＢｃ＠．＋（）－／", "aBc@.+()-/"),
        ("𝐚𝓫𝔠", "abc"),
        ("﹫", "@"),
        ("1\u00a02\u20073\u202f4\u30005", "1 2 3 4 5"),
        ("1\u20102\u20113\u20124\u20135\u20146\u20157\u22128\uff0d9", "1-2-3-4-5-6-7-8-9"),
        ("03ー1234ー5678", "03-1234-5678"),
        ("1·2․3∙4⋅5", "1.2.3.4.5"),
        ("1⁄2∕3／4", "1/2/3/4"),
        ("1\u200b2\u200c3\u200d4\u20605\ufeff6", "123456"),
        ("1\u00ad2\u034f3\u180e4\u061c5", "12345"),
        ("\u202a1\u202c\u20662\u2069\u200e3\u200f", "123"),
        ("1️⃣2️⃣", "12"),
        ("1\ufe0f", "1"),
        ("1\U000e00312", "12"),
        # not folded: other letters, signs that are not the same, digits that are not decimal
        ("é ß ñ Я 中 あ", "é ß ñ Я 中 あ"),
        ("①²½Ⅷ", "①²½Ⅷ"),
        ("。、「」…", "。、「」…"),
        ("1\n2\t3\u20284", "1\n2\t3\u20284"),
        ("\ufdd0\ufdd5", "\ufffd\ufffd"),
    ],
)
def test_same_characters_are_one(text: str, folded: str) -> None:
    """Ways to write a character become one, what has no width goes, the rest stays."""
    assert fold(text).text == folded


def test_every_decimal_digit_is_folded() -> None:
    """Of every script in Unicode."""
    digits = [char for char in map(chr, range(0x110000)) if unicodedata.category(char) == "Nd"]
    assert len(digits) > 600
    assert fold("".join(digits)).text == "".join(str(unicodedata.digit(char)) for char in digits)


@each("kind", KINDS)
def test_placeholders_are_barriers(kind: str) -> None:
    """One character that no text contains replaces the placeholder."""
    folded = fold(f"a{PLACEHOLDERS[kind]}b")  # type: ignore[index]
    assert folded.text == f"a{BARRIER}b"
    assert folded.span(1, 2) == (1, len(PLACEHOLDERS[kind]) + 1)  # type: ignore[index]


def test_what_has_no_width_belongs_to_what_it_is_in() -> None:
    """Inside a span it is a part of it, at its edges it is not."""
    folded = fold("\u200bx\u200b1\u200b2\u200by\u200b")
    assert folded.text == "x12y"
    assert folded.span(1, 3) == (3, 6)


def test_barriers() -> None:
    """A barrier replaces a span and has its whole range."""
    layer = barred(fold("ab\u200bcdef"), [(1, 3), (4, 5)])
    assert layer.text == f"a{BARRIER}d{BARRIER}f"
    assert [layer.span(at, at + 1) for at in range(5)] == [(0, 1), (1, 4), (4, 5), (5, 6), (6, 7)]


@given(st.text(max_size=50), st.text(max_size=50))
def test_parts_fold_like_the_whole(left: str, right: str) -> None:
    """Every character is folded for itself; only a placeholder is more than one."""
    whole = fold(left + right)
    if "[" not in left:
        assert whole.text == fold(left).text + fold(right).text
    assert fold(whole.text).text == whole.text or BARRIER in whole.text
    spans = [whole.span(at, at + 1) for at in range(len(whole.text))]
    assert spans == sorted(set(spans))
    assert all(start < end for start, end in spans)
