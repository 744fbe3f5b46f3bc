"""`coinslot channels`: list them, get back what is left in one with the server's help, or alone. `open` is a call (main.py)."""

import contextlib
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from coinslot import challenge, channel_outcomes, channel_wallet, configuration, payment, sandbox_file, wallet_source
from coinslot.answer import Answer
from coinslot.blocking_exchange import BlockingExchange, completed
from coinslot.challenge import Quote, request_challenge
from coinslot.channel_chain import ChainState, ChannelChain
from coinslot.channel_signer import voucher
from coinslot.channel_store import Channel, ChannelStore
from coinslot.errors import CallFailed, InvalidCall, PaymentRejected, UnknownCall, WalletUnusable
from coinslot.evm_signer import EvmSigner
from coinslot.exchange import ConnectionLost, Reply
from coinslot.options import Options
from coinslot.output import Output
from coinslot.prices import text_of
from coinslot.problem import failure
from coinslot.receipt import receipt_of
from shared.networks import name_of
from shared.x402.networks import EVM_USDC
from shared.x402.wire import Offer, Settlement


def show(options: Options, output: Output) -> int:
    """Print all channels. Returns 0. Raises ChannelUnusable, OSError."""
    found = [
        (channel, is_sandbox)
        for payments, is_sandbox in configuration.payment_folders(options)
        for channel in payments.channels.all()
    ]
    machine = {"channels": [{**_members(channel), "sandbox": is_sandbox} for channel, is_sandbox in found]}
    rows = [
        (
            channel.server + (" (sandbox)" if is_sandbox else ""),
            name_of(channel.network),
            *(_dollars(channel, amount) for amount in (channel.balance, channel.charged, channel.left)),
            str(len(channel.open)),
            _day(channel.withdrawn_at) if channel.withdrawn_at else "-",
            channel.id,
        )
        for channel, is_sandbox in found
    ]
    header = ("SHOP", "ON", "DEPOSITED", "SPENT", "LEFT", "OPEN", "WITHDRAWAL", "CHANNEL")
    output.table(machine, header, rows)
    return 0


