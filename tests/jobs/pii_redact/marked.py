"""Texts in which what is to be redacted stands between guillemets: "call «415-555-0132» now"."""

from __future__ import annotations

from jobs.pii_redact.spans import PLACEHOLDERS, PiiKind, Span


def read(marked: str, kind: PiiKind) -> tuple[str, str, list[Span]]:
    """The plain text, the redacted text, and what is found in it, all of one kind."""
    text, redacted = "", ""
    spans = []
    for place, piece in enumerate(marked.replace("»", "«").split("«")):
        if place % 2:
            spans.append(Span(len(text), len(text) + len(piece), kind))
            redacted += PLACEHOLDERS[kind]
        else:
            redacted += piece
        text += piece
    return text, redacted, spans
