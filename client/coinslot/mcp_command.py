"""`coinslot mcp`: serves the calls as tools, over standard input and output, or streamable HTTP on this host."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

import anyio

from coinslot import configuration, gone_clients, page_delta_wallet, spending_caps
from coinslot.async_exchange import AsyncExchange
from coinslot.configuration import Configuration
from coinslot.errors import CoinslotError, InvalidCall
from coinslot.options import Options
from coinslot.spending_caps import Caps
from coinslot.version import version

if TYPE_CHECKING:
    from coinslot.mcp_server import McpServer

HOST = "127.0.0.1"
"""No other: who can connect can spend up to the caps."""


def run(options: Options, *, http_port: int | None) -> int:
    """Serve until the client goes away, or until a signal. Returns 0.

    Args:
        http_port: on HOST; None: standard input and output.

    Raises:
        InvalidCall: no server is named, the library of the protocol is not installed, or the port is taken.
        BrokenPipeError: the host of standard input and output has died.
    """
    owner = configured(options)
    said = [*(owner.wallet.warnings if owner.wallet else ()), *owner.missing]
    if options.env.get(page_delta_wallet.RAIL_ENVIRONMENT):  # without the opt-in, only spend_status says so
        said += owner.page_delta_missing
    for line in said:
        print(f"coinslot mcp: {line}", file=sys.stderr)
    anyio.run(_serve, owner, options.timeout_s, http_port)
    return 0


@dataclass(frozen=True, slots=True)
class Owner:
    """What the owner of the wallets has configured. What is missing, or cannot be used, is None.

    Attributes:
        missing: what keeps the tools from paying, as sentences.
        page_delta: of the tool page_delta.
        page_delta_missing: what keeps that tool from paying.
    """

    base_url: str
    caps: Caps | None
    wallet: Configuration | None
    missing: tuple[str, ...]
    page_delta: Configuration | None
    page_delta_missing: tuple[str, ...]


def configured(options: Options) -> Owner:
    """What the owner has configured. Raises InvalidCall: no server is named."""
    options = replace(options, max_price=Decimal(0))  # the caps have one
    missing: list[str] = []
    own_missing: list[str] = []
    caps = wallet = own = None
    try:
        caps = spending_caps.find(options.env)
    except InvalidCall as error:
        missing.append(error.sentences)
        own_missing.append(error.sentences)
    try:
        wallet = configuration.find(options)
    except CoinslotError as error:
        missing.append(error.sentences)
    base_url = options.server_without_wallet() if wallet is None else wallet.base_url
    try:
        own = page_delta_wallet.find(options, base_url=base_url, other=wallet)
    except CoinslotError as error:
        own_missing.append(error.sentences)
    return Owner(base_url, caps, wallet, tuple(missing), own, tuple(own_missing))


async def _serve(owner: Owner, timeout_s: float, http_port: int | None) -> None:
    async with serving(owner, timeout_s=timeout_s) as tools:
        if http_port is None:
            await _standard_streams(tools)
        else:
            await _http(tools, http_port)


@asynccontextmanager
async def serving(owner: Owner, *, timeout_s: float) -> AsyncIterator[McpServer]:
    """The owner's tools, with their connections. Raises InvalidCall: the library of the protocol is not installed."""
    try:
        from coinslot.capped_buyer import CappedBuyer
        from coinslot.delivered_answers import DeliveredAnswers
        from coinslot.mcp_server import McpServer
        from coinslot.page_delta import PageDelta
    except ImportError as error:
        raise InvalidCall(
            f"a library that the tools take is not installed ({error.name})",
            hint="Run: pip install 'coinslot-client[mcp]'",
        ) from None
    exchange = AsyncExchange(owner.base_url, timeout_s=timeout_s)
    buyer = looker = None
    if owner.caps is not None and owner.wallet is not None:
        buyer = CappedBuyer(owner.wallet, owner.caps, timeout_s=timeout_s)
    if owner.caps is not None and owner.page_delta is not None:
        looker = CappedBuyer(owner.page_delta, owner.caps, timeout_s=timeout_s)
    page_delta = PageDelta(looker, missing=owner.page_delta_missing, exchange=exchange)
    try:
        async with DeliveredAnswers() as delivered:
            yield McpServer(
                owner.base_url, exchange, buyer, missing=owner.missing, delivered=delivered, page_delta=page_delta
            )
    finally:
        for one in (exchange, buyer, looker):
            if one is not None:
                await one.aclose()


async def _standard_streams(tools: McpServer) -> None:
    from mcp.server.stdio import stdio_server

    # A read of standard input cannot be interrupted, and dying at any moment loses nothing.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    server = tools.server(version())
    try:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    except* BrokenPipeError:  # the host died before a message was written
        pass
    if _has_no_reader(sys.stdout.fileno()):  # or after it, and has read nothing
        raise BrokenPipeError


def _has_no_reader(descriptor: int) -> bool:
    """Whether the other end of a pipe or socket is closed. A host that only ends its server has closed only the input."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def _listening(port: int) -> socket.socket:
    """Raises InvalidCall."""
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise InvalidCall(f"cannot listen on {HOST}:{port}: {os.strerror(error.errno or 0)}") from None


async def _http(tools: McpServer, port: int) -> None:
    import uvicorn

    listening = _listening(port)
    # With this host it takes only requests whose Host and Origin are of this machine: no page of a browser can call it.
    app = gone_clients.watched(tools.server(version()).streamable_http_app(host=HOST))
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=3)
    await uvicorn.Server(config).serve(sockets=[listening])
