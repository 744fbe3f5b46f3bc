"""Channels as the chain has them, and the transactions with which a payer takes his money out alone. He pays their gas."""

import time
from dataclasses import dataclass
from typing import Any

from coinslot.channel_store import Channel
from coinslot.errors import CallFailed, Unreachable
from coinslot.evm_signer import EvmSigner
from shared.nodes.connections import NodeFailed
from shared.nodes.json_rpc import Call, JsonRpc, RpcError
from shared.x402.evm import RlpItem, keccak256, rlp, selector
from shared.x402.evm_channel_ids import CONFIG_ABI, CONTRACT, chain_id_of, config_words

MINED_WITHIN_S = 180.0
_POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class ChainState:
    """A channel in the newest block. Amounts are atomic units, times Unix seconds.

    Attributes:
        now: the block's time.
        leaving, announced_at: of the withdrawal that is announced; 0 without one.
    """

    now: int
    balance: int
    claimed: int
    leaving: int
    announced_at: int


class ChannelChain:
    """The contract of channels, through a node.

    Args:
        rpc_url: of the node.

    Raises:
        ValueError: it is no URL.
    """

    def __init__(self, rpc_url: str) -> None:
        self._node = JsonRpc(rpc_url)

    def state(self, channel: Channel) -> ChainState:
        """What the chain knows of a channel. Raises Unreachable, CallFailed."""
        balance, claimed = self._view("channels(bytes32)", channel)
        leaving, announced_at = self._view("pendingWithdrawals(bytes32)", channel)
        block = self._call("eth_getBlockByNumber", "latest", False)
        return ChainState(int(block["timestamp"], 16), balance, claimed, leaving, announced_at)

    def announce(self, wallet: EvmSigner, channel: Channel, amount: int) -> str:
        """Announce a withdrawal. Returns the transaction. Raises Unreachable, CallFailed."""
        data = (
            selector(f"initiateWithdraw({CONFIG_ABI},uint128)")
            + config_words(channel.config)
            + amount.to_bytes(32, "big")
        )
        return self._send(wallet, channel, data)

    def finish(self, wallet: EvmSigner, channel: Channel) -> str:
        """Take out what was announced. Returns the transaction. Raises Unreachable, CallFailed."""
        return self._send(wallet, channel, selector(f"finalizeWithdraw({CONFIG_ABI})") + config_words(channel.config))

    def _send(self, wallet: EvmSigner, channel: Channel, data: bytes) -> str:
        call = {"from": wallet.address, "to": CONTRACT, "data": f"0x{data.hex()}"}
        gas = int(self._call("eth_estimateGas", call), 16) * 5 // 4
        price = int(self._call("eth_gasPrice"), 16) * 5 // 4
        number = int(self._call("eth_getTransactionCount", wallet.address, "pending"), 16)
        chain_id = chain_id_of(channel.network)
        fields: list[RlpItem] = [number, price, gas, bytes.fromhex(CONTRACT[2:]), 0, data]
        signature = bytes.fromhex(wallet.sign_digest(keccak256(rlp([*fields, chain_id, 0, 0])))[2:])  # EIP-155
        r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big")
        raw = rlp([*fields, signature[64] - 27 + 35 + 2 * chain_id, r, s])
        transaction: str = self._call("eth_sendRawTransaction", f"0x{raw.hex()}")
        give_up_at = time.monotonic() + MINED_WITHIN_S
        while (receipt := self._call("eth_getTransactionReceipt", transaction)) is None:
            if time.monotonic() > give_up_at:
                raise CallFailed(
                    f"transaction {transaction} is in no block yet",
                    hint="Run the same command later.",
                    charged="unknown",
                )
            time.sleep(_POLL_S)
        if receipt["status"] != "0x1":
            raise CallFailed(f"transaction {transaction} failed")
        return transaction

    def _view(self, view: str, channel: Channel) -> tuple[int, int]:
        data = (selector(view) + channel.raw_id).hex()
        answer = bytes.fromhex(self._call("eth_call", {"to": CONTRACT, "data": f"0x{data}"}, "latest")[2:])
        if len(answer) != 64:
            raise CallFailed(f"the node of {channel.network} knows no contract of channels")
        return int.from_bytes(answer[:32], "big"), int.from_bytes(answer[32:], "big")

    def _call(self, method: str, *params: Any) -> Any:
        try:
            return self._node.call(Call(method, params))
        except RpcError as error:
            raise CallFailed(f"the node refuses {method}: {error.message[:200]}") from None
        except NodeFailed as error:
            raise Unreachable(f"the node: {error}") from None
