"""Pays calls out of a channel: signs a voucher for each, and a deposit when the channel has too little for one.

Who holds the wallet's key can do both. An agent may hold only the key that signs vouchers: it can spend what the wallet has
deposited for it, and nothing else.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec

from coinslot.channel_store import Channel, ChannelStore, SignedDeposit
from coinslot.errors import CapReached, DepositUnderWay
from coinslot.evm_signer import VALID_AFTER, EvmSigner, check_token
from coinslot.offer_terms import atomic_price, check_method, check_terms
from coinslot.prices import text_of
from coinslot.signer import Signer, Unpayable
from shared.money import Price
from shared.x402 import evm_channel, evm_channel_ids
from shared.x402.evm_channel import SCHEME
from shared.x402.evm_channel_ids import ChannelConfig
from shared.x402.networks import EVM_USDC
from shared.x402.wire import Offer

DEFAULT_CAP = Decimal(5)
LATE_S = 600
"""How long after its expiry a deposit still counts as one that may be made: clocks differ, and chains are slow."""

_ZERO = "0x" + 40 * "0"


@dataclass(frozen=True, slots=True)
class Depositing:
    """How a wallet fills channels.

    Attributes:
        wallet: the account that deposits, and gets back what is left.
        amount: of one deposit, in dollars; None: the least that the server takes.
        cap: most that all channels of the folder may hold at a time, in dollars.
        always: deposit with the next call, even where enough is left.
    """

    wallet: EvmSigner
    amount: Decimal | None = None
    cap: Decimal = DEFAULT_CAP
    always: bool = False


class ChannelSigner(Signer):
    """Signs vouchers with one key.

    Args:
        authorizer: the account whose signature vouchers have.
        store: the channels.
        server: base address of the server that is paid.
        depositing: None: the key may only spend what others have deposited.
    """

    def __init__(self, authorizer: EvmSigner, store: ChannelStore, server: str, depositing: Depositing | None) -> None:
        self._authorizer = authorizer
        self._store = store
        self._server = server
        self._depositing = depositing
        self._token = EVM_USDC[authorizer.network]
        account = depositing.wallet if depositing else authorizer
        super().__init__(account.rail, network=account.network, asset=account.asset, address=account.address)

    def quote(self, offer: Offer) -> Price:
        check_terms(offer, self.network, scheme=SCHEME)
        check_token(offer, self._token)
        check_method(offer, "eip3009")
        if not evm_channel.is_payable(offer) or _ZERO in (offer.pay_to, offer.extra["receiverAuthorizer"]):
            raise Unpayable("the terms of its channel are not those that can be paid")
        price = atomic_price(offer, self._token.decimals)
        if self._depositing is None and not any(self._is_of(one, offer) for one in self._store.all()):
            raise Unpayable(f"no channel is open for {self.address}: its owner opens one with `coinslot channels open`")
        return price

    def sign(self, offer: Offer, *, now: int) -> dict[str, Any]:
        """The payload of a voucher, or of a deposit with the voucher of this call. It counts in the store when this returns.

        Raises:
            CapReached: it takes a deposit that is above the cap, or that this key cannot make.
            DepositUnderWay: somebody else deposits now: try again.
            ChannelUnusable: the store cannot be used.
        """
        salt, deposit = secrets.token_bytes(32), None
        nonce = ""
        try:
            with self._store.changing() as channels:
                channel = self._channel(channels, offer)
                price = int(offer.amount)
                missing = channel.used + price - channel.balance
                if missing > 0 or (self._depositing is not None and self._depositing.always):
                    nonce = f"0x{evm_channel_ids.deposit_nonce(channel.raw_id, salt).hex()}"
                    deposit = self._deposit(channels.values(), channel, offer, missing, nonce=nonce, now=now)
                    deposit["authorization"]["erc3009Authorization"]["salt"] = f"0x{salt.hex()}"
                channels[channel.id] = channel
                channel.offer = offer
                most = channel.take(price)
        except BaseException:
            self._store.end_turn(nonce)
            raise
        return {
            "type": "voucher",
            "channelConfig": msgspec.to_builtins(channel.config),
            "voucher": voucher(self._authorizer, channel, most),
            **({} if deposit is None else {"type": "deposit", "deposit": deposit}),
        }

    def _channel(self, channels: dict[str, Channel], offer: Offer) -> Channel:
        """That with the most left, or else a new one."""
        known = [channel for channel in channels.values() if self._is_of(channel, offer)]
        if known or self._depositing is None:
            return max(known, key=lambda one: one.left)
        config = ChannelConfig(
            payer=self.address,
            payer_authorizer=self._authorizer.address,
            receiver=offer.pay_to,
            receiver_authorizer=offer.extra["receiverAuthorizer"],
            token=offer.asset,
            withdraw_delay=offer.extra["withdrawDelay"],
            # Random: a store that was lost and a new one never sign for the same channel.
            salt="0x" + secrets.token_hex(32),
        )
        return Channel(server=self._server, network=offer.network, config=config, offer=offer)

    def _is_of(self, channel: Channel, offer: Offer) -> bool:
        config = channel.config
        is_own = config.payer_authorizer == self._authorizer.address
        is_payer = self._depositing is None or config.payer == self.address
        return is_own and is_payer and not channel.withdrawn_at and channel.fits(offer)

    def _deposit(
        self, channels: Iterable[Channel], channel: Channel, offer: Offer, missing: int, *, nonce: str, now: int
    ) -> dict[str, Any]:
        depositing = self._depositing
        if depositing is None:
            raise CapReached(
                f"{self._dollars(channel.left)} dollars are left in the channel, and the call costs more",
                hint="Its owner adds to it with `coinslot channels open`.",
            )
        if not self._store.take_turn(nonce):
            raise DepositUnderWay("another process makes a deposit")
        scale = 10**self._token.decimals
        wanted = 0 if depositing.amount is None else int(depositing.amount * scale)
        amount = max(wanted, missing, int(offer.extra["minDeposit"]))
        for other in (*channels, channel):
            other.deposits = {nonce: one for nonce, one in other.deposits.items() if now < one.valid_before + LATE_S}
        locked = sum(other.locked for other in channels)
        if locked + amount > depositing.cap * scale:
            raise CapReached(
                f"the deposit of {self._dollars(amount)} dollars and the {self._dollars(locked)} that channels hold already "
                f"are above the cap of {depositing.cap:f}",
                hint="Raise COINSLOT_CAP_DEPOSIT, or get deposits back with `coinslot channels refund`.",
            )
        valid_before, raw_nonce = now + offer.max_timeout_seconds, bytes.fromhex(nonce[2:])
        digest = evm_channel_ids.deposit_digest(offer, self.address, amount, VALID_AFTER, valid_before, raw_nonce)
        channel.deposits[nonce] = SignedDeposit(amount, valid_before)
        signed = {
            "validAfter": str(VALID_AFTER),
            "validBefore": str(valid_before),
            "signature": depositing.wallet.sign_digest(digest),
        }
        return {"amount": str(amount), "authorization": {"erc3009Authorization": signed}}

    def _dollars(self, atomic: int) -> str:
        return text_of(atomic, self._token.decimals)


def voucher(authorizer: EvmSigner, channel: Channel, most: int) -> dict[str, str]:
    """A voucher over an amount that the store has counted."""
    digest = evm_channel_ids.voucher_digest(evm_channel_ids.chain_id_of(channel.network), channel.raw_id, most)
    return {
        "channelId": channel.id,
        "maxClaimableAmount": str(most),
        "signature": authorizer.sign_digest(digest),
    }
