"""HTML as text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.engines.text.html_text import looks_like_html, text_of_html
from tests.each import each


@each(
    ("markup", "expected"),
    [
        ("<p>Hello <b>wor</b>ld</p><p>again</p>", "Hello world again"),
        ("one<br>two<br/>three", "one two three"),
        ("<ul><li>a</li><li>b</li></ul>", "a b"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a b"),
        ("a<span>b</span><!-- c --><em>d</em>", "abd"),
        (" \n a\t\u00a0 b\u2003c ", "a b c"),
        ("AT&amp;T &lt;b&gt; &copy; &#8212; &#x2014; &nbsp;x &hellip;", "AT&T <b> © — — x …"),
        ("&amp;amp; &unknown; & &; &#; &#x;", "&amp; &unknown; & &; &#; &#x;"),
        ("&#0;&#xD800;&#x110000;&#99999999999;", "\ufffd" * 4),
        ("&#128;", "€"),
        ("a<script>if (a < b) alert('</p>')</script>b", "a b"),
        ("a<SCRIPT type='x'>x</ScRiPt >b", "a b"),
        ("a<style>p { color: red }</style>b", "a b"),
        ("a<script/>b", "a b"),
        ("a<script>never closed", "a"),
        ("a<iframe src=x>old browser</iframe><noscript>no</noscript><svg><text>x</text></svg>b", "a b"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("a <- b <3 c", "a <- b <3 c"),
        ('<img alt="a>b" src=x>after', "after"),
        ("<a title='x>y'>z</a>", "z"),
        ('<a title="never closed>text</a> more', "text more"),
        ("text <a href=", "text"),
        ("text <!-- never closed", "text"),
        ("text <!doctype html> more <?php x ?> end", "text more end"),
        ("a</>b</ c>d", "abd"),
        ("<![CDATA[<p>twice wrapped</p>]]>", "twice wrapped"),
        ("<xhtml:p>a</xhtml:p><xhtml:script>x</xhtml:script>b", "a b"),
        ("", ""),
        ("<p> </p>", ""),
    ],
)
def test_text(markup: str, expected: str) -> None:
    """Tags, comments and scripts go, references are decoded once, white space becomes one space."""
    assert text_of_html(markup, limit=500) == expected


def test_a_long_text_is_cut() -> None:
    """At so many code points, and then there is an ellipsis."""
    assert text_of_html("x" * 500, limit=500) == "x" * 500
    assert text_of_html("<p>" + "x" * 501, limit=500) == "x" * 500 + "…"
    assert text_of_html("\U0001f600" * 501, limit=500) == "\U0001f600" * 500 + "…"
    assert text_of_html("<i>ab</i> " * 5000, limit=10) == "ab ab ab a…"
    assert text_of_html("abc   def" + " x" * 900, limit=4) == "abc…"


@each(
    ("text", "expected"),
    [
        ("plain", False),
        ("1 < 2 & 3", False),
        ("the <div> tag", False),
        ("List<String> and Map<K, V>", False),
        ("use </foo> to close", False),
        ("&unknown; &", False),
        ("AT&amp;T", True),
        ("caf&eacute;", True),
        ("it&#8217;s", True),
        ("<b>so</b>", True),
        ("line<br>line", True),
        ('<a href="x">link</a>', True),
    ],
)
def test_what_looks_like_html(text: str, expected: bool) -> None:
    """A title may be plain text about HTML."""
    assert looks_like_html(text) is expected


@given(st.text(alphabet="<>&;\"'/!-ab#x \n]", max_size=200))
def test_any_markup_has_a_text(markup: str) -> None:
    """In one line, within its limit."""
    text = text_of_html(markup, limit=50)
    assert len(text) <= 51
    assert text == " ".join(text.split())
    looks_like_html(markup)


@pytest.mark.parametrize(
    "unit",
    [
        *("<", "<a", "<a ", '<a "', "<a '>", "<!--", "<!", "</", "<script>", "<script></script>", "<style/>", "&"),
        *("&#", "&#9", "&a", "&amp;", "<b>", "</b>", "]]>", "<![CDATA[", " ", " a", "<p>a", "\u00a0", '"', "<b x='"),
        "<br ",
    ],
)
def test_time_is_linear(unit: str) -> None:
    """Eight times the markup takes at most about eight times as long."""

    def seconds(size: int) -> float:
        markup = unit * (size // len(unit))
        start = time.process_time()
        text_of_html(markup, limit=500)
        looks_like_html(markup[: size // 4])
        return time.process_time() - start

    small = min(seconds(50_000) for _ in range(3))
    assert min(seconds(400_000) for _ in range(2)) < 24 * small + 0.02
