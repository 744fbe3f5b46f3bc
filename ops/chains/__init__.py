"""What is read from the chains for the books, for a rehearsal, for refunds and for the doctor. Each network has a module with

- `COIN`: what fees are paid in, and its decimals;
- `PAYERS_PAY`: whether payers send their payments themselves;
- `fees(url, transactions)` where they do not: what transactions cost, as far as the node shows them;
- `transfers(url, own, token, since)`: what the recipient got of a token, from a time on;
- `holds(url, token, holder)`: what an account has of a token, in atomic units, or in whole tokens on the XRP Ledger;
- `is_final(url, own, transaction)`: whether the network shows that a settlement has taken effect and stays;
- `finality(own)`: what is waited for before that, for people;
- `lacks(own, timeout_s=)`: why the recipient cannot be paid, in sentences; None when the node does not say.

Functions raise what is in NODE_ERRORS, and `transfers` raises NotKept.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from importlib import import_module
from typing import Any, NamedTuple

from shared.networks import NETWORKS
from shared.nodes.connections import NodeFailed
from shared.nodes.json_rpc import RpcError
from shared.nodes.xrpl_rpc import XrplError
from shared.settings.rails import RailSettings
from shared.settings.service import PREFIX, Settings
from shared.x402.networks import Rail, Token

TIMEOUT_S = 10.0
NODE_ERRORS = (
    OSError,
    RpcError,
    XrplError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    ArithmeticError,
)
"""What asking a node raises when it does not answer, or not as it should."""

CHAIN, FACILITATOR, PAYER, NOT_FOUND = "chain", "facilitator", "payer", "not found"
"""Where the fee of a transaction is from: its receipt; a foreign facilitator or the payer paid it; the node does not show the
transaction."""

RECIPIENT_TIMEOUT_S = 5.0


class Fee(NamedTuple):
    """What a transaction cost its sender, in atomic units of the network's own coin.

    Attributes:
        sender: who paid it, where the network says so in the receipt; else "".
    """

    amount: int
    sender: str = ""
    source: str = CHAIN


class Transfer(NamedTuple):
    """What the recipient got.

    Attributes:
        number: tells several of one transaction apart.
        amount: as in an offer: atomic units, or whole tokens on the XRP Ledger.
        at: Unix seconds, of its block.
    """

    transaction: str
    number: int
    payer: str
    amount: str
    at: int


class NotKept(Exception):
    """A node does not have the history that is asked for. The text says what is missing."""


def fees(name: str, url: str, transactions: Sequence[str]) -> Mapping[str, Fee]:
    """What transactions of a network cost us.

    Args:
        name: of the network in shared/networks.py.
        url: the node of our facilitator; empty where another one settles.
    """
    module = _module(name)
    if module.PAYERS_PAY or not url:
        return dict.fromkeys(transactions, Fee(0, source=PAYER if module.PAYERS_PAY else FACILITATOR))
    found: Mapping[str, Fee] = module.fees(url, transactions)
    return found


def coin(name: str) -> tuple[str, int]:
    """What a network's fees are paid in, and its decimals."""
    found: tuple[str, int] = _module(name).COIN
    return found


def transfers(name: str, url: str, own: RailSettings, token: Token, since: int) -> Iterator[Transfer]:
    """What the recipient got of a token since that time, in Unix seconds, in any order. Raises NotKept at the end, if the node
    does not show all."""
    found: Iterator[Transfer] = _module(name).transfers(url, own, token, since)
    return found


def holds(name: str, url: str, token: Token, holder: str) -> Decimal:
    """What an account has of a token, in whole tokens."""
    return Decimal(_module(name).holds(url, token, holder)).scaleb(-token.decimals)


def is_final(name: str, url: str, own: RailSettings, transaction: str) -> bool:
    """Whether the network shows that a settlement has taken effect and stays, as its rail defines it."""
    return bool(_module(name).is_final(url, own, transaction))


def finality(name: str, own: RailSettings) -> str:
    """What is waited for before a settlement counts, for people."""
    return str(_module(name).finality(own))


def _module(name: str) -> Any:
    return import_module(f"ops.chains.{NETWORKS[name].package}")


def node_of(settings: Settings, name: str) -> str:
    """The node that a network is read from: the facilitator's, or that of endpoints; empty where there is none."""
    own = settings.rails[name]
    reads = {"eip155:8453": settings.rpc_base_urls, "eip155:1": settings.rpc_ethereum_urls}.get(own.network, ())
    return own.rpc_url or next(iter(getattr(own, "read_urls", reads)), "")


def rail_of(network: str, asset: str) -> tuple[Rail, Token] | None:
    """The rail and the token of an offer; None for one that this version does not know."""
    for row in NETWORKS.values():
        for rail, tokens in row.tokens.items():
            token = tokens.get(network)
            if token is not None and asset_of(token).lower() == asset.lower():
                return rail, token
    return None


def asset_of(token: Token) -> str:
    """A token as offers name it."""
    return next(value for name in ("address", "mint", "contract", "currency") if (value := getattr(token, name, "")))


class NotChecked(Exception):
    """Whether the recipient can receive is not known. The text says why."""


def missing(name: str, own: RailSettings) -> list[str]:
    """What the recipient lacks, as sentences.

    Args:
        name: of the network's settings, `own`.

    Raises:
        NotChecked: no node can be asked, or it does not say.
    """
    variable = f"{PREFIX}{name.upper()}_RPC_URL"
    if not own.rpc_url:
        raise NotChecked(f"{variable} names no node to ask")
    lacks: Callable[..., list[str] | None] = _module(name).lacks
    try:
        found = lacks(own, timeout_s=RECIPIENT_TIMEOUT_S)
    except (NodeFailed, RpcError, XrplError, LookupError, TypeError, ValueError):
        found = None
    if found is None:
        raise NotChecked(f"the node of {variable} does not say")
    return found
