"""FastAPI and uvicorn reading a token's balance inline with AsyncWeb3: no queue, no worker, nothing survives a crash.

At its best: connections are kept, contracts and what never changes of a token are read once, and a call asks the node twice, as
ours does: for the newest block, and for the balance at it.
"""

from __future__ import annotations

import os
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel
from web3 import AsyncHTTPProvider, AsyncWeb3

from tests.bench.roles import become_uvicorn, play
from tests.bench.systems.fastapi_echo import new_app

PATH = "/v1/cdp/chain/erc20-balance"
ABI = [
    {
        "type": "function",
        "name": name,
        "stateMutability": "view",
        "inputs": [{"name": "owner", "type": "address"}] if name == "balanceOf" else [],
        "outputs": [{"name": "", "type": output}],
    }
    for name, output in (("balanceOf", "uint256"), ("decimals", "uint8"), ("symbol", "string"))
]


class Asked(BaseModel):
    """The request of jobs/chain/erc20_balance.py."""

    chain: str
    token: str
    address: str


class Words(NamedTuple):
    """What a token says of itself."""

    decimals: int
    symbol: str


app = new_app()
web3 = AsyncWeb3(AsyncHTTPProvider(os.environ.get("BENCH_NODE_URL")))
known: dict[str, Words] = {}


@cache
def contract(token: str) -> Any:
    """Made once."""
    return web3.eth.contract(address=AsyncWeb3.to_checksum_address(token), abi=ABI)


async def words(token: str) -> Words:
    """Read once."""
    if token not in known:
        functions = contract(token).functions
        known[token] = Words(await functions.decimals().call(), await functions.symbol().call())
    return known[token]


@app.post(PATH)
async def erc20_balance(asked: Asked) -> dict[str, object]:
    """The balance, at the newest block."""
    block = await web3.eth.get_block("latest")
    owner = AsyncWeb3.to_checksum_address(asked.address)
    balance = await contract(asked.token).functions.balanceOf(owner).call(block_identifier=block["number"])
    said = await words(asked.token)
    return {
        "ok": True,
        "chain": asked.chain,
        "chainId": 8453,
        "blockNumber": str(block["number"]),
        "blockTimestamp": block["timestamp"],
        "token": asked.token,
        "address": owner,
        "balance": str(balance),
        "decimals": said.decimals,
        "balanceFormatted": f"{Decimal(balance).scaleb(-said.decimals):f}",
        "symbol": said.symbol,
    }


if __name__ == "__main__":
    play({"api": lambda: become_uvicorn("tests.bench.systems.fastapi_web3:app")})
