"""Every calculation: work on hostile data that a handler hands to a child process.

A calculation is a module with NAME, `calculate` and `examples`. Its name has an underscore, so it never equals the name of an
endpoint.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from jobs.engines.page import compare, read_page, read_text
from jobs.rss import reading as feed_reading
from jobs.ssl_info import examination
from jobs.x402_discover import reading as discovery_reading
from jobs.youtube import transcript
from shared.pools import Pool


class Calculation(Protocol):
    """A module with one calculation."""

    NAME: str

    def calculate(self, argument: bytes) -> bytes:
        """Calculate the encoded result of an encoded argument. The module chooses both encodings."""

    def examples(self) -> Iterable[bytes]:
        """Arguments that together use every library and table that `calculate` may use.

        They are calculated once before children are forked (workers/warming.py). A child can open no file: what no example
        has loaded is missing there, and the answer is another one without an error.
        """


BY_POOL: Mapping[str, tuple[Calculation, ...]] = {
    Pool.NET: (examination, discovery_reading, feed_reading),
    Pool.YOUTUBE: (transcript,),
    Pool.RENDER: (read_page, read_text, compare),
}
"""The calculations that the endpoints of each pool use."""

CALCULATIONS: Mapping[str, Calculation] = {module.NAME: module for modules in BY_POOL.values() for module in modules}
"""Each calculation by its name."""
