"""`coinslot catalogue`: list the calls that the server sells."""

from typing import Any

from coinslot import bazaar
from coinslot.bazaar import Item
from coinslot.blocking_exchange import BlockingExchange, completed
from coinslot.options import Options
from coinslot.output import Output


def run(options: Options, output: Output) -> int:
    """Print the catalogue. Returns 0. Raises CoinslotError, OSError."""
    base_url = options.server_without_wallet()
    with BlockingExchange(base_url, timeout_s=options.timeout_s) as exchange:
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
