"""Buys what is planned, and holds what the service says against what the chain shows."""

import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial

from coinslot.answer import Answer
from coinslot.blocking_exchange import BlockingExchange, completed
from coinslot.buyer import ignore
from coinslot.challenge import Quote
from coinslot.delivery import RetryPolicy
from coinslot.errors import ChallengeRefused, CoinslotError
from coinslot.progress import Progress, Sending
from coinslot.purchase import Purchases
from coinslot.wallet import Choice, Wallet
from ops import chains
from ops.books.facts import folded
from ops.books.revenue import plain
from ops.chains import NODE_ERRORS, NotKept, Transfer
from ops.queries import address
from ops.rehearsal import FAIL, NOTE, OK, Level, Step
from ops.rehearsal.plan import Planned, RehearsedRail
from shared.networks import NETWORKS
from shared.x402.wire import Settlement

FINAL_WITHIN_S = 180.0
"""Longest wait until a node shows a settlement and its transfer."""
POLL_S = 0.25
CLOCKS_S = 120
"""How far a chain's clock may be beside ours."""
OF_SANDBOX = {"finality": "included", "spacing_ms": 0, "batch": 50}
"""Settings of EVM rails that change how a settlement goes, as the sandbox has them."""
EXTENSIONS = ("bazaar", "payment-identifier")
"""Of every challenge in the sandbox."""


def bought(planned: Planned, exchange: BlockingExchange) -> Iterator[Step]:
    """Buy one call, and check each step of it."""
    rehearsed, offer = planned.rehearsed, planned.offer
    symbol, price = rehearsed.token.symbol, planned.price.text()
    step = partial(_step, planned)
    terms = f"{price} {symbol} to {offer.pay_to} on {offer.network}"
    yield step(OK, "challenge", terms, amount=offer.amount, payTo=offer.pay_to, network=offer.network)
    has = partial(chains.holds, rehearsed.name, rehearsed.node, rehearsed.token, rehearsed.own.pay_to)
    try:
        before = has()
    except NODE_ERRORS as error:
        yield step(FAIL, "balance", f"nothing is signed: its node does not say what the recipient has: {_why(error)}")
        return
    sent_at: list[float] = []
    try:
        answer = _buy(planned, exchange, lambda: sent_at.append(time.monotonic()))
    except CoinslotError as error:
        kept = f". Its payment is kept: coinslot resume {error.saved}" if error.saved else ""
        charged = {True: "charged", False: "not charged", "unknown": "perhaps charged"}[error.charged]
        yield step(FAIL, "payment", f"{charged}: {error.sentences.rstrip('. ')}{kept}", charged=error.charged)
        return
    if not sent_at:
        yield step(FAIL, "payment", "it was answered without a payment")
        return
    receipt, payer, seconds = answer.receipt, rehearsed.buyer.signer.address, round(time.monotonic() - sent_at[0], 3)
    yield step(OK, "payment", f"{payer} was answered after {seconds} s", payer=payer, seconds=seconds)
    wrong = wrongs_of(receipt, planned)
    if receipt is None or wrong:
        yield step(FAIL, "receipt", "; ".join(wrong))
        return
    yield step(OK, "receipt", f"settled in {receipt.transaction}", transaction=receipt.transaction)
    yield from on_chain(planned, receipt.transaction, sent_at[0], before, has)


def _buy(planned: Planned, exchange: BlockingExchange, on_sent: Callable[[], None]) -> Answer:
    """Raises CoinslotError."""
    buyer = planned.rehearsed.buyer

    def check(choice: Choice) -> None:
        if (choice.price, choice.offer.pay_to) != (planned.price, planned.offer.pay_to):
            raise ChallengeRefused("price or recipient have changed since the rehearsal began")

    def progress(made: Progress) -> None:
        if isinstance(made, Sending):
            on_sent()

    purchases = Purchases(
        base_url=buyer.base_url,
        wallet=Wallet((buyer.signer,)),
        exchange=exchange,
        max_price=planned.price.value,
        retry_policy=RetryPolicy(),
        payments=buyer.payments,
        on_signed=ignore,
        on_progress=progress,
        reserve=check,
    )
    return completed(purchases.call(planned.call, planned.body, keep=False))


def wrongs_of(receipt: Settlement | None, planned: Planned) -> list[str]:
    """What is wrong with a receipt, as sentences."""
    if receipt is None:
        return ["the answer came without a receipt that can be read"]
    payer = planned.rehearsed.buyer.signer.address
    found = []
    if not receipt.success:
        found.append(f"it says that nothing was settled: {receipt.error_reason}")
    if not receipt.transaction:
        found.append("it names no transaction")
    if receipt.network != planned.offer.network:
        found.append(f"it is of {receipt.network}, not of {planned.offer.network}")
    if receipt.payer and folded(receipt.payer) != folded(payer):
        found.append(f"it names the payer {receipt.payer}, not {payer}")
    if receipt.amount and receipt.amount != planned.offer.amount:
        found.append(f"it is about {receipt.amount}, not {planned.offer.amount}")
    return found


