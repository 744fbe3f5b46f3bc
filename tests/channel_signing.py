"""How tests sign for a channel: vouchers, deposits and the wish for a refund, as the scheme's payloads; and how they ask the
contract what it holds."""

import secrets
import time
from dataclasses import dataclass, field
from typing import Any

import msgspec
from coincurve import PrivateKey
from eth_abi import encode

from facilitator.rails.evm import calldata
from shared.nodes.json_rpc import JsonRpc
from shared.x402 import evm, evm_channel, evm_channel_ids
from shared.x402.evm_channel import Voucher
from shared.x402.evm_channel_ids import CONTRACT, ChannelConfig
from shared.x402.wire import Offer
from tests.signing import rsv

_CONFIG = "(address,address,address,address,address,uint40,bytes32)"
INITIATE, FINALIZE = f"initiateWithdraw({_CONFIG},uint128)", f"finalizeWithdraw({_CONFIG})"


def on_chain(rpc: JsonRpc, channel: bytes) -> tuple[int, int]:
    """Balance and total claimed."""
    data = calldata.channel_views(channel)[0]
    answer = rpc("eth_call", {"to": CONTRACT, "data": "0x" + data.hex()}, "latest")
    balance, claimed = calldata.numbers(bytes.fromhex(answer[2:]), 2)
    return balance, claimed


@dataclass
class Payer:
    """A payer with a channel of one offer's terms.

    Attributes:
        key: of the wallet, which deposits, and of vouchers.
        salt: 32 bytes in hex, so that a payer may have several channels.
    """

    offer: Offer
    key: PrivateKey = field(default_factory=PrivateKey)
    salt: str = "0x" + 64 * "0"

    @property
    def config(self) -> ChannelConfig:
        """The channel."""
        address = evm.address_of(self.key.public_key)
        return ChannelConfig(
            payer=address,
            payer_authorizer=address,
            receiver=self.offer.pay_to,
            receiver_authorizer=self.offer.extra["receiverAuthorizer"],
            token=self.offer.asset,
            withdraw_delay=self.offer.extra["withdrawDelay"],
            salt=self.salt,
        )

    @property
    def chain_id(self) -> int:
        """Of its network."""
        return evm_channel_ids.chain_id_of(self.offer.network)

    @property
    def channel(self) -> bytes:
        """The channel's id."""
        return evm_channel_ids.channel_id(self.chain_id, self.config)

    def voucher(self, max_claimable: int, **changes: Any) -> dict[str, Any]:
        """A payload of type ``voucher``."""
        signature = rsv(self.key, evm_channel_ids.voucher_digest(self.chain_id, self.channel, max_claimable))
        return {
            "type": "voucher",
            "channelConfig": msgspec.to_builtins(self.config),
            "voucher": {
                "channelId": "0x" + self.channel.hex(),
                "maxClaimableAmount": str(max_claimable),
                "signature": "0x" + signature.hex(),
            },
            **changes,
        }

    def checked(self, max_claimable: int) -> Voucher:
        """The voucher as the API knows it after its check."""
        voucher = evm_channel.check(self.offer, self.voucher(max_claimable))
        assert isinstance(voucher, Voucher)
        return voucher

    def deposit(self, amount: int, max_claimable: int, *, valid_s: int = 60) -> dict[str, Any]:
        """A payload of type ``deposit``, with the voucher of its call."""
        salt, valid_before = secrets.token_bytes(32), int(time.time()) + valid_s
        nonce = evm_channel_ids.deposit_nonce(self.channel, salt)
        digest = evm_channel_ids.deposit_digest(self.offer, self.config.payer, amount, 0, valid_before, nonce)
        signed = {
            "validAfter": "0",
            "validBefore": str(valid_before),
            "salt": "0x" + salt.hex(),
            "signature": "0x" + rsv(self.key, digest).hex(),
        }
        deposit = {"amount": str(amount), "authorization": {"erc3009Authorization": signed}}
        return self.voucher(max_claimable, type="deposit", deposit=deposit)

    def refund(self, charged: int, amount: int | None = None) -> dict[str, Any]:
        """A payload of type ``refund``."""
        return self.voucher(charged, type="refund", **({} if amount is None else {"amount": str(amount)}))

    def calldata(self, signature: str, *more: tuple[str, Any]) -> bytes:
        """Of a function of the contract about the channel, with types and values of its other arguments."""
        one = self.config
        addresses = (one.payer, one.payer_authorizer, one.receiver, one.receiver_authorizer, one.token)
        config = (*addresses, one.withdraw_delay, bytes.fromhex(one.salt[2:]))
        types, values = zip((_CONFIG, config), *more, strict=True)
        return evm.keccak256(signature.encode())[:4] + encode(types, values)
