"""Compares a wallet with the baseline of the payer's last call. Nothing here reads the network."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal

from jobs.ports.xrpl import History, Point, Transaction, WalletState
from jobs.xrpl_wallet_watch import baseline
from jobs.xrpl_wallet_watch.addresses import Recipient
from jobs.xrpl_wallet_watch.baseline import Baseline

MAX_TRANSACTIONS = 200
MAX_CALLS = 10**12
SUCCESS = "tesSUCCESS"
DROPS = 10**6
_EXACT = Context(prec=60)
"""Sums of the ledger's amounts: 16 digits each, at exponents from -96 to 80. What does not fit is no balance of a wallet."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A wallet now, what happened since the baseline, and who is watched for.

    Attributes:
        network: CAIP-2.
        since: None: this call makes the baseline.
        allowed: destinations that raise no alert. One without a tag allows all tags.
    """

    address: str
    network: str
    wallet: WalletState
    since: Baseline | None
    history: History
    allowed: frozenset[Recipient]

    @property
    def transactions(self) -> Sequence[Transaction]:
        """The oldest first."""
        return self.history.transactions

    @property
    def xrp(self) -> Decimal:
        """How much more XRP the wallet has after these transactions."""
        return _sum(transaction.xrp for transaction in self.transactions)

    @property
    def rlusd(self) -> Decimal:
        """How much more RLUSD it has."""
        return _sum(transaction.rlusd for transaction in self.transactions)

    @property
    def reached(self) -> Point:
        """The point up to which this call reports everything that the nodes know."""
        if self.history.is_truncated and self.transactions:
            last = self.transactions[-1]
            return Point(last.ledger, last.position)
        return Point(self.wallet.ledger)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing: a node says so, and what the transactions moved is what the balances say."""
        if not self.history.is_complete:
            return False
        if self.since is None or self.history.is_truncated:
            return True
        xrp, rlusd = balances(self.wallet)
        is_right_xrp = self.since.xrp is None or self.since.xrp + self.xrp == xrp
        return is_right_xrp and (self.since.rlusd is None or _EXACT.add(self.since.rlusd, self.rlusd) == rlusd)

    @property
    def failed(self) -> Sequence[Transaction]:
        """The transactions that did nothing but cost their fee."""
        return [transaction for transaction in self.transactions if transaction.result != SUCCESS]

    @property
    def is_deleted(self) -> bool:
        """Whether there was such an account, and is no more."""
        return not self.wallet.is_activated and (
            (self.since is not None and self.since.activated)
            or any(transaction.type == "AccountDelete" and self._sent(transaction) for transaction in self.transactions)
        )

    def new_destinations(self) -> Iterator[tuple[Recipient, Transaction]]:
        """The recipients that the wallet has paid, or promised to pay, and that no earlier call listed."""
        seen = set(self.since.seen if self.since else ())
        for recipient, transaction in self._destinations():
            if name(recipient) not in seen:
                seen.add(name(recipient))
                yield recipient, transaction

    def is_allowed(self, recipient: Recipient) -> bool:
        """Whether the caller knows it."""
        return recipient in self.allowed or Recipient(recipient.address, None) in self.allowed

    def next_baseline(self, network: str) -> Baseline:
        """What the next call compares with."""
        reached = self.reached
        xrp: Decimal | None
        rlusd: Decimal | None
        if reached.position is None:
            xrp, rlusd = balances(self.wallet)
        elif self.since is None or not self.is_complete or self.since.xrp is None or self.since.rlusd is None:
            xrp = rlusd = None
        else:
            xrp, rlusd = self.since.xrp + self.xrp, _EXACT.add(self.since.rlusd, self.rlusd)
        now = [name(recipient) for recipient, _ in self._destinations()]
        return Baseline(
            network=network,
            ledger=reached.ledger,
            position=reached.position,
            xrp=xrp,
            rlusd=rlusd,
            activated=self.wallet.is_activated,
            seen=baseline.seen_with(self.since.seen if self.since else (), now),
        )

    def _destinations(self) -> Iterator[tuple[Recipient, Transaction]]:
        for transaction in self.transactions:
            destination = transaction.destination
            if destination and self._sent(transaction) and destination != self.address:
                yield Recipient(destination, transaction.tag), transaction

    def _sent(self, transaction: Transaction) -> bool:
        return transaction.sender == self.address and transaction.result == SUCCESS


@dataclass(frozen=True, slots=True)
class Runway:
    """How many calls the wallet can pay for.

    Attributes:
        calls: MAX_CALLS at most.
        limited_by: what ends it: `rlusd`, or `xrp` for the network's fees.
    """

    calls: int
    limited_by: str


def runway(wallet: WalletState, price: Decimal) -> Runway:
    """Calls at a price in RLUSD. Each is a transaction, whose fee is paid in XRP, and out of the reserve if need be."""
    line = wallet.line
    usable = line.balance if line is not None and not line.is_frozen and line.is_authorized else Decimal(0)
    by_rlusd = int(_EXACT.divide_int(max(usable, Decimal(0)), price))
    by_xrp = wallet.balance // max(wallet.base_fee, 1)
    return Runway(min(by_rlusd, by_xrp, MAX_CALLS), "xrp" if by_xrp < by_rlusd else "rlusd")


def health(wallet: WalletState) -> str:
    """The health of the trust line: `missing`, `frozen`, `empty` or `ok`."""
    if wallet.line is None:
        return "missing"
    if wallet.line.is_frozen:
        return "frozen"
    return "ok" if wallet.line.balance > 0 else "empty"


def balances(wallet: WalletState) -> tuple[Decimal, Decimal]:
    """The balances in XRP and RLUSD."""
    return Decimal(wallet.balance) / DROPS, wallet.line.balance if wallet.line else Decimal(0)


def reserve(wallet: WalletState) -> int:
    """Drops that only fees may be paid from. What is not activated needs the base to become so."""
    return wallet.reserve_base + wallet.reserve_increment * wallet.owner_count


def counterparty(transaction: Transaction, address: str) -> str | None:
    """The other side: whom the wallet's transaction names, or who sent another's."""
    if transaction.sender != address:
        return transaction.sender
    other = transaction.destination or transaction.peer
    return other if other != address else None


def name(recipient: Recipient) -> str:
    """The recipient as a baseline writes it."""
    return recipient.address if recipient.tag is None else f"{recipient.address}:{recipient.tag}"


def plain(value: Decimal) -> str:
    """A decimal without exponent or trailing zeros."""
    return format(value.normalize(_EXACT), "f") if value else "0"


def _sum(values: Iterator[Decimal]) -> Decimal:
    total = Decimal(0)
    for value in values:
        total = _EXACT.add(total, value)
    return total
