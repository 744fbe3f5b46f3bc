"""Overlapping findings."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from jobs.pii_redact.spans import KINDS, Span, merge
from tests.each import each

SPANS = st.builds(
    lambda start, length, kind: Span(start, start + length, kind),
    st.integers(0, 30),
    st.integers(1, 10),
    st.sampled_from(KINDS),
)


@each(
    ("spans", "merged"),
    [
        ([], []),
        ([Span(0, 2, "ssn")], [Span(0, 2, "ssn")]),
        ([Span(5, 6, "ssn"), Span(0, 2, "email")], [Span(0, 2, "email"), Span(5, 6, "ssn")]),
        # side by side is not overlapping
        ([Span(0, 2, "ssn"), Span(2, 4, "email")], [Span(0, 2, "ssn"), Span(2, 4, "email")]),
        # the longest gives the kind, whichever comes first
        ([Span(0, 9, "phone"), Span(2, 5, "email")], [Span(0, 9, "phone")]),
        ([Span(0, 4, "email"), Span(2, 9, "phone")], [Span(0, 9, "phone")]),
        ([Span(0, 7, "phone"), Span(5, 9, "email")], [Span(0, 9, "phone")]),
        # then precedence
        ([Span(0, 4, "phone"), Span(2, 6, "email")], [Span(0, 6, "email")]),
        ([Span(0, 4, "ssn"), Span(0, 4, "credit_card")], [Span(0, 4, "credit_card")]),
        ([Span(0, 4, "hex_secret"), Span(0, 4, "ipv4")], [Span(0, 4, "ipv4")]),
        # a chain is one
        (
            [Span(0, 3, "ssn"), Span(2, 8, "phone"), Span(7, 9, "email"), Span(9, 10, "ssn")],
            [Span(0, 9, "phone"), Span(9, 10, "ssn")],
        ),
    ],
)
def test_merge(spans: list[Span], merged: list[Span]) -> None:
    """Overlapping spans are joined, in order, with the kind of the longest."""
    assert merge(spans) == merged
    assert merge(reversed(spans)) == merged


@given(st.lists(SPANS, max_size=12))
def test_merged_spans_cover_the_same_and_do_not_overlap(spans: list[Span]) -> None:
    """Nothing is lost or won, every kind is that of a longest span within, and merging again changes nothing."""
    merged = merge(spans)
    assert {i for span in merged for i in range(*span[:2])} == {i for span in spans for i in range(*span[:2])}
    assert all(left.end <= right.start for left, right in pairwise(merged))
    assert merge(merged) == merged
    for span in merged:
        within = [item for item in spans if span.start <= item.start and item.end <= span.end]
        longest = max(item.end - item.start for item in within)
        assert span.kind in {item.kind for item in within if item.end - item.start == longest}
