"""The tool page_delta: what changed on a page since its wallet's last look. It is one call of render-pro, paid with RLUSD.

The server compares with the last look of the same wallet, so the wallet pays for no other tool. What the wallet may
hold is limited: a stolen key is worth what it holds, whatever the caps say.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import anyio

from coinslot import openapi_tools
from coinslot.address import call_url
from coinslot.answer import Answer
from coinslot.async_exchange import AsyncExchange
from coinslot.capped_buyer import CappedBuyer
from coinslot.challenge import request_challenge
from coinslot.errors import CoinslotError, InvalidCall, Unreachable, WalletUnusable
from coinslot.openapi_tools import Tool, Unusable
from coinslot.progress import Progress
from coinslot.xrpl_signer import XrplSigner
from shared.money import Price

NAME = "page_delta"
ENDPOINT = "render-pro"
MAX_DAYS = 10
"""The wallet may hold this many times the day's cap."""

ARGUMENTS = ("url", "extract", "focus", "sinceCursor")
MEMBERS = (
    *("url", "finalUrl", "httpStatus", "title", "comparison", "cursor", "observationId", "observedAt"),
    *("markdown", "markdownTruncated", "focus", "hashes", "payment"),
)
"""What it takes and answers of render-pro's request and answer."""

_SUMMARY = (
    "Looks at a public page in a real browser, and says whether it changed since this wallet's last look at it, by how many "
    "lines, and what it says now. The first look is the baseline. Pays with RLUSD on the XRP Ledger."
)


class PageDelta:
    """The tool, of one server.

    Args:
        buyer: pays from the dedicated wallet, which is one of the XRP Ledger; None: the tool is not offered.
        missing: why it is not offered, as sentences.
        exchange: connections to the server.
    """

    def __init__(self, buyer: CappedBuyer | None, *, missing: Sequence[str], exchange: AsyncExchange) -> None:
        self._buyer = buyer
        self._missing = tuple(missing)
        self._exchange = exchange
        # The payments of an account are numbered: two that are signed at once would have one number.
        self._turn = anyio.Lock()

    async def listed(self, tools: Sequence[Tool]) -> tuple[Tool, ...]:
        """The tool, unless something is known to be missing. A node that does not answer is no reason: it may do so later.

        Args:
            tools: the server's.
        """
        try:
            await self.check()
        except Unreachable:
            pass
        except CoinslotError:
            return ()
        try:
            return (self.tool(tools),)
        except InvalidCall:
            return ()

    def tool(self, tools: Sequence[Tool]) -> Tool:
        """The tool, with the schemas of the server's render-pro. Raises InvalidCall: the server has no such call."""
        for sold in tools:
            if sold.endpoint == ENDPOINT:
                try:
                    return replace(
                        sold,
                        name=NAME,
                        summary=_SUMMARY,
                        input_schema=openapi_tools.narrowed(sold.input_schema, ARGUMENTS),
                        output_schema=openapi_tools.narrowed(sold.output_schema or {}, MEMBERS),
                    )
                except Unusable:
                    break
        raise InvalidCall(f"the server sells no {ENDPOINT} that {NAME} can use")

    async def check(self) -> CappedBuyer:
        """Who pays, after every check but that of the caps.

        Raises:
            InvalidCall: the owner has not opted in.
            WalletUnusable: the wallet holds too much, or is the recipient.
            CoinslotError: the node or the server does not answer as it should.
        """
        buyer = self._buyer
        if buyer is None:
            raise InvalidCall(" ".join(self._missing))
        caps, signer = buyer.caps, buyer.found.signer
        assert isinstance(signer, XrplSigner)
        url = call_url(buyer.found.base_url, ENDPOINT)
        quote = await request_challenge(self._exchange, url, b"{}", request_id=uuid.uuid4().hex)
        if not isinstance(quote, Answer) and any(one.pay_to == signer.address for one in quote.challenge.accepts):
            raise WalletUnusable(
                f"{NAME} is not offered: its wallet {signer.address} is the recipient of its payments",
                hint="Use a wallet that is not the seller's.",
            )
        held = await anyio.to_thread.run_sync(signer.balance)
        if held > caps.per_day * MAX_DAYS:
            raise WalletUnusable(
                f"{NAME} is not offered: its wallet {signer.address} holds {held:f} {signer.asset}, more than {MAX_DAYS} times "
                f"the day's cap of {caps.per_day:f}",
                hint="Move the rest to another account, or raise the cap.",
            )
        return buyer

    async def call(
        self, arguments: dict[str, Any], *, shown: Price | None, on_progress: Callable[[Progress], None]
    ) -> Answer:
        """Buy one look. `shown` is as in CappedBuyer.call. Raises CoinslotError."""
        async with self._turn:
            buyer = await self.check()
            return await buyer.call(ENDPOINT, arguments, shown=shown, on_progress=on_progress)

    async def status(self) -> dict[str, Any]:
        """Whether it can pay, and what its wallet may hold; or what is missing, as sentences."""
        try:
            buyer = await self.check()
        except CoinslotError as error:
            return {"ready": False, "missing": [error.sentences] if self._buyer else list(self._missing)}
        left, signer = await buyer.left(), buyer.found.signer
        return {
            "ready": True,
            "wallet": {"address": signer.address, "network": signer.network, "asset": signer.asset},
            "mayHold": f"{buyer.caps.per_day * MAX_DAYS:f}",
            "leftToday": f"{left.today:f}",
            "leftInTotal": f"{left.total:f}",
            "pins": str(buyer.pins(signer.rail).path),
        }


def narrowed(answer: Answer) -> tuple[str, dict[str, Any]] | None:
    """What changed, in a sentence, and MEMBERS of the answer; None when it has another form than render-pro's."""
    body = answer.body
    if not isinstance(body, dict) or not isinstance(body.get("comparison"), dict):
        return None
    comparison, since = body["comparison"], body["comparison"].get("previousObservedAt")
    sentences = {
        "new": "This is the wallet's first look at the page: the baseline of the next one.",
        "same": f"The page says the same as at the look of {since}.",
        "changed": f"The page changed since the look of {since}: lines added {comparison.get('addedLines')}, "
        f"removed {comparison.get('removedLines')}.",
        "removed": f"The page was there at the look of {since}, and now the site says that it is gone.",
    }
    return sentences.get(str(comparison.get("status")), ""), {name: body[name] for name in MEMBERS if name in body}
