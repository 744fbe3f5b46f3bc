"""xrpl-wallet-watch: what a wallet on the XRP Ledger has, and what happened to it since this payer's last call.

- The first call makes the baseline at the newest validated ledger and reports no history. Each later one reports what came
  after the last, the oldest first. Beyond 200 transactions `truncated` is true, and the next call continues after them.
- Amounts are decimal texts: XRP in XRP (not drops), and RLUSD of Ripple's issuer alone. `deltas` are what the listed
  transactions moved, fees included.
- `delivered` is what arrived, not what a transaction says: a partial payment may say a million and deliver a cent.
- `promised` is what an escrow, a check or a payment channel is for. It is no payment, and is in no balance.
- Tokens that pass for RLUSD are alerts. RLUSD is what Ripple's issuer has issued, and nothing else.
- A failed transaction (`tec...`) did nothing but cost its fee. An account that does not exist is an answer: `activated` is
  false.
- Missing history is said: `complete` is false when the nodes lack ledgers, or when the balances show that a transaction is
  missing.
"""

import time
from typing import Annotated

import msgspec

from jobs.fields import doc
from jobs.observation import Observed
from jobs.ports import Context
from jobs.ports.xrpl import History
from jobs.site import Site
from jobs.xrpl_wallet_watch import addresses, baseline
from jobs.xrpl_wallet_watch.addresses import NotAnAddress
from jobs.xrpl_wallet_watch.response import Response, response
from jobs.xrpl_wallet_watch.watch import MAX_TRANSACTIONS, Watched
from shared.endpoint import Category, Endpoint, Example, Flavour, InvalidField, Pool
from shared.money import Price
from shared.x402.networks import Rail

WITHIN_S = 10.0
"""Limit for all reads of nodes."""
PRICE = Price.of("0.001")
EXAMPLE_ADDRESS = "r3JnSYLzV2GaxXkMQCtMmYqPpt1B1zbxDA"
"""An account of the sandbox: compose/sandbox/xrpl_node.py."""

Address = Annotated[str, msgspec.Meta(min_length=1, max_length=addresses.LONGEST)]


class Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    address: Annotated[Address, doc("The wallet, as classic address (r...) or X-address (X...).")]
    min_calls_remaining: Annotated[
        int,
        msgspec.Meta(
            ge=0, le=1_000_000_000, description="There is an alert when the wallet can pay for fewer calls than this."
        ),
    ] = 100
    allowed_destinations: Annotated[
        tuple[Address, ...],
        msgspec.Meta(
            max_length=100,
            description=(
                "Recipients that may be paid without an alert. An X-address allows one destination tag, a classic "
                "address all."
            ),
        ),
    ] = ()

    def __post_init__(self) -> None:
        _check(self.address, "address")
        for destination in self.allowed_destinations:
            _check(destination, "allowedDestinations")


def run(request: Request, context: Context) -> Observed:
    """Read the wallet, then what happened to it since the baseline."""
    ledger, deadline = context.ports.xrpl, time.monotonic() + WITHIN_S
    asked = addresses.read(request.address)
    since = baseline.read(context.previous, ledger.network)
    wallet = ledger.wallet(asked.address, at_least=since.ledger if since else 0, deadline=deadline)
    history = History((), is_complete=True, is_truncated=False)
    if since is not None:
        history = ledger.history(
            asked.address, after=since.point, through=wallet.ledger, most=MAX_TRANSACTIONS, deadline=deadline
        )
    allowed = frozenset(addresses.read(destination) for destination in request.allowed_destinations)
    watched = Watched(asked.address, ledger.network, wallet, since, history, allowed)
    answer = response(
        watched,
        tag=asked.tag,
        price=Price.of(context.payment.amount) if context.payment.amount else PRICE,
        least_calls=request.min_calls_remaining,
        previous_at=context.previous.at if context.previous and since else None,
    )
    return Observed(answer, baseline.write(watched.next_baseline(ledger.network)))


def _check(text: str, field: str) -> None:
    try:
        addresses.read(text)
    except NotAnAddress as refused:
        raise InvalidField(str(refused), field=field, code="invalid_address") from None


def _subject(request: Request, _: Site) -> str:
    return addresses.read(request.address).address


ENDPOINT = Endpoint(
    name="xrpl-wallet-watch",
    price=PRICE,
    category=Category.DATA,
    pool=Pool.CHAIN,
    deadline_s=15,
    flavour=Flavour.WATCH,
    rails=(Rail.XRPL_RLUSD,),
    request=Request,
    response=Response,
    reads=("xrpl",),
    failures=(
        "timeout",
        "connection_refused",
        "http_status",
        "too_large",
        "bad_content",
        "rate_limited",
        "wrong_network",
        "stale_ledger",
        "node_error",
    ),
    summary=(
        "A heartbeat for a wallet on the XRP Ledger: spendable XRP after reserves, health of its RLUSD trust line, how many "
        "calls it can pay for, and what happened since your last call: validated transactions, balance deltas, failed "
        "transactions, new destinations and alerts. The first call makes a baseline that only you have."
    ),
    example=Example(
        request={"address": EXAMPLE_ADDRESS, "minCallsRemaining": 100, "allowedDestinations": []},
        response={
            "ok": True,
            "address": EXAMPLE_ADDRESS,
            "tag": None,
            "activated": True,
            "ledgerIndex": 95000000,
            "baseline": {"created": True, "previousLedgerIndex": None, "previousAt": None},
            "xrp": {"balance": "25", "reserve": "1.2", "spendable": "23.8", "ownerCount": 1},
            "rlusd": {
                "trustLine": True,
                "balance": "1.25",
                "limit": "1000000000",
                "frozen": False,
                "noRipple": True,
                "clawback": True,
                "health": "ok",
            },
            "callRunway": {
                "callsRemaining": 1250,
                "pricePerCall": "0.001",
                "limitedBy": "rlusd",
                "minCallsRemaining": 100,
                "belowThreshold": False,
            },
            "activity": {
                "fromLedger": 95000000,
                "toLedger": 95000000,
                "count": 0,
                "truncated": False,
                "complete": True,
                "transactions": [],
            },
            "deltas": {"xrp": "0", "rlusd": "0"},
            "failedTransactions": [],
            "newDestinations": [],
            "alerts": [],
        },
    ),
    run=run,
    subject=_subject,
)
