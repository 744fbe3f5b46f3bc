"""The calculation that reads a page which took `read_page` too much: the text of the body, in time linear in its markup."""

from __future__ import annotations

import msgspec

from jobs.page.body import body_text
from jobs.page.metadata import Metadata
from jobs.page.reading import Asked, Reading, reading
from jobs.page.tree import body_of, parsed

NAME = "read_page_text"


def calculate(argument: bytes) -> bytes:
    """Read what is Asked and return the Reading, both as MessagePack."""
    return msgspec.msgpack.encode(read(msgspec.msgpack.decode(argument, type=Asked)))


def read(asked: Asked) -> Reading:
    """Read the text of a page, and nothing that it says of itself."""
    root = parsed(asked.html)
    text = "" if root is None else body_text(body_of(root), is_markdown=asked.extract != "text")
    return reading(asked, text, method="body", from_source=False, metadata=Metadata(), html_hash=None)