class ChannelsCommand:
    """One run of the command."""

    def __init__(self, options: Options, output: Output) -> None:
        self._options = options
        self._output = output

    def refund(self, prefix: str) -> int:
        """Have the server pay back what is left. Returns 0.

        Raises:
            CoinslotError: it was not.
            OSError: the result cannot be printed.
        """
        store, channel = self._found(prefix)
        authorizer = self._authorizer(channel)
        if not channel.url:
            raise InvalidCall(f"nothing was ever sent to {channel.server} for this channel")
        with BlockingExchange(channel.server, timeout_s=self._options.timeout_s) as exchange:
            quote = None
            with contextlib.suppress(UnknownCall):  # it is not sold any more, and takes requests for refunds
                quote = completed(request_challenge(exchange, channel.url, None, request_id=uuid.uuid4().hex))
            offer = _offer(quote, channel)
            for is_last in (False, True):
                # The voucher says nothing new: what the server knows as charged already.
                signed = voucher(authorizer, channel, channel.base)
                payload = {"type": "refund", "channelConfig": channel.config, "voucher": signed}
                header = payment.encode(offer, payload, resource={}, extensions={})
                request_id = uuid.uuid4().hex
                headers = {payment.HEADER: header, "x-request-id": request_id}
                try:
                    reply = completed(exchange.send("POST", channel.url, None, headers))
                except ConnectionLost as lost:
                    raise CallFailed(f"no answer came: {lost}", hint="Run the same command again.") from None
                receipt = receipt_of(reply)
                if reply.status == 200 and receipt is not None and receipt.success:
                    return self._refunded(store, channel, receipt)
                is_corrected = channel_outcomes.corrected(store, channel.id, challenge.of(reply))
                channel = store.find(channel.id)
                if is_last or not is_corrected:
                    raise _refusal(reply, channel, receipt, request_id)
        raise AssertionError

    def withdraw(self, prefix: str) -> int:
        """Announce that the rest is taken out, or take it out when the delay is over. Returns 0.

        Raises:
            CoinslotError: it was not.
            OSError: the result cannot be printed.
        """
        store, channel = self._found(prefix)
        wallet, chain = self._wallet(), self._chain()
        if wallet.address not in (channel.config.payer, channel.config.payer_authorizer):
            raise WalletUnusable(f"the channel's payer is {channel.config.payer}, and the wallet is {wallet.address}")
        state = chain.state(channel)
        due_at = state.announced_at + channel.config.withdraw_delay
        if not state.announced_at:
            return self._announce(store, channel, chain, wallet, state)
        _set(store, channel, withdrawn_at=state.announced_at)
        if state.now < due_at:
            self._say(channel, "announced", state.leaving, due_at, f"It can be taken out from {_day(due_at)} on.")
            return 0
        transaction = chain.finish(wallet, channel)
        after = chain.state(channel)
        _set(store, channel, balance=after.balance)
        text = f"It is paid to {channel.config.payer}."
        self._say(channel, "paid", state.balance - after.balance, due_at, text, transaction)
        return 0

    def _announce(
        self, store: ChannelStore, channel: Channel, chain: ChannelChain, wallet: EvmSigner, state: ChainState
    ) -> int:
        left = state.balance - state.claimed
        if not left:
            raise InvalidCall("nothing is left in the channel")
        # From now on no voucher of it is signed: the server would not take one.
        _set(store, channel, withdrawn_at=state.now)
        try:
            transaction = chain.announce(wallet, channel, left)
        except CallFailed as error:
            if error.charged is False:
                _set(store, channel, withdrawn_at=0)
            raise
        due_at = chain.state(channel).announced_at + channel.config.withdraw_delay
        text = (
            f"Run the same command again after {_day(due_at)}: the delay is {channel.config.withdraw_delay / 3600:g} hours. "
            "Until then the server may claim what its answers have cost, and the rest is yours."
        )
        self._say(channel, "announced", left, due_at, text, transaction)
        return 0

    def _say(
        self, channel: Channel, state: str, amount: int, due_at: int, text: str, transaction: str | None = None
    ) -> None:
        dollars = _dollars(channel, amount)
        machine = {
            "channel": channel.id,
            "withdrawal": state,
            "amount": dollars,
            "dueAt": due_at,
            "transaction": transaction,
        }
        sent = f" Transaction {transaction}." if transaction else ""
        self._output.result(machine, f"{dollars} USDC on {name_of(channel.network)}: {state}. {text}{sent}")

    def _refunded(self, store: ChannelStore, channel: Channel, receipt: Settlement) -> int:
        amount = int(receipt.amount or "0") if (receipt.amount or "0").isdecimal() else 0
        with store.changing() as channels:
            own = channels[channel.id]
            own.balance = max(0, own.balance - amount)
        dollars = _dollars(channel, amount)
        machine = {"channel": channel.id, "amount": dollars, "transaction": receipt.transaction}
        self._output.result(
            machine,
            f"{dollars} USDC on {name_of(channel.network)} are paid back to {channel.config.payer}; "
            f"transaction {receipt.transaction or 'unknown'}",
        )
        return 0

    def _found(self, prefix: str) -> tuple[ChannelStore, Channel]:
        stores = [payments.channels for payments, _ in configuration.payment_folders(self._options)]
        holding = [one for one in stores if any(channel.id.startswith(prefix.lower()) for channel in one.all())]
        store = (holding or stores)[0]
        return store, store.find(prefix)

    def _wallet(self) -> EvmSigner:
        return channel_wallet.evm(wallet_source.find(self._options).signer)

    def _authorizer(self, channel: Channel) -> EvmSigner:
        """The key that signs the channel's vouchers. Raises WalletUnusable."""
        named = self._options.named(self._options.channel_key_file, channel_wallet.KEY_FILE_ENVIRONMENT)
        signer = channel_wallet.authorizer(Path(named), channel.network) if named else self._wallet()
        if signer.address != channel.config.payer_authorizer:
            raise WalletUnusable(
                f"the channel's vouchers are signed by {channel.config.payer_authorizer}, and this key is {signer.address}",
                hint="Name the file of its key with --channel-key-file.",
            )
        return signer

    def _chain(self) -> ChannelChain:
        options = self._options
        named = options.named(options.rpc_url, wallet_source.RPC_ENVIRONMENT)
        if not named and (sandbox := sandbox_file.nearest(options.env, options.folder)) is not None:
            named = sandbox.evm.rpc_url
        if urlsplit(named).scheme not in ("http", "https"):
            raise WalletUnusable(
                "a withdrawal takes a node of the channel's network",
                hint=f"Give --rpc-url URL or set {wallet_source.RPC_ENVIRONMENT}.",
            )
        return ChannelChain(named)


def _set(store: ChannelStore, channel: Channel, **members: int) -> None:
    with store.changing() as channels:
        for name, value in members.items():
            setattr(channels[channel.id], name, value)


def _offer(quote: Quote | Answer | None, channel: Channel) -> Offer:
    """The server's offer of today, else the one that was paid last."""
    offers = quote.challenge.accepts if isinstance(quote, Quote) else ()
    return next((one for one in offers if channel.fits(one)), channel.offer)


def _refusal(
    reply: Reply, channel: Channel, receipt: Settlement | None, request_id: str
) -> PaymentRejected | CallFailed:
    if reply.status != 402:
        return failure(reply, url=channel.url, request_id=request_id, payment=None, now=time.time())
    answered = challenge.of(reply)
    reason = (receipt.error_reason if receipt else None) or (answered.error if answered else "no reason given")
    return PaymentRejected(
        f"the server does not pay the rest back: {reason[:200]}",
        reason=reason,
        hint="`coinslot channels withdraw` needs no server.",
        status=reply.status,
    )


def _members(channel: Channel) -> dict[str, Any]:
    return {
        "channel": channel.id,
        "server": channel.server,
        "network": channel.network,
        "payer": channel.config.payer,
        "payerAuthorizer": channel.config.payer_authorizer,
        "asset": "USDC",
        **{
            name: _dollars(channel, amount)
            for name, amount in (
                ("deposited", channel.balance),
                ("spent", channel.charged),
                ("left", channel.left),
                ("unconfirmed", sum(deposit.amount for deposit in channel.deposits.values())),
            )
        },
        "openVouchers": [_dollars(channel, most) for most in channel.open],
        "withdrawDelay": channel.config.withdraw_delay,
        "withdrawnAt": channel.withdrawn_at or None,
    }


def _dollars(channel: Channel, atomic: int) -> str:
    return text_of(atomic, EVM_USDC[channel.network].decimals)


def _day(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
