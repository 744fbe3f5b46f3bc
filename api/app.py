"""Builds the API: every object once, by hand, and Litestar with the routes around them."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from litestar import Litestar, Request, Response, asgi
from litestar.datastructures import State
from litestar.exceptions import HTTPException, NotFoundException

from api.call_log import CallLog
from api.discovery import routes as discovery
from api.discovery.catalogue import Catalogue
from api.discovery.listing import MCP_PATH
from api.disk import Disk
from api.dispatch import Dispatcher
from api.errors import ERROR_KINDS, Problem
from api.http import CORS, PREFLIGHT, as_text, problem_answer, request_id
from api.ledger_servers import LedgerServers
from api.long_bodies import LongBodies
from api.mcp.server import McpServer
from api.pages import routes as pages
from api.pages.renderer import PageRenderer
from api.payment.binding import Binder
from api.payment.channel_watch import ChannelWatch, channel_rail
from api.payment.facilitator import EVIDENCE_TIMEOUT_S
from api.payment.fingerprint import Fingerprinter
from api.payment.gate import PaymentGate
from api.payment.headers import PAYMENT_SIGNATURE, X_PAYMENT
from api.payment.ledger import Ledger
from api.payment.limits import Limits
from api.payment.offer_receipt import read_signer
from api.payment.price_lists import PriceLists
from api.payment.rails import configured_rails
from api.payment.reconcile import Reconciler
from api.payment.reorgs import ReorgMonitor
from api.payment.unrecorded import UnrecordedSettlements
from api.pipeline import PaidCall
from api.pools import Pools
from api.readiness import Readiness
from api.redis_client import COMMAND_TIMEOUT_S, Redis
from api.replies import READ_TIMEOUT_S, ReplyReader
from api.services import Services
from api.shop import Shop
from api.status.counter import StatusCounter
from api.status.report import StatusReader
from jobs import price_list
from jobs.catalogue import installed
from jobs.site import site_of
from shared.endpoint import Endpoint
from shared.observability import tracing
from shared.sealing.answers import AnswerSealer
from shared.sealing.keys import read_sealing_keys
from shared.sealing.sealing import Sealer
from shared.servers.ledger_start import known_buckets
from shared.settings.egress import egress
from shared.settings.service import Settings

log = logging.getLogger(__name__)

RELOAD = "reload"
"""The key of the app's state that has the function which reads the price list again."""


def create_app(settings: Settings | None = None, catalogue: Sequence[Endpoint] | None = None) -> Litestar:
    """Build the API.

    Args:
        catalogue: what is sold; None: all that is installed.

    Raises:
        InvalidSetting: a setting is missing or has the wrong form.
        RefusedPackage: an installed package cannot be sold.
    """
    settings = settings or Settings.from_env(os.environ)
    catalogue = installed() if catalogue is None else catalogue
    master, previous = read_sealing_keys(settings)
    site = site_of(egress(settings), settings.readable)
    rails = configured_rails(settings)
    channels = channel_rail(settings, rails)
    sold_on = (*rails, channels) if channels else rails
    configured = {rail.rail for rail in rails}
    binder = Binder(master, previous)
    ledger_servers = LedgerServers(settings.ledger_urls, settings.ledger_replicas, known_buckets(settings))
    read_prices = partial(price_list.read, settings, catalogue)
    price_lists = PriceLists(ledger_servers.replicated, read_prices())
    signer = read_signer(settings)
    gates = tuple(
        PaymentGate(endpoint, sold_on, settings.base_url, binder, settings.host_names, signer)
        for endpoint in _readable(catalogue, settings)
        if configured.intersection(endpoint.rails)
    )
    shop = Shop(gates, price_lists, read_prices)
    renderer = PageRenderer(gates, settings.base_url)
    queue_redis = Redis(settings.redis_url(settings.queue_url))
    # The reader blocks in Redis, which would hold up every other command on its connection.
    replies_redis = Redis(settings.redis_url(settings.queue_url), timeout_s=READ_TIMEOUT_S + COMMAND_TIMEOUT_S)
    replies = ReplyReader(replies_redis)
    pools = Pools(queue_redis)
    ledger = Ledger(ledger_servers.commands, ledger_servers.replicated)
    services = Services(
        base_url=settings.base_url,
        logs_calls=settings.log_calls,
        ledger=ledger,
        unrecorded=UnrecordedSettlements(ledger),
        dispatcher=Dispatcher(queue_redis, replies, pools, Sealer(master, previous=previous)),
        fingerprint=Fingerprinter(master, previous),
        limits=Limits(settings.rate_limits),
        long_bodies=LongBodies(),
        payments=Sealer(master, "payments", previous),
        disk=Disk(settings.ledger_dir, settings.ledger_free_mb),
        binder=binder,
        answers=AnswerSealer(master, previous),
        site=site,
        price_lists=price_lists,
        status=StatusCounter(ledger_servers.commands),
        undelivered_ms=int(settings.undelivered_s * 1000),
    )
    probe_s = max(EVIDENCE_TIMEOUT_S, *(rail.facilitator.settle_timeout_s for rail in rails))
    reconciler = Reconciler(services.ledger, rails, services.payments, probe_s=probe_s)
    reorgs = ReorgMonitor(services.ledger, rails)
    channel_watch = ChannelWatch(ledger_servers.commands, channels, settings) if channels else None
    readiness = Readiness(ledger_servers, queue_redis, pools, rails, gates, partial(_sold, shop, catalogue))

    @asynccontextmanager
    async def running(_: Litestar) -> AsyncIterator[None]:
        tracing.start(settings, "coinslot-api")
        for rail in sold_on:
            await rail.start()
        replies.start()
        pools.start()
        services.dispatcher.start()
        price_lists.start()
        reconciler.start()
        reorgs.start()
        services.unrecorded.start()
        services.status.start()
        if channel_watch:
            channel_watch.start()
        try:
            yield
        finally:
            if channel_watch:
                await channel_watch.stop()
            await services.unrecorded.stop()
            await services.status.stop()
            await reorgs.stop()
            await reconciler.stop()
            await price_lists.stop()
            services.dispatcher.stop()
            await pools.stop()
            await replies.stop()
            for rail in sold_on:
                await rail.stop()
            for client in (ledger_servers, queue_redis, replies_redis):
                client.close()
            await asyncio.to_thread(tracing.stop)

    calls = [(gate, PaidCall(gate, services)) for gate in gates]
    shown = _catalogue(shop, settings)
    return Litestar(
        route_handlers=[
            *(asgi(gate.endpoint.path, copy_scope=False)(call) for gate, call in calls),
            asgi(MCP_PATH, copy_scope=False)(McpServer(calls, shown, settings.base_url)),
            *discovery.routes(shown),
            *pages.routes(
                renderer,
                services,
                StatusReader(ledger_servers.commands),
                contact=settings.contact,
                contact_expires=settings.contact_expires,
                updated=lambda: shop.prices.updated,
                signer=signer,
            ),
            *readiness.routes(),
        ],
        # Of the free routes, whose OPTIONS Litestar answers. Paid calls write theirs (api/http.py).
        response_headers=as_text((*CORS, *PREFLIGHT)),
        lifespan=[running],
        exception_handlers={
            NotFoundException: partial(_not_found, renderer),
            HTTPException: partial(_problem, settings.base_url),
            Exception: partial(_problem, settings.base_url),
        },
        state=State({RELOAD: shop.reload}),
        openapi_config=None,
        logging_config=None,
    )


