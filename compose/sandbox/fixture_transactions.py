"""The transactions of the fixtures: signed by HOLDER, the same bytes and so the same hash at every start."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from compose.sandbox import fixtures
from compose.sandbox.artefact import load
from compose.sandbox.child import StartFailed
from facilitator.rails.evm.signing import Signer
from facilitator.rails.evm.transaction import Bid
from shared.nodes.json_rpc import JsonRpc
from shared.x402.evm import keccak256, selector

_MAX_FEE_WEI, _TIP_WEI = 2 * 10**9, 10**6
_MINED_WITHIN_S = 10.0
_EMPTY_BLOCK_S = 4 * 3600


@dataclass(frozen=True, slots=True)
class FixtureTransaction:
    """One transaction.

    Attributes:
        days_ago: when it was mined; None: never, because nobody uses the nonce before its own.
        raw: signed, as eth_sendRawTransaction takes it.
    """

    name: str
    days_ago: float | None
    raw: bytes

    @property
    def hash(self) -> str:
        """0x hex."""
        return "0x" + keccak256(self.raw).hex()

    def time(self, now: int) -> int | None:
        """Of its block, in seconds since 1970."""
        return None if self.days_ago is None else now - int(self.days_ago * fixtures.DAY_S)


def transactions(chain_id: int) -> Sequence[FixtureTransaction]:
    """In their order, which makes their nonces. That of `creation` makes the address of FRESH_SPENDER."""
    usdc, token, erc721 = fixtures.USDC[chain_id], fixtures.ERC20, fixtures.ERC721
    holder, friend, spender = fixtures.HOLDER, fixtures.FRIEND, fixtures.OLD_SPENDER
    unlimited = 2**256 - 1
    sent: list[tuple[str, float | None, str, bytes, int]] = [
        ("transfer", 21, usdc, _calldata("transfer(address,uint256)", friend, 25_000_000), 0),
        ("approval", 14, usdc, _calldata("approve(address,uint256)", spender, unlimited), 0),
        ("payment", 10, friend, b"", 10**17),
        ("erc721", 8, erc721, _calldata("transferFrom(address,address,uint256)", holder, friend, 2), 0),
        ("creation", 2, "", load("Spender").bytecode, 0),
        ("swap", 1, spender, _calldata(_SWAP, usdc, 10_000_000, token, 5 * 10**18), 0),
        ("refused", 1 / 24, usdc, _calldata("transfer(address,uint256)", friend, 10**15), 0),
        ("pending", None, friend, b"", 1),
    ]
    return [
        FixtureTransaction(name, days_ago, _signed(chain_id, nonce + (days_ago is None), to, data, value))
        for nonce, (name, days_ago, to, data, value) in enumerate(sent)
    ]


_SWAP = "swap(address,uint256,address,uint256)"


def empty_blocks(before: FixtureTransaction, now: int) -> Sequence[int]:
    """Times of the empty blocks that come before a transaction's.

    Between a week ago and the creation of FRESH_SPENDER there are some: who looks for the block of a week ago with a few probes
    finds one in which it was not there yet. Anvil's own clock may mine a block just before: it takes the first of these times,
    and all others come one step later. So a last step is left free.
    """
    if before.name != "creation":
        return ()
    return range(now - 7 * fixtures.DAY_S + 3600, now - 2 * fixtures.DAY_S - 3600 - _EMPTY_BLOCK_S, _EMPTY_BLOCK_S)


def replay(rpc: JsonRpc, chain_id: int, now: int) -> None:
    """Have anvil mine them, each at its time, and set its clock to the real one afterwards.

    Raises:
        StartFailed: it did not within 10 s.
    """
    for transaction in transactions(chain_id):
        if times := empty_blocks(transaction, now):
            rpc("evm_setNextBlockTimestamp", times[0])
            rpc("anvil_mine", hex(len(times)), hex(_EMPTY_BLOCK_S))
        if timestamp := transaction.time(now):
            rpc("evm_setNextBlockTimestamp", timestamp)
        rpc("eth_sendRawTransaction", "0x" + transaction.raw.hex())
        if timestamp:
            _await_mined(rpc, transaction.hash)
    rpc("evm_setTime", int(time.time()))
    rpc("evm_mine")


def _await_mined(rpc: JsonRpc, transaction_hash: str) -> None:
    deadline = time.monotonic() + _MINED_WITHIN_S
    while rpc("eth_getTransactionReceipt", transaction_hash) is None:
        if time.monotonic() > deadline:
            raise StartFailed(f"{transaction_hash} was not mined in time")
        time.sleep(0.002)


def _calldata(signature: str, *arguments: str | int) -> bytes:
    words = (int(one, 16) if isinstance(one, str) else one for one in arguments)
    return selector(signature) + b"".join(word.to_bytes(32) for word in words)


def _signed(chain_id: int, nonce: int, to: str, data: bytes, value: int) -> bytes:
    """A transaction of HOLDER's."""
    gas = 1_000_000 if not to else 150_000 if data else 21_000
    bid = Bid(max_fee=_MAX_FEE_WEI, tip=_TIP_WEI)
    return Signer(fixtures.HOLDER_KEY, chain_id).sign(number=nonce, to=to, data=data, gas=gas, bid=bid, value=value)
