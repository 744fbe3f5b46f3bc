"""`coinslot catalogue`: list the calls that the server sells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from coinslot import bazaar, sandbox_file, server_address
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
        {
            "items": [
                {
                    "name": item.name,
                    "price": None if item.price is None else item.price.text(),
                    "asset": None if item.price is None else "USDC",
                    "summary": item.summary,
                    "url": item.url,
                }
                for item in items
            ]
        },
        ("NAME", "USDC", "SUMMARY"),
        # A summary could carry a line break, and a table row is one line.
        [(item.name, item.price.text() if item.price else "-", " ".join(item.summary.split())) for item in items],
    )
    return 0
