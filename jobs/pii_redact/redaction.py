"""Folds, searches, merges and replaces, until a search finds nothing."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from jobs.engines.text.layer import Layer
from jobs.pii_redact import cards, emails, exempt, ipv4, phones, secrets, ssn
from jobs.pii_redact import own as own_patterns
from jobs.pii_redact.digits import groups
from jobs.pii_redact.folding import barred, fold
from jobs.pii_redact.labels import Labels
from jobs.pii_redact.own import OwnPattern
from jobs.pii_redact.spans import PLACEHOLDERS, PiiKind, Span, merge


class Redaction(NamedTuple):
    """The redacted text.

    `text`: with placeholders. `spans`: the replaced ranges, in code points of the original, in order, not overlapping.
    """

    text: str
    spans: list[Span]


def redact(text: str, kinds: Collection[PiiKind], own: Sequence[OwnPattern] = ()) -> Redaction:
    """Replace all values of some kinds, and what a caller's own patterns match.

    Each finding becomes a barrier, and the rest is searched again until nothing more is found. So a text with placeholders is
    searched in exactly its final state, and redacting it again changes nothing. The second search is nearly always the last.
    Own patterns are searched only the first time, because one may find something as often as it is searched.
    """
    layer = fold(text, (pattern.placeholder for pattern in own))
    spans: list[Span] = []
    found = _search(layer, kinds, own)
    while found:
        # Characters without width belong to a span inside, but not at its edges.
        spans += (Span(*layer.span(span.start, span.end), span.kind) for span in found)
        layer = barred(layer, [(span.start, span.end) for span in found])
        found = _search(layer, kinds)
    spans.sort()
    return Redaction(_replaced(text, spans, {pattern.name: pattern.placeholder for pattern in own}), spans)


def _search(layer: Layer, kinds: Collection[PiiKind], own: Sequence[OwnPattern] = ()) -> list[Span]:
    """The spans of these kinds in a folded text. Values of all other kinds, requested or not, are never searched for phones.

    In `postgres://app:hunter2@db.example.com` there is a password, and no e-mail address where both are wanted.
    """
    text, labels = layer.text, Labels(layer.text)
    is_phone_wanted = "phone" in kinds
    has_numbers = is_phone_wanted or "credit_card" in kinds or "ssn" in kinds
    drawings = exempt.paths(text) if has_numbers or "ipv4" in kinds else []
    accounts = exempt.ibans(text) if has_numbers or "iban" in kinds else []
    addresses = emails.find(text) if is_phone_wanted or "email" in kinds else []
    found = [*own_patterns.find(text, own), *addresses, *(Span(start, end, "iban") for start, end in accounts)]
    if is_phone_wanted or "ipv4" in kinds:
        found += ipv4.find(text, labels, drawings)
    if is_phone_wanted or "hex_secret" in kinds:
        found += secrets.find_hex(text)
    if is_phone_wanted or "secret" in kinds:
        found += secrets.find(text)
    if has_numbers:
        digits = groups(text, (*drawings, *accounts, *exempt.find(text)))
        found += cards.find(text, digits, labels)
        found += ssn.find(text, digits, labels)
        if is_phone_wanted:
            taken = bytearray(len(text))
            for span in found:
                taken[span.start : span.end] = b"\1" * (span.end - span.start)
            found += phones.find(text, [group for group in digits if not taken[group.start]], labels, addresses)
    wanted = {*kinds, *(pattern.name for pattern in own)}
    found = [span for span in found if span.kind in wanted]
    passwords = {span.start for span in found if span.kind == "secret"}
    return merge(span for span in found if span.kind != "email" or span.start not in passwords)


def _replaced(text: str, spans: list[Span], own: Mapping[str, str]) -> str:
    placeholders = {**PLACEHOLDERS, **own}
    pieces: list[str] = []
    done = 0
    for span in spans:
        pieces += (text[done : span.start], placeholders[span.kind])
        done = span.end
    pieces.append(text[done:])
    return "".join(pieces)
