"""`coinslot catalogue`: list the calls that the server sells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from client import bazaar, sandbox_file, server_address
from client.exchange import Exchange
from client.output import Output


def run(output: Output, *, url: str | None, timeout_s: float, env: Mapping[str, str], folder: Path) -> int:
    """Print the catalogue. Returns 0. Raises CoinslotError, OSError."""
    path = sandbox_file.find(env, folder)
    sandbox = None if path is None or url else sandbox_file.read(path)
    base_url = server_address.find(url, env=env, sandbox=sandbox)
    with Exchange(base_url, timeout_s=timeout_s) as exchange:
        items = bazaar.fetch(exchange, base_url)
    output.result(
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
        _table(items),
    )
    return 0


def _table(items: Sequence[bazaar.Item]) -> str:
    # A summary could carry a line break, and a table row is one line.
    rows = [("NAME", "USDC", "SUMMARY")] + [
        (item.name, item.price.text() if item.price else "-", " ".join(item.summary.split())) for item in items
    ]
    name_width, price_width = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "\n".join(f"{name:<{name_width}}  {price:>{price_width}}  {summary}" for name, price, summary in rows)
