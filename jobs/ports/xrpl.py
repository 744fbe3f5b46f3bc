"""The port to the XRP Ledger, of which only validated ledgers are read. The adapter is workers/adapters/xrpl.py."""

from decimal import Decimal
from typing import NamedTuple, Protocol


class TrustLine(NamedTuple):
    """An account's trust line to the issuer of RLUSD.

    Attributes:
        balance, limit: in RLUSD.
        is_frozen: by either side, deeply or not, or by the issuer's global freeze: nobody but the issuer can be paid with it.
        no_ripple: the holder's setting. Without it, other accounts' payments may move its balance between its lines.
        is_authorized: False only when the issuer must authorize holders and has not authorized this one.
        allows_clawback: whether the issuer may take back what it has issued.
    """

    balance: Decimal
    limit: Decimal
    is_frozen: bool
    no_ripple: bool
    is_authorized: bool
    allows_clawback: bool


class WalletState(NamedTuple):
    """An account in one validated ledger.

    Attributes:
        ledger: its number.
        base_fee, reserve_base, reserve_increment: drops, as the network has them in force.
        is_activated: whether there is such an account. Else what follows is 0 and None.
        balance: drops.
        owner_count: entries of the ledger that it keeps a reserve for.
        line: to the issuer of RLUSD; None: there is none.
        tokens: what it holds, or may come to hold, of other tokens: those of the first 400 trust lines.
    """

    ledger: int
    base_fee: int
    reserve_base: int
    reserve_increment: int
    is_activated: bool
    balance: int
    owner_count: int
    line: TrustLine | None
    tokens: "tuple[Amount, ...]"


class Amount(NamedTuple):
    """An amount of XRP (in XRP, not drops) or of a token.

    Attributes:
        currency: ``XRP``; ``RLUSD`` for the real one alone; else the ledger's own code, or the id of a multi-purpose token.
        issuer: None for XRP and multi-purpose tokens.
    """

    value: Decimal
    currency: str
    issuer: str | None


class Transaction(NamedTuple):
    """A validated transaction that touched the account.

    Attributes:
        position: in its ledger.
        closed_at: of its ledger, Unix seconds.
        sender: who signed it, or for whom it was signed.
        destination, tag: whom it names as its recipient.
        peer: the other account of a trust line that it sets, else None.
        fee: drops. The sender paid it, whatever the result is.
        delivered: what arrived at the destination. None: nothing, or the ledger does not say (before 2014).
        promised: what an escrow, a check or a payment channel was made for, or gets. Nothing of it has arrived.
        is_partial: less arrived than the transaction says, and its flags allow that.
        xrp, rlusd: how much more the account has of each after it, in XRP and RLUSD (`get_balance_changes` of xrpl-py).
    """

    hash: str
    type: str
    result: str
    ledger: int
    position: int
    closed_at: int
    sender: str
    destination: str | None
    tag: int | None
    peer: str | None
    fee: int
    delivered: Amount | None
    promised: Amount | None
    is_partial: bool
    xrp: Decimal
    rlusd: Decimal


class Point(NamedTuple):
    """How far a history has been read: through a transaction of a ledger, or through all of it."""

    ledger: int
    position: int | None = None


class History(NamedTuple):
    """What touched an account between two points.

    Attributes:
        transactions: the oldest first.
        is_complete: the node says that it has every ledger of the range.
        is_truncated: there are more, after the last of these.
    """

    transactions: tuple[Transaction, ...]
    is_complete: bool
    is_truncated: bool


class XrplLedger(Protocol):
    """One network of the XRP Ledger, read through nodes that may be wrong or slow at any time."""

    @property
    def network(self) -> str:
        """CAIP-2: ``xrpl:0``."""
        ...

    def wallet(self, address: str, *, at_least: int, deadline: float) -> WalletState:
        """An account in the newest validated ledger, which is `at_least` that one.

        Raises:
            UpstreamFailed: `timeout`, `connection_refused`, `http_status`, `too_large`, `bad_content`, `rate_limited`,
                `wrong_network`, `stale_ledger` or `node_error`.
        """
        ...

    def history(self, address: str, *, after: Point, through: int, most: int, deadline: float) -> History:
        """The transactions of an account after a point, up to and including a ledger. Raises what `wallet` raises."""
        ...
