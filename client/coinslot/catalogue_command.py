"""`coinslot catalogue`: list the calls that the server sells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coinslot import bazaar, sandbox_file, server_address
from coinslot.bazaar import Item
from coinslot.blocking_exchange import BlockingExchange, completed
from coinslot.output import Output


def run(output: Output, *, url: str | None, timeout_s: float, env: Mapping[str, str], folder: Path) -> int:
    """Print the catalogue. Returns 0. Raises CoinslotError, OSError."""
    path = sandbox_file.find(env, folder)
    sandbox = None if path is None or url else sandbox_file.read(path)
    base_url = server_address.find(url, env=env, sandbox=sandbox)
    with BlockingExchange(base_url, timeout_s=timeout_s) as exchange:
        items = completed(bazaar.fetch(exchange, base_url))
    output.table(
        {"items": [_document(item) for item in items]},
        ("NAME", *bazaar.ASSETS, "SUMMARY"),
        [_row(item) for item in items],
    )
    return 0


def _document(item: Item) -> dict[str, Any]:
    prices = {asset: price.text() for asset, price in item.prices.items()}
    asset = next(iter(prices), None)
    return {
        "name": item.name,
        "price": None if asset is None else prices[asset],
        "asset": asset,
        "prices": prices,
        **({"channelDeposit": item.channel_deposit.text()} if item.channel_deposit else {}),
        "summary": item.summary,
        "url": item.url,
    }


def _row(item: Item) -> tuple[str, ...]:
    prices = (item.prices[asset].text() if asset in item.prices else "-" for asset in bazaar.ASSETS)
    return item.name, *prices, " ".join(item.summary.split())  # it could carry a line break, and a row is one line