def _readable(catalogue: Sequence[Endpoint], settings: Settings) -> Iterator[Endpoint]:
    """All but those that read a ledger of which there is no node here: every call of them would be charged and fail."""
    for endpoint in catalogue:
        if not endpoint.reads or settings.readable.intersection(endpoint.reads):
            yield endpoint
        else:
            log.warning("%s is not sold: the settings name no node of %s", endpoint.name, " or ".join(endpoint.reads))


def _sold(shop: Shop, catalogue: Sequence[Endpoint]) -> list[Endpoint]:
    """What is sold now, or would be with the node that it reads."""
    return [endpoint for endpoint in catalogue if endpoint.name in shop.prices.prices]


def _catalogue(shop: Shop, settings: Settings) -> Catalogue:
    """What discovery shows of the shop."""
    return Catalogue(
        lambda: [gate.listing for gate in shop.sold],
        base_url=settings.base_url,
        last_updated=lambda: shop.prices.updated,
        contact=settings.contact,
    )


# What Litestar itself refuses: a Host header that is none, an unknown path, a wrong method.
_CODES = {400: "invalid_url", 404: "not_found", 405: "method_not_allowed"}


def _not_found(renderer: PageRenderer, request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """A page for a browser, and what all others get for anything that is refused."""
    return pages.not_found(renderer, request) or _problem(renderer.base_url, request, error)


def _problem(base_url: str, request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """The answer to what a free route or Litestar refuses, in the same form as every other error."""
    call_id = request_id(request.scope)
    problem = error if isinstance(error, Problem) else _refused(error)
    if problem.code == "internal_error":
        log.error("request %s to %s failed", call_id, request.scope["path"], exc_info=error)
    is_paid = any(name in (PAYMENT_SIGNATURE, X_PAYMENT) for name, _ in request.scope["headers"])
    CallLog(call_id, endpoint="-", is_paid=is_paid).failed(problem)
    answer = problem_answer(problem, instance=request.scope["path"], request_id=call_id, base_url=base_url)
    headers = as_text((*answer.headers, *CORS))
    return Response(
        answer.body,
        status_code=answer.status,
        media_type=headers.pop("content-type"),
        headers={
            **_allow(error),
            **headers,
            "X-Request-Id": call_id,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        },
    )


def _allow(error: Exception) -> dict[str, str]:
    """The Allow header of a wrong method, in the order that Litestar's answer to OPTIONS has."""
    headers = (isinstance(error, HTTPException) and error.headers) or {}
    allowed = "".join(value for name, value in headers.items() if name.lower() == "allow")
    return {"Allow": ", ".join(sorted(allowed.split(", ")))} if allowed else {}


def _refused(error: Exception) -> Problem:
    code = _CODES.get(getattr(error, "status_code", 500), "internal_error")
    detail = ERROR_KINDS[code].title + "."
    if code == "not_found":
        detail += " /openapi.json lists what is sold."
    return Problem(code=code, detail=detail)
