"""The calculation that reads a page which took `read_page` too much: all its text, and nothing that it says of itself."""

import msgspec

from jobs.engines.page.metadata import Metadata
from jobs.engines.page.reading import Asked, Reading, reading
from jobs.engines.page.reading import examples as examples
from jobs.engines.page.scan import scanned_text

NAME = "read_page_text"


def calculate(argument: bytes) -> bytes:
    """Read what is Asked and return the Reading, both as MessagePack."""
    return msgspec.msgpack.encode(read(msgspec.msgpack.decode(argument, type=Asked)))


def read(asked: Asked) -> Reading:
    """Read the text of a page."""
    text = scanned_text(asked.html, is_markdown=asked.extract != "text")
    return reading(asked, text, method="body", from_source=False, metadata=Metadata(), html_hash=None)
