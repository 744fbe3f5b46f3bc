"""The steps of a purchase, from the price to the answer, over any exchange: what Buyer and AsyncBuyer have in common."""

import contextlib
import dataclasses
import functools
import time
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Protocol

import msgspec

from coinslot import channel_outcomes, kept_answers
from coinslot import payment as payments
from coinslot.address import call_url
from coinslot.answer import Answer
from coinslot.challenge import Quote, request_challenge
from coinslot.channel_store import ChannelStore
from coinslot.delivery import RetryPolicy, deliver
from coinslot.errors import (
    ChannelUnusable,
    CoinslotError,
    DepositUnderWay,
    InvalidCall,
    JournalUnusable,
    PaymentNotSaved,
    PaymentRejected,
    Unreachable,
)
from coinslot.exchange import Exchange
from coinslot.payment import SignedPayment
from coinslot.payment_folder import PaymentFolder, SavedPayment, claim
from coinslot.progress import Progress, Quoted, Sending
from coinslot.wallet import Choice, Wallet
from shared.call_path import split
from shared.money import Price
from shared.x402.evm_channel import SCHEME as CHANNEL
from shared.x402.wire import Settlement

DEPOSIT_WAIT_S = 60.0
"""How long a call waits for a deposit that another call makes."""
DEPOSIT_POLL_S = 0.2


class CheckPrice(Protocol):
    """Raises CoinslotError where a price is not what it should be."""

    async def __call__(self, name: str, price: Price, /) -> None: ...