def on_chain(
    planned: Planned, transaction: str, sent_at: float, before: Decimal, has: Callable[[], Decimal]
) -> Iterator[Step]:
    """What the chain shows of a transaction that is said to have paid.

    Args:
        sent_at: when the payment was sent, as time.monotonic() has it.
        before: what the recipient had then.
        has: what it has.
    """
    rehearsed, step = planned.rehearsed, partial(_step, planned)
    final = chains.finality(rehearsed.name, rehearsed.own)
    give_up_at = sent_at + FINAL_WITHIN_S
    if why := _awaited(lambda: chains.is_final(rehearsed.name, rehearsed.node, rehearsed.own, transaction), give_up_at):
        yield step(FAIL, "finality", f"its node does not show {final}{why}")
        return
    seconds = round(time.monotonic() - sent_at, 3)
    yield step(OK, "finality", f"{final} after {seconds} s", seconds=seconds)
    if why := _awaited(lambda: _transfer(planned, transaction) is not None, give_up_at):
        yield step(
            FAIL, "transfer", f"{transaction} does not pay the price from the payer to {rehearsed.own.pay_to}{why}"
        )
        return
    yield step(OK, "transfer", f"{planned.price.text()} {rehearsed.token.symbol} arrived at {rehearsed.own.pay_to}")
    try:
        yield balanced(planned, before, has())
    except NODE_ERRORS as error:
        yield step(FAIL, "balance", f"its node does not say what the recipient has: {_why(error)}")
    yield _fee(planned, transaction)


def _awaited(is_so: Callable[[], bool], give_up_at: float) -> str:
    """Wait for it. Returns an empty text, or when the time is over the end of a sentence about the last attempt."""
    while True:
        try:
            if is_so():
                return ""
            why = f", {FINAL_WITHIN_S:.0f} s after the payment"
        except (*NODE_ERRORS, NotKept) as error:
            why = f": {_why(error)}"
        if time.monotonic() > give_up_at:
            return why
        time.sleep(POLL_S)


def _transfer(planned: Planned, transaction: str) -> Transfer | None:
    rehearsed = planned.rehearsed
    wanted = (transaction, folded(rehearsed.buyer.signer.address), planned.offer.amount)
    moves = chains.transfers(
        rehearsed.name, rehearsed.node, rehearsed.own, rehearsed.token, int(time.time() - FINAL_WITHIN_S) - CLOCKS_S
    )
    return next((one for one in moves if (one.transaction, folded(one.payer), one.amount) == wanted), None)


def balanced(planned: Planned, before: Decimal, after: Decimal) -> Step:
    """Whether the recipient has more by the price. Other customers may pay meanwhile."""
    price, grown = planned.price.value, after - before
    seen = {"before": plain(before), "after": plain(after)}
    detail = f"the recipient had {plain(before)} and has {plain(after)} {planned.rehearsed.token.symbol}"
    if grown == price:
        return _step(planned, OK, "balance", f"{detail}: the price more", **seen)
    if grown > price:
        more = f"{plain(grown - price)} more than the price. Do others buy?"
        return _step(planned, NOTE, "balance", f"{detail}: {more}", **seen)
    return _step(planned, FAIL, "balance", f"{detail}: not the price more. Did something leave the account?", **seen)


def _fee(planned: Planned, transaction: str) -> Step:
    rehearsed = planned.rehearsed
    coin, decimals = chains.coin(rehearsed.name)
    try:
        fee = chains.fees(rehearsed.name, rehearsed.own.rpc_url, [transaction]).get(transaction)
    except NODE_ERRORS as error:
        return _step(planned, NOTE, "fee", f"not known: {_why(error)}")
    if fee is None:
        return _step(planned, NOTE, "fee", "not known: its node does not show it")
    if fee.source == chains.CHAIN:
        cost = plain(Decimal(fee.amount).scaleb(-decimals))
        return _step(planned, OK, "fee", f"the settlement cost our account {cost} {coin}", amount=cost, coin=coin)
    return _step(planned, OK, "fee", f"the {fee.source} pays it, not we")


def differences(rehearsed: RehearsedRail, quote: Quote) -> Iterator[Step]:
    """What is not as in the sandbox.

    Args:
        quote: of one of the calls.
    """
    row, own = NETWORKS[rehearsed.name], rehearsed.own
    sentences = list(rehearsed.buyer.warnings)
    if not rehearsed.buyer.is_sandbox:
        what = "money" if own.network == row.default else "test tokens"
        sentences.append(f"{row.names.get(own.network, own.network)}, a network with {what} and other users")
    if not own.rpc_url:
        sentences.append(
            f"another facilitator settles, {address(own.facilitator_url)}: its fees and its finality count"
        )
    for name, value in OF_SANDBOX.items():
        if own.rpc_url and (here := getattr(own, name, value)) != value:
            sentences.append(f"{name} is {here}, and {value} in the sandbox")
    if lacking := [name for name in EXTENSIONS if name not in quote.challenge.extensions]:
        sentences.append(f"the challenge lacks the extension {' and '.join(lacking)}")
    for sentence in sentences:
        yield Step(NOTE, rehearsed.rail, "", "sandbox", sentence, {})


def _step(planned: Planned, level: Level, name: str, detail: str, **seen: object) -> Step:
    return Step(level, planned.rehearsed.rail, planned.call, name, detail, seen)


def _why(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
