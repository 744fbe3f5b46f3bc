"""Work on hostile data that a handler gives to a child process: bytes in, bytes out.

A calculation's name has an underscore, which no endpoint's name has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jobs.faker import records
from jobs.rss.reading import read_feed
from jobs.ssl_info import examination
from jobs.x402_discover import reading as discovery_reading
from jobs.youtube import transcript

Calculation = Callable[[bytes], bytes]

CALCULATIONS: Mapping[str, Calculation] = {
    "caption_document": transcript.calculate,
    examination.NAME: examination.calculate,
    discovery_reading.NAME: discovery_reading.calculate,
    "read_feed": read_feed,
}


def preload() -> None:
    """Import what the calculations and handlers need, in the process that children are forked from."""
    import lxml.etree  # type: ignore[import-untyped]  # noqa: F401

    records.preload()
    examination.preload()
    discovery_reading.preload()
