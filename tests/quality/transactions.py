"""Transactions of Alice on Base, to be explained, and the tokens that move in them."""

from typing import Any, NamedTuple

import eth_abi

from jobs.engines.evm.selectors import selector
from jobs.ports.chains import Reverted
from tests.jobs.tx_explain.receipts import (
    ALICE,
    APPROVAL,
    BOB,
    NOBODY,
    ROUTER,
    USDC,
    WETH,
    calldata,
    log,
    moved,
    nft,
    number,
    padded,
)

ONE = 10**18
MANY, MANY_160 = 2**256 - 1, 2**160 - 1
PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3"
PHISHER = "0x000000000532b45f47779fce440748893b257865"
POOL, POSITIONS, PAIR, VAULT = (f"0x{digit * 40}" for digit in "6789")
_APPROVED = "Approval(address,address,address,uint160,uint48)"


class Case(NamedTuple):
    """A transaction of Alice on Base.

    Attributes:
        kind: the measure that it counts in.
        sent: arguments of `put`.
        begins: how the sentence begins.
        has: signals that it must have; `lacks`: signals that it must not have.
        balances: of Alice before the block and in it, and nonces.
        symbol: of the unknown token.
    """

    kind: str
    sent: dict[str, Any]
    begins: str
    has: str = ""
    lacks: str = ""
    balances: tuple[int, int, int, int] | None = None
    symbol: str = "FREE"
    revert: Reverted | None = None


def error(text: str) -> Reverted:
    """`Error(string)` whose text is not filled up to whole words, as some contracts write it."""
    raw = text.encode()
    return Reverted(selector("Error(string)") + eth_abi.encode(["uint256", "uint256"], [32, len(raw)]) + raw)


def allowed(owner: str, spender: str, amount: int, expires: int) -> dict[str, Any]:
    return log(
        PERMIT2, _APPROVED, padded(owner), padded(USDC), padded(spender), data=number(amount) + number(expires)[2:]
    )


def locked(token: str, spender: str) -> dict[str, Any]:
    return log(PERMIT2, "Lockdown(address,address,address)", padded(ALICE), data=padded(token) + padded(spender)[2:])


def approve(amount: int) -> dict[str, Any]:
    logs = [log(USDC, APPROVAL, padded(ALICE), padded(BOB), data=number(amount))]
    return {"to": USDC, "data": calldata("approve(address,uint256)", BOB, amount), "logs": logs}


def called(signature: str, *values: Any, to: str = ROUTER, **more: Any) -> dict[str, Any]:
    return {"to": to, "data": calldata(signature, *values), **more}


def unwrapped(by: str, amount: int) -> dict[str, Any]:
    return log(WETH, "Withdrawal(address,uint256)", padded(by), data=number(amount))


IN = moved(USDC, ALICE, POOL, 30_000_000)
OUT = moved(WETH, POOL, ALICE, ONE // 100)
SHARES = moved(VAULT, NOBODY, ALICE, 3 * ONE)
SHARES_BACK = moved(VAULT, ALICE, NOBODY, 3 * ONE)
BACK = moved(USDC, VAULT, ALICE, 30_000_000)
POSITION = nft(POSITIONS, NOBODY, ALICE, 77)
INCREASED = log(
    POSITIONS, "IncreaseLiquidity(uint256,uint128,uint256,uint256)", number(77), data=number(5) + 2 * number(6)[2:]
)
VAULT_EVENT = log(
    VAULT, "Deposit(address,address,uint256,uint256)", padded(ALICE), padded(ALICE), data=number(5) + number(5)[2:]
)
PATH = "swapExactTokensForTokens(uint256,uint256,address[],address,uint256)"
TO_ETHER = "swapExactTokensForETH(uint256,uint256,address[],address,uint256)"
ADD = "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)"
_FEE = 10**13
GOT = (5 * ONE, 5 * ONE + ONE // 4 - _FEE, 7, 8)
