"""What an endpoint that remembers is given of its last call, and what it leaves for the next.

Such an endpoint declares a `subject`: what its observations are about, e.g. a URL and how it is read. A baseline belongs to one
payer (wallet and network) and one subject, and no other payer ever sees it. The worker stores an observation together with the
answer, and only if that answer is the one that the caller gets: no call is ever compared with itself.
"""

from datetime import datetime
from typing import Any, NamedTuple


class Previous(NamedTuple):
    """The observation that an earlier call of the same payer about the same subject left.

    Attributes:
        observation: the bytes that it returned.
        at: when that call was settled, in UTC.
        is_truncated: the end was cut off, because all of it was too large to be kept (workers/observations.py).
    """

    observation: bytes
    at: datetime
    is_truncated: bool = False


class Observed(NamedTuple):
    """What a handler returns in the place of its response to leave an observation.

    Attributes:
        response: the endpoint's Response.
        observation: what the next call gets as `Context.previous`. Put what matters most first: the end is cut off beyond
            256 KB, compressed.
    """

    response: Any
    observation: bytes
