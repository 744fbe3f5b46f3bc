"""The standard x402 facilitator API over our own rails. This process is the only one that holds keys.

POST /verify, POST /settle and GET /supported follow the x402 v2 specification. GET /settlements/{payment id} gives evidence.
"""

import logging
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

import msgspec
from litestar import Litestar, Request, Response, get, post
from litestar.exceptions import ClientException, HTTPException, NotFoundException

from facilitator.facilitator import Facilitator
from facilitator.rail import Rail
from shared.networks import NETWORKS
from shared.observability.logs import JobIds, call_ids
from shared.raw_json import is_deeper
from shared.settings.service import InvalidSetting, Settings
from shared.version import VERSION
from shared.x402.wire import Evidence, FacilitatorCall, Settlement, Supported, Verification

log = logging.getLogger(__name__)

MAX_BODY_BYTES = 64 * 1024
MAX_DEPTH = 100
"""More than the API takes in a payment (api/payment/headers.py)."""
RECURSION_LIMIT = 1_000
_NOT_READ = "the body is nested too deeply, or is not UTF-8"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RailHealth(msgspec.Struct, frozen=True, omit_defaults=True):
    """One rail: what its account has, why it cannot settle, when it cannot, and what it has counted since it was started."""

    balance: str = ""
    reason: str = ""
    counts: Mapping[str, int] = {}


class Health(msgspec.Struct, frozen=True):
    """The answer of /healthz, by network, and the version of the program."""

    ok: bool
    rails: dict[str, RailHealth]
    version: str = VERSION


def create_app(
    settings: Settings | None = None, *, cannot_start: Callable[[InvalidSetting], None] = lambda error: None
) -> Litestar:
    """Build the facilitator.

    Args:
        cannot_start: is called with the reason when the process must end: a node serves another network than the settings say.

    Raises:
        InvalidSetting: a setting is missing or has the wrong form.
    """
    rails = configured_rails(settings or Settings.from_env(os.environ))
    # What it imports raises Python's limit to 100,000 calls, at which deeply nested JSON overflows the C stack.
    sys.setrecursionlimit(RECURSION_LIMIT)
    facilitator = Facilitator(rails)

    @post("/verify", status_code=200)
    async def verify(data: FacilitatorCall) -> Verification:
        return await facilitator.verify(_not_deep(data))

    @post("/settle", status_code=200)
    async def settle(data: FacilitatorCall) -> Settlement:
        return await facilitator.settle(_not_deep(data))

    @get("/supported", sync_to_thread=False)
    def supported() -> Supported:
        return facilitator.supported

    @get("/settlements/{payment_id:str}")
    async def settlement(payment_id: str) -> Response[Evidence]:
        evidence = await facilitator.evidence(payment_id)
        if evidence is None:
            raise NotFoundException("no rail here knows this payment id")
        return Response(evidence, status_code=503 if evidence.status == "unknown" else 200)

    @get("/healthz", sync_to_thread=False)
    def healthz() -> Response[Health]:
        unavailable_reasons = facilitator.unavailable_reasons
        health = {
            rail.network: RailHealth(rail.balance, unavailable_reasons.get(rail.network, ""), rail.counts)
            for rail in rails
        }
        return Response(
            Health(ok=not unavailable_reasons, rails=health), status_code=503 if unavailable_reasons else 200
        )

    async def note_call(request: Request[Any, Any, Any]) -> None:
        """Log lines about this request have the id that its caller gave it."""
        request_id = request.headers.get("x-request-id", "")
        call_ids.set(JobIds(request_id) if _REQUEST_ID.fullmatch(request_id) else None)

    @asynccontextmanager
    async def running(_: Litestar) -> AsyncIterator[None]:
        try:
            try:
                await facilitator.start()
            except InvalidSetting as error:
                cannot_start(error)
                raise
            yield
        finally:
            await facilitator.stop()

    return Litestar(
        route_handlers=[verify, settle, supported, settlement, healthz],
        lifespan=[running],
        before_request=note_call,
        exception_handlers={RecursionError: _unreadable, UnicodeDecodeError: _unreadable, Exception: _unexpected},
        openapi_config=None,
        request_max_body_size=MAX_BODY_BYTES,
        logging_config=None,
    )


def _not_deep(call: FacilitatorCall) -> FacilitatorCall:
    if is_deeper(msgspec.to_builtins(call), MAX_DEPTH):
        raise ClientException(_NOT_READ)
    return call


def _unreadable(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, str]]:
    return Response({"detail": _NOT_READ}, status_code=400)


def _unexpected(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, str]]:
    """The answer to an exception. Litestar's own keep their status; any other is logged."""
    if isinstance(error, HTTPException):
        return Response({"detail": error.detail}, status_code=error.status_code)
    log.error("%s failed", request.url.path, exc_info=error)
    return Response({"detail": "something went wrong here"}, status_code=500)


def configured_rails(settings: Settings) -> Sequence[Rail[Any]]:
    """Every rail with a node. Each one imports its network's library, which takes a second or two.

    Raises:
        InvalidSetting: no rail has a node, a key cannot be read, or no token is known on a network.
    """
    modules = {
        name: f"facilitator.rails.{NETWORKS[name].package}.rail" for name, own in settings.rails.items() if own.rpc_url
    }
    rails: list[Rail[Any]] = [import_module(module).rail(settings, name) for name, module in modules.items()]
    if not rails:
        raise InvalidSetting("COINSLOT_EVM_RPC_URL, or that of another network, must name a node to settle through")
    networks = [rail.network for rail in rails]
    if len(set(networks)) < len(networks):
        raise InvalidSetting("COINSLOT_EVM_NETWORK is Ethereum already: leave out COINSLOT_ETHEREUM_RPC_URL")
    return rails
