"""Caption documents, as they are and as they should not be."""

import contextlib
import time
from collections.abc import Callable
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.youtube.transcript import MAX_SEGMENTS, Segment, calculate, decode, plain, segments
from shared.outcome import UpstreamFailed
from tests.each import each


def document(*texts: str) -> bytes:
    lines = "".join(f'<text start="{number}" dur="1.5">{text}</text>' for number, text in enumerate(texts))
    return f'<?xml version="1.0" encoding="utf-8" ?><transcript>{lines}</transcript>'.encode()


def refusal(raw: bytes) -> UpstreamFailed:
    with pytest.raises(UpstreamFailed) as caught:
        segments(raw)
    return caught.value


def test_a_document() -> None:
    """Order is kept, a missing duration is none, and what overlaps overlaps."""
    raw = (
        '\ufeff<?xml version="1.0" encoding="utf-8" ?><transcript>'
        '<text start="5.12" dur="2">b &amp;amp; c</text><text start="0">a\nsecond line</text>'
        '<text start=".5" dur="1.">é😀</text></transcript>'
    ).encode()
    assert segments(raw) == [
        Segment(5.12, 2.0, "b & c"),
        Segment(0.0, 0.0, "a\nsecond line"),
        Segment(0.5, 1.0, "é😀"),
    ]


@each(
    ("written", "text"),
    [
        ("it&amp;#39;s", "it's"),
        ("&amp;quot;so&amp;quot;", '"so"'),
        ("&amp;lt;i&amp;gt;x&amp;lt;/i&amp;gt;", "x"),
        ("&lt;i&gt;x&lt;/i&gt;", "x"),
        ("<i>x</i> y <b>z</b>", "x y z"),
        ('&lt;font color="#E5E5E5"&gt;x&lt;/font&gt;', "x"),
        ("&lt;c.colorE5E5E5&gt;x&lt;/c&gt; &lt;00:00:01.500&gt;y", "x y"),
        ("&lt;!-- no --&gt;x", "x"),
        ("1 &amp;lt; 2 &amp;gt; 0", "1 < 2 > 0"),
        ("I &amp;lt;3 you -&amp;gt; me", "I <3 you -> me"),
        ("<![CDATA[a <b>c</b> &amp; d]]>", "a c & d"),
        ("&#x1F600;&amp;nbsp;&amp;copy;", "😀\xa0©"),
        ("&amp;#xD800;&amp;#0;", "\ufffd\ufffd"),
        ("&amp;#1;x", "x"),
        ("  x ", "  x "),
    ],
)
def test_text_is_escaped_twice_and_has_tags(written: str, text: str) -> None:
    """The second escaping and the tags are gone; comparisons and hearts are not."""
    assert [segment.text for segment in segments(document(written))] == [text]


@each("empty", ["", " ", "\n", "&amp;nbsp;", "&lt;i&gt;&lt;/i&gt;", "<i/>", "\u200b", "&amp;#8203;\ufeff"])
def test_a_segment_without_text_is_left_out(empty: str) -> None:
    """Also when it has no time."""
    assert [segment.text for segment in segments(document("a", empty, "b"))] == ["a", "b"]
    assert segments(f"<transcript><text>{empty}</text></transcript>".encode()) == []


@pytest.mark.parametrize(
    "raw", [b"<transcript/>", b"<transcript></transcript>", b"<transcript>\n<text start='1'/></transcript>"]
)
def test_a_document_without_text(raw: bytes) -> None:
    assert segments(raw) == []


@each(
    "time_text",
    [
        "",
        "-1",
        "NaN",
        "nan",
        "inf",
        "Infinity",
        "1e5",
        "1e400",
        "0x1",
        "1_000",
        "1,5",
        "one",
        ".",
        "\u0661",
        " 1",
        "9" * 400,
    ],
)
@each("attribute", ["start", "dur"])
def test_times_that_are_none(time_text: str, attribute: str) -> None:
    """Seconds are digits with a point at most."""
    times = {"start": "1", "dur": "1", attribute: time_text}
    raw = f'<transcript><text start="{times["start"]}" dur="{times["dur"]}">a</text></transcript>'
    assert refusal(raw.encode()).reason == "bad_content"


