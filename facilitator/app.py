"""The cashier: the standard x402 facilitator API over our own rails, in a process of its own that alone holds the keys.

POST /verify, POST /settle, GET /supported as the x402 v2 specification has them; GET /settlements/{payment id} for evidence.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

import msgspec
from litestar import Litestar, Request, Response, get, post
from litestar.exceptions import HTTPException, NotFoundException

from facilitator.rails.evm import EvmRail
from facilitator.rails.payment_id import parse_evm
from shared.settings import InvalidSetting, Settings, read_key
from shared.x402 import evm
from shared.x402.wire import Evidence, FacilitatorCall, Settlement, Supported, Verification

log = logging.getLogger(__name__)

MAX_BODY_BYTES = 64 * 1024
RECURSION_LIMIT = 1_000


class Health(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """Answer of /healthz: whether settlements can be paid for, and if not, why."""

    ok: bool
    balance_eth: str
    reason: str = ""


def create_app(settings: Settings | None = None) -> Litestar:
    """Build the facilitator.

    Raises:
        InvalidSetting: a setting is missing or has the wrong form.
    """
    # web3's libraries raise Python's limit to 100,000 calls, at which deeply nested JSON overflows the C stack.
    sys.setrecursionlimit(RECURSION_LIMIT)
    settings = settings or Settings.from_env(os.environ)
    if not settings.evm_rpc_url:
        raise InvalidSetting("COINSLOT_EVM_RPC_URL must name a JSON-RPC node to settle through")
    try:
        token = evm.token_on(settings.evm_network)
    except KeyError:
        raise InvalidSetting(f"COINSLOT_EVM_NETWORK: no USDC contract is known on {settings.evm_network}") from None
    rail = EvmRail(
        token,
        settings.evm_rpc_url,
        read_key(settings.evm_settler_key_file),
        most_for_gas=_atomic(settings.evm_max_fee_gwei, 9),
        low_balance=_atomic(settings.evm_low_balance_eth, 18),
    )

    @post("/verify", status_code=200)
    async def verify(data: FacilitatorCall) -> Verification:
        return await rail.verify(data)

    @post("/settle", status_code=200)
    async def settle(data: FacilitatorCall) -> Settlement:
        return await rail.settle(data)

    @get("/supported", sync_to_thread=False)
    def supported() -> Supported:
        return Supported(kinds=(rail.kind,), signers={"eip155:*": rail.signers})

    @get("/settlements/{payment_id:str}")
    async def settlement(payment_id: str) -> Response[Evidence]:
        named = parse_evm(payment_id)
        if named is None or (named.network, named.asset) != (token.network, token.address.lower()):
            raise NotFoundException("no rail here knows this payment id")
        evidence = await rail.evidence(named.payer, named.nonce)
        return Response(evidence, status_code=503 if evidence.status == "unknown" else 200)

    @get("/healthz", sync_to_thread=False)
    def healthz() -> Response[Health]:
        health = Health(ok=not rail.complaint, balance_eth=rail.balance_eth, reason=rail.complaint)
        return Response(health, status_code=200 if health.ok else 503)

    @asynccontextmanager
    async def running(_: Litestar) -> AsyncIterator[None]:
        try:
            await rail.start()
            yield
        finally:
            await rail.stop()

    return Litestar(
        route_handlers=[verify, settle, supported, settlement, healthz],
        lifespan=[running],
        exception_handlers={RecursionError: _unreadable, UnicodeDecodeError: _unreadable, Exception: _unexpected},
        openapi_config=None,
        request_max_body_size=MAX_BODY_BYTES,
        logging_config=None,
    )


def _atomic(amount: float, decimals: int) -> int:
    """In the smallest unit, of the figure as it is written."""
    return int(Decimal(repr(amount)).scaleb(decimals))


def _unreadable(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, str]]:
    return Response({"detail": "the body is nested too deeply, or is not UTF-8"}, status_code=400)


def _unexpected(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, str]]:
    """What Litestar refuses keeps its status; anything else is logged."""
    if isinstance(error, HTTPException):
        return Response({"detail": error.detail}, status_code=error.status_code)
    log.error("%s failed", request.url.path, exc_info=error)
    return Response({"detail": "something went wrong here"}, status_code=500)
