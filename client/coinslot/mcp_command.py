"""`coinslot mcp`: serves the calls as tools, over standard input and output, or streamable HTTP on this host."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from coinslot import configuration, sandbox_file, server_address, spending_caps
from coinslot.async_exchange import AsyncExchange
from coinslot.configuration import Configuration
from coinslot.errors import CoinslotError, InvalidCall
from coinslot.spending_caps import Caps
from shared.x402.networks import Rail

if TYPE_CHECKING:
    from coinslot.mcp_server import McpServer

HOST = "127.0.0.1"
"""No other: who can connect can spend up to the caps."""


def run(
    *,
    url: str | None,
    key_file: str | None,
    rail: Rail,
    rpc_url: str | None,
    timeout_s: float,
    http_port: int | None,
    env: Mapping[str, str],
    folder: Path,
) -> int:
    """Serve until the client goes away, or until a signal. Returns 0.

    Args:
        url, key_file, rpc_url: the options; None where they were not given.
        timeout_s: longest wait for one answer of the server that sells.
        http_port: on HOST; None: standard input and output.

    Raises:
        InvalidCall: no server is named, or the library of the protocol is not installed.
    """
    missing: list[str] = []
    found: Configuration | None = None
    caps: Caps | None = None
    try:
        caps = spending_caps.find(env)
    except InvalidCall as error:
        missing.append(_sentences(error))
    try:
        found = configuration.find(
            url=url,
            key_file=key_file,
            rail=rail,
            rpc_url=rpc_url,
            max_price=Decimal(0),  # the caps have one
            env=env,
            folder=folder,
        )
    except CoinslotError as error:
        missing.append(_sentences(error))
    base_url = _base_url(url, env, folder) if found is None else found.base_url
    for line in [*(found.warnings if found else ()), *missing]:
        print(f"coinslot mcp: {line}", file=sys.stderr)
    anyio.run(_serve, base_url, found, caps, tuple(missing), timeout_s, http_port)
    return 0


async def _serve(
    base_url: str,
    found: Configuration | None,
    caps: Caps | None,
    missing: tuple[str, ...],
    timeout_s: float,
    http_port: int | None,
) -> None:
    try:
        from coinslot.capped_buyer import CappedBuyer
        from coinslot.delivered_answers import DeliveredAnswers
        from coinslot.mcp_server import McpServer
    except ImportError as error:
        raise InvalidCall(
            f"a library that the tools take is not installed ({error.name})",
            hint="Run: pip install 'coinslot-client[mcp]'",
        ) from None
    exchange = AsyncExchange(base_url, timeout_s=timeout_s)
    buyer = None if found is None or caps is None else CappedBuyer(found, caps, timeout_s=timeout_s)
    try:
        async with DeliveredAnswers() as delivered:
            tools = McpServer(base_url, exchange, buyer, missing=missing, delivered=delivered)
            if http_port is None:
                await _standard_streams(tools)
            else:
                await _http(tools, http_port)
    finally:
        await exchange.aclose()
        if buyer is not None:
            await buyer.aclose()


async def _standard_streams(tools: McpServer) -> None:
    from mcp.server.stdio import stdio_server

    # A read of standard input cannot be interrupted, and dying at any moment loses nothing.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    server = tools.server(_version())
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _http(tools: McpServer, port: int) -> None:
    import uvicorn

    # With this host it takes only requests whose Host and Origin are of this machine: no page of a browser can call it.
    app = tools.server(_version()).streamable_http_app(host=HOST)
    config = uvicorn.Config(
        app, host=HOST, port=port, log_level="warning", access_log=False, timeout_graceful_shutdown=3
    )
    await uvicorn.Server(config).serve()


def _base_url(url: str | None, env: Mapping[str, str], folder: Path) -> str:
    """Of a server whose calls cannot be paid. Raises InvalidCall."""
    path = sandbox_file.find(env, folder)
    return server_address.find(url, env=env, sandbox=None if path is None else sandbox_file.read(path))


def _sentences(error: CoinslotError) -> str:
    return f"{error.detail}. {error.hint}".strip()


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    for distribution in ("coinslot-client", "coinslot"):
        try:
            return version(distribution)
        except PackageNotFoundError:
            continue
    return ""
