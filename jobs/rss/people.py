"""Finds the name in `jane@example.com (Jane Doe)` or `Jane Doe <jane@example.com>`."""

from __future__ import annotations

import re

_ADDRESS = r"[^\s<>()@]{1,64}@[^\s<>()@]{1,255}"
_FORMS = (
    re.compile(rf"(?:mailto:)?{_ADDRESS}\s{{0,9}}\((?P<name>.+)\)"),
    re.compile(rf"(?P<name>.+?)\s{{0,9}}[<(]\s?(?:mailto:)?{_ADDRESS}\s?[>)]"),
    re.compile(rf"<(?P<name>{_ADDRESS})>"),
)


def name_of(text: str | None) -> str | None:
    """The name in a text, or the address when there is no name."""
    if text is None:
        return None
    for form in _FORMS:
        if (found := form.fullmatch(text)) and (name := found["name"].strip(" \"'")):
            return name
    return text
