"""Every calculation: work on hostile data that a handler hands to a child process.

A calculation is a module with NAME and `calculate`. Its name has an underscore, so it never equals the name of an endpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from jobs.page import compare, read_page, read_text
from jobs.rss import reading as feed_reading
from jobs.ssl_info import examination
from jobs.x402_discover import reading as discovery_reading
from jobs.youtube import transcript


class Calculation(Protocol):
    """A module with one calculation."""

    NAME: str

    def calculate(self, argument: bytes) -> bytes:
        """Calculate the encoded result of an encoded argument. The module chooses both encodings."""


_MODULES: tuple[Calculation, ...] = (
    *(transcript, examination, discovery_reading, feed_reading),
    *(read_page, read_text, compare),
)

CALCULATIONS: Mapping[str, Callable[[bytes], bytes]] = {module.NAME: module.calculate for module in _MODULES}
"""The function of each calculation, by name."""