BOMB = (
    '<!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + ']><transcript><text start="1">&j;</text></transcript>'
)
UNREADABLE = {
    "empty": "",
    "not XML": "too many requests",
    "JSON": '{"events": []}',
    "cut off": '<transcript><text start="1">a</te',
    "two roots": "<a/><b/>",
    "HTML": "<html><head><title>Sorry</title></head><body>x</body></html>",
    "no time": "<transcript><text>a</text></transcript>",
    "another format": '<timedtext format="3"><body><p t="1360" d="1680">a</p></body></timedtext>',
    "bomb": BOMB,
    "external entity": (
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><transcript><text start="1">&x;</text></transcript>'
    ),
    "parameter entity": '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1/"> %x;]><transcript/>',
    "external type": '<!DOCTYPE a SYSTEM "http://127.0.0.1/a.dtd"><transcript/>',
    "unknown entity": '<transcript><text start="1">&x;</text></transcript>',
    "digits": '<transcript><text start="1">&amp;#' + "9" * 5000 + ";</text></transcript>",
    "depth": "<a>" * 100_000,
    "NUL": '<transcript><text start="1">a\0</text></transcript>',
}


@each("text", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_caption_document(text: str) -> None:
    """A clear failure, whatever it is, and no document type is looked at."""
    failure = refusal(text.encode())
    assert failure.reason == "bad_content"
    assert failure.detail.startswith("The captions cannot be read: ")


def test_bytes_that_are_no_utf8() -> None:
    """One bad byte does not cost the rest, and a declared encoding is that of the bytes only if it is UTF-8."""
    assert segments(b'<transcript><text start="1">a\xffb</text></transcript>') == [Segment(1.0, 0.0, "a\ufffdb")]
    raw = '<?xml version="1.0" encoding="utf-16"?><transcript><text start="1">é</text></transcript>'.encode()
    assert [segment.text for segment in segments(raw)] == ["é"]
    refusal('<transcript><text start="1">a</text></transcript>'.encode("utf-16"))


def test_too_many_segments() -> None:
    """The answer has a bound."""
    most = document(*["a"] * MAX_SEGMENTS)
    assert len(segments(most)) == MAX_SEGMENTS
    assert refusal(most.replace(b"</transcript>", b"<text start='1'>a</text></transcript>")).reason == "too_large"


WORST: dict[str, Callable[[int], str]] = {
    "opening": lambda size: f'<transcript><text start="1"><![CDATA[{"<" * size}]]></text></transcript>',
    "tags": lambda size: f'<transcript><text start="1"><![CDATA[{"<a" * (size // 2)}]]></text></transcript>',
    "references": lambda size: f'<transcript><text start="1">{("&amp;" + "a" * 32) * (size // 37)}</text></transcript>',
    "blanks": lambda size: f'<transcript><text start="1">{" " * size}a</text></transcript>',
    "elements": lambda size: f"<transcript>{'<a/>' * (size // 4)}</transcript>",
    "nested": lambda size: f'<transcript><text start="1">{"<a/>" * (size // 4)}</text></transcript>',
    "attributes": lambda size: (
        "<transcript><text " + " ".join(f"a{n}=''" for n in range(size // 9)) + ">a</text></transcript>"
    ),
}


@each("worst", WORST.values(), ids=WORST)
def test_the_time_is_linear(worst: Callable[[int], str]) -> None:
    """Eight times the document takes less than thirty times the time: what is quadratic takes sixty-four times as long."""

    def took_s(size: int) -> float:
        raw = worst(size).encode()
        times = []
        for _ in range(3):
            began = time.process_time()
            with contextlib.suppress(UpstreamFailed):
                segments(raw)
            times.append(time.process_time() - began)
        return min(times)

    assert took_s(400_000) < 30 * took_s(50_000) + 0.01


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1))
def test_what_is_escaped_twice_is_found_again(text: str) -> None:
    """For every text without tags."""
    if "<" not in text and text.strip() and "\ufffe" not in text and "\uffff" not in text:
        found = [segment.text for segment in segments(document(escape(escape(text))))]
        assert found in ([text], [])


@given(st.text())
def test_plain_never_grows_and_never_fails(text: str) -> None:
    """Whatever a caption is."""
    assert len(plain(text)) <= 2 * len(text)


def test_the_calculation_is_bytes_to_bytes() -> None:
    """As a child process is asked."""
    raw = document("a", "b")
    assert decode(calculate(raw)) == segments(raw)
