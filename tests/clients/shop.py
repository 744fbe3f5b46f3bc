"""What the clients here are clients of."""

from typing import Any, NamedTuple


class Shop(NamedTuple):
    """The service and what is in its var/sandbox.json."""

    base_url: str
    sandbox: dict[str, Any]