async def trust(name: str, price: Price, /) -> None:
    """The limit of the price is enough."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Purchases:
    """Purchases from one server. The fields are the arguments of Buyer; `base_url` is checked already.

    Attributes:
        reserve: is called before each payment is signed; what it raises prevents the signature.
        check_price: is called with the call's name and the price that a challenge asks for, before anything is signed; what it
            raises prevents that.
        reservation: returns the id that `reserve` got from the folder's journal, when the payment's file is written.
    """

    base_url: str
    wallet: Wallet
    exchange: Exchange
    max_price: Decimal | None
    retry_policy: RetryPolicy
    payments: PaymentFolder | None
    on_signed: Callable[[SignedPayment], None]
    on_progress: Callable[[Progress], None]
    check_price: CheckPrice = trust
    reserve: Callable[[Choice], None] = lambda _: None
    reservation: Callable[[], str] = lambda: ""

    async def call(self, name: str, body: object, *, keep: bool) -> Answer:
        """As Buyer.call says."""
        url, content, request_id = call_url(self.base_url, name), _content(body), uuid.uuid4().hex
        quote = await request_challenge(self.exchange, url, content, request_id=request_id)
        if isinstance(quote, Answer):
            return quote
        quote.check_resource(url)
        choice = self.wallet.choose(quote.challenge.accepts, max_price=self.max_price)
        signer = choice.signer
        self.on_progress(Quoted(choice.price, signer.asset, signer.network, signer.address))
        await self.check_price(name, choice.price)
        if choice.offer.scheme == CHANNEL:
            await self._resume_vouchers()
        attempt = functools.partial(self._paid, choice, quote, url, content, request_id=request_id, keep=keep)
        try:
            return await attempt()
        except PaymentRejected as rejected:
            if not await self._corrected(rejected):
                raise
        return await attempt()

    async def resume(self, payment: SignedPayment | SavedPayment, *, keep: bool) -> Answer:
        """As Buyer.resume says."""
        saved = payment if isinstance(payment, SavedPayment) else None
        signed = payment.payment if isinstance(payment, SavedPayment) else payment
        return await self._deliver(signed, saved, request_id=uuid.uuid4().hex, keep=keep, in_doubt=True)

    async def _paid(
        self, choice: Choice, quote: Quote, url: str, content: bytes | None, *, request_id: str, keep: bool
    ) -> Answer:
        await self.exchange.run(lambda: self.reserve(choice))
        give_up_at = time.monotonic() + DEPOSIT_WAIT_S
        while True:
            try:
                payment = await self.exchange.run(lambda: _signed(choice, quote, url, content))
                break
            except DepositUnderWay:
                if time.monotonic() > give_up_at:
                    raise
            await self.exchange.pause(DEPOSIT_POLL_S)
        return await self._deliver(payment, None, request_id=request_id, keep=keep, in_doubt=False)

    async def _resume_vouchers(self) -> None:
        """Send the vouchers whose process has died once more, before the server forgets their answers, and keep these."""
        for saved in await self.exchange.run(self._unattended):
            try:
                answer = await self._deliver(
                    saved.payment, saved, request_id=uuid.uuid4().hex, keep=True, in_doubt=True, retries=False
                )
                await self.exchange.run(functools.partial(kept_answers.keep, saved, answer))
            except (CoinslotError, OSError):
                continue
            finally:
                saved.release()

    def _unattended(self) -> list[SavedPayment]:
        found = []
        for path in self.payments.files() if self.payments else ():
            try:
                saved = claim(path)
            except (InvalidCall, OSError):
                continue
            payment = saved.payment
            is_ours = payment.offer.scheme == CHANNEL and split(payment.url)[0] == self.base_url
            if is_ours and kept_answers.find(saved) is None:
                found.append(saved)
            else:
                saved.release()
        return found

    async def _corrected(self, rejected: PaymentRejected) -> bool:
        payments, payment = self.payments, rejected.payment
        if payments is None or payment is None or rejected.charged is not False:
            return False
        signed = channel_outcomes.signed(payment)
        return signed is not None and await self.exchange.run(
            lambda: channel_outcomes.corrected(payments.channels, signed.channel, rejected.challenge)
        )

    async def _ended(self, end: Callable[[ChannelStore], None]) -> None:
        """Note in the store of channels what became of a payment. Where that fails, its voucher continues to count."""
        payments = self.payments
        if payments is not None:
            with contextlib.suppress(ChannelUnusable):
                await self.exchange.run(lambda: end(payments.channels))

    def _interrupted(self, payment: SignedPayment) -> None:
        if self.payments is not None:
            channel_outcomes.interrupted(self.payments.channels, payment)

    def _save(self, payment: SignedPayment) -> SavedPayment | None:
        if self.payments is None:
            return None
        try:
            return self.payments.save(payment, reservation=self.reservation())
        except OSError as error:
            raise PaymentNotSaved(
                f"the payment could not be saved in {self.payments.path}: {error.strerror or type(error).__name__}",
                hint="Name a folder that can be written to with COINSLOT_STATE_DIR.",
            ) from None

    async def _deliver(
        self,
        payment: SignedPayment,
        saved: SavedPayment | None,
        *,
        request_id: str,
        keep: bool,
        in_doubt: bool,
        retries: bool = True,
    ) -> Answer:
        try:
            if not in_doubt:
                saved = await self.exchange.run(lambda: self._save(payment))
                self.on_signed(payment)
            self.on_progress(Sending(payment, None if saved is None else saved.path))
            answer = await deliver(
                self.exchange,
                payment,
                request_id=request_id,
                retry_policy=self.retry_policy if retries else dataclasses.replace(self.retry_policy, budget_s=0),
                on_progress=self.on_progress,
                in_doubt=in_doubt,
            )
        except CoinslotError as error:
            await self._ended(functools.partial(channel_outcomes.failed, payment=payment, error=error))
            if error.charged is True:
                self._log(payment, None, error.request_id or request_id, answered=False)
            if saved is not None:
                await self._keep_or_remove(saved, error)
            raise
        except BaseException:  # interrupted: the file stays
            if saved is not None:
                saved.release()
            self._interrupted(payment)
            raise
        await self._ended(lambda store: channel_outcomes.answered(store, payment, answer.receipt))
        self._log(payment, answer.receipt, answer.request_id, answered=True)
        if saved is None:
            return answer
        if keep:
            return dataclasses.replace(answer, saved=saved)
        saved.remove()
        return answer

    async def _keep_or_remove(self, saved: SavedPayment, error: CoinslotError) -> None:
        """What was not charged is given back before the file goes: a crash in between leaves a file, which is sent again."""
        try:
            if error.worth_keeping:
                error.saved = saved.path
                return
            if error.charged is False:
                await self.exchange.run(lambda: self._give_back(saved, was_sent=not isinstance(error, Unreachable)))
            saved.remove()
        except JournalUnusable:
            return  # the file stays: a later `coinslot resume` gives it back
        finally:
            saved.release()

    def _give_back(self, saved: SavedPayment, *, was_sent: bool) -> None:
        """Raises JournalUnusable."""
        if self.payments is not None and saved.reservation:
            self.payments.journal.end(saved.reservation, "refused" if was_sent else "unsent", now=int(time.time()))

    def _log(self, payment: SignedPayment, receipt: Settlement | None, request_id: str, *, answered: bool) -> None:
        if self.payments is None:
            return
        with contextlib.suppress(OSError):  # the answer is worth more than the line
            self.payments.spending.add(payment, receipt=receipt, request_id=request_id, answered=answered)


def _signed(choice: Choice, quote: Quote, url: str, content: bytes | None) -> SignedPayment:
    now = int(time.time())
    header = payments.encode(
        choice.offer,
        choice.signer.sign(choice.offer, now=now),
        resource=quote.document["resource"],
        extensions=quote.document.get("extensions", {}),
    )
    return SignedPayment(
        url=url,
        body=content,
        header=header,
        offer=choice.offer,
        price=choice.price,
        asset=choice.signer.asset,
        payer=choice.signer.address,
        signed_at=now,
    )


def _content(body: object) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    try:
        return msgspec.json.encode(body)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise InvalidCall("the body cannot be written as JSON") from None
