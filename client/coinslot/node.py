"""Calls of a node of the wallet's network, with the proxy, the certificates and the limits of every other exchange."""

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import msgspec

from coinslot.blocking_exchange import BlockingExchange, completed
from coinslot.errors import Unreachable
from coinslot.exchange import ConnectionLost

TIMEOUT_S = 10.0
_BAD_ANSWERS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    msgspec.DecodeError,
)


@contextmanager
def connected(network: str, url: str) -> Iterator[Callable[[dict[str, Any]], Any]]:
    """A function that sends a call to the node and returns the decoded answer.

    Args:
        network: name for people.
        url: of the node. A user and a password in it become an Authorization header.

    Raises:
        Unreachable: the node does not answer, or the block cannot read its answer.
    """
    try:
        user, at, _ = urlsplit(url).netloc.rpartition("@")
        login = unquote_to_bytes(user if ":" in user else f"{user}:")
        headers = {"authorization": f"Basic {base64.b64encode(login).decode()}"} if at else {}
        with BlockingExchange(url, timeout_s=TIMEOUT_S) as exchange:

            def call(document: dict[str, Any]) -> Any:
                reply = completed(exchange.send("POST", url, msgspec.json.encode(document), headers))
                if reply.status != 200:
                    raise ValueError
                return msgspec.json.decode(reply.body)

            yield call
    except (ConnectionLost, *_BAD_ANSWERS) as error:
        raise no_answer(network, error) from None


def no_answer(network: str, error: Exception) -> Unreachable:
    """What a node's failure means for the purchase. The error's text may show the URL, and the URL may hold a key."""
    return Unreachable(
        f"the {network} node does not answer as it should ({type(error).__name__})",
        hint="Is the node's address right?",
    )
