"""Makes text harmless before it reaches the dashboard, which puts descriptions, metadata and causes into its pages as HTML."""

from __future__ import annotations

import re

MOST_CHARS = 200
_OTHER = re.compile(r"[^A-Za-z0-9 ._:/@=,+…-]")
_NOT_OF_ID = re.compile(r"[^A-Za-z0-9_-]")
MOST_ID_CHARS = 64


def plain(text: str) -> str:
    """The text without characters that mean something in HTML, attributes, scripts or templates: each becomes ``_``."""
    return _OTHER.sub("_", text[:MOST_CHARS])


def plain_id(text: str) -> str:
    """The same for what becomes part of a key or of an address. Ids of our jobs are unchanged."""
    return _NOT_OF_ID.sub("_", text[:MOST_ID_CHARS]) or "_"
