"""The connection to an EVM node, and what several parts of the rail ask it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

import aiohttp
from hexbytes import HexBytes
from web3 import AsyncHTTPProvider, AsyncWeb3
from web3.exceptions import TransactionNotFound, Web3Exception
from web3.types import TxReceipt

from facilitator.rails.evm.calldata import authorization_state
from facilitator.rails.evm.transaction import Sent
from shared.x402.networks import EvmToken

FIRST_POLL_S = 0.01
LONGEST_POLL_S = 0.5
RPC_TIMEOUT_S = 4.0
NODE_ERRORS = (Web3Exception, aiohttp.ClientError, OSError, TimeoutError, ValueError, TypeError, KeyError)
"""What a call to the node raises when it does not answer, or not as it should."""


def connection(rpc_url: str) -> AsyncWeb3[Any]:
    """A JSON-RPC client of one node."""
    # web3's own retries would hide how long a call takes. The caller repeats it.
    provider = AsyncHTTPProvider(rpc_url, request_kwargs={"timeout": RPC_TIMEOUT_S}, exception_retry_configuration=None)
    # Without web3's middleware (names, validation, gas prices): every call would pass through it for nothing.
    return AsyncWeb3(provider, middleware=[])


async def read_contract(web3: AsyncWeb3[Any], address: str, data: bytes) -> bytes:
    """The result of a contract's view function. Raises what is in NODE_ERRORS."""
    return bytes(await web3.eth.call({"to": web3.to_checksum_address(address), "data": HexBytes(data)}))


async def is_nonce_used(web3: AsyncWeb3[Any], token: EvmToken, payer: str, nonce: bytes) -> bool:
    """Whether the payer's nonce was used, by a transfer or by a cancellation. Raises what is in NODE_ERRORS."""
    return any(await read_contract(web3, token.address, authorization_state(payer, nonce)))


async def receipt(web3: AsyncWeb3[Any], sent: Sent, *, give_up_at: float) -> TxReceipt | None:
    """The receipt of a transaction; None when it is not there by `give_up_at` (monotonic seconds). Never raises."""
    pause = FIRST_POLL_S
    while True:
        for form in tuple(sent.forms):
            with contextlib.suppress(TransactionNotFound, *NODE_ERRORS):
                return await web3.eth.get_transaction_receipt(form.hash)
        if time.monotonic() >= give_up_at:
            return None
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_POLL_S)
