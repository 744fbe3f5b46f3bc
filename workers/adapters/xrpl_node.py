"""One node of the XRP Ledger. Its answers are checked, and its own words are never shown to a caller."""

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from jobs.ports.xrpl import Amount, History, Point, Transaction, TrustLine, WalletState
from shared.nodes.connections import NodeFailed
from shared.nodes.xrpl_rpc import XrplError, XrplRpc
from shared.outcome import UpstreamFailed
from shared.x402.networks import XrplToken
from workers.adapters import xrpl_entries
from workers.adapters.xrpl_entries import READ_ERRORS, whole

REQUEST_S = 4.0
MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""A page of 100 transactions has some 400 KB; those of a market maker have ten times that."""
PAGE = 100
LINES = 400
"""Of trust lines in a page: the most that a node gives."""
MAX_PAGES = 12
"""Of transactions, or of trust lines to one issuer."""
STALE_S = 60
"""A ledger is validated every four seconds or so. A node whose newest is older is behind, or cut off."""

_GLOBAL_FREEZE, _REQUIRES_AUTHORIZATION, _CLAWBACK = 0x00400000, 0x00040000, 0x80000000
_THROTTLED = {429, 503}
_REASONS = {
    "amendmentBlocked": "stale_ledger",
    "lgrIdxMalformed": "stale_ledger",
    "lgrIdxsInvalid": "stale_ledger",
    "lgrNotFound": "stale_ledger",
    "lgrNotValidated": "stale_ledger",
    "noClosed": "stale_ledger",
    "noCurrent": "stale_ledger",
    "noNetwork": "stale_ledger",
    "notSynced": "stale_ledger",
    "slowDown": "rate_limited",
    "tooBusy": "rate_limited",
}
_FAILURES = {
    "bad_answer": "bad_content",
    "status": "http_status",
    "timeout": "timeout",
    "too_large": "too_large",
    "unreachable": "connection_refused",
}
_DETAILS = {
    "bad_content": "A node of the XRP Ledger answered what no node should.",
    "connection_refused": "A node of the XRP Ledger cannot be reached.",
    "http_status": "A node of the XRP Ledger refused the request.",
    "node_error": "A node of the XRP Ledger could not answer.",
    "rate_limited": "A node of the XRP Ledger has too much to do.",
    "stale_ledger": "A node of the XRP Ledger does not have the newest ledgers.",
    "timeout": "A node of the XRP Ledger did not answer in time.",
    "too_large": "A node of the XRP Ledger answered too much.",
    "wrong_network": "A node is of another network than it should be.",
}

Json = dict[str, Any]


class RippledNode:
    """A client of one server that has rippled's API: rippled itself, or Clio.

    Args:
        token: RLUSD of the network that the node must be of.
    """

    def __init__(self, url: str, token: XrplToken) -> None:
        self._rpc = XrplRpc(url, timeout_s=REQUEST_S, max_answer_bytes=MAX_ANSWER_BYTES)
        self._token = token

    def wallet(self, address: str, at_least: int, deadline: float) -> WalletState:
        """See the port."""
        try:
            return self._wallet(address, at_least, deadline)
        except READ_ERRORS:
            raise _failed("bad_content") from None

    def history(self, address: str, after: Point, through: int, most: int, deadline: float) -> History:
        """See the port."""
        try:
            return self._history(address, after, through, most, deadline)
        except READ_ERRORS:
            raise _failed("bad_content") from None

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._rpc.close()

    def _wallet(self, address: str, at_least: int, deadline: float) -> WalletState:
        _, newest = self._server(deadline, at_least)
        ledger = whole(newest["seq"])
        account = self._account(address, ledger, deadline)
        line, tokens = self._held(address, ledger, deadline) if account else (None, ())
        return WalletState(
            ledger=ledger,
            base_fee=xrpl_entries.xrp_to_drops(newest["base_fee_xrp"]),
            reserve_base=xrpl_entries.xrp_to_drops(newest["reserve_base_xrp"]),
            reserve_increment=xrpl_entries.xrp_to_drops(newest["reserve_inc_xrp"]),
            is_activated=account is not None,
            balance=xrpl_entries.drops(account["Balance"]) if account else 0,
            owner_count=whole(account["OwnerCount"]) if account else 0,
            line=line,
            tokens=tokens,
        )

    def _history(self, address: str, after: Point, through: int, most: int, deadline: float) -> History:
        info, _ = self._server(deadline, through)
        wanted = after.ledger if after.position is not None else after.ledger + 1
        has_from = xrpl_entries.contiguous_from(info["complete_ledgers"], through)
        if has_from is None:
            raise _failed("stale_ledger")
        first = max(wanted, has_from)
        found: list[Transaction] = []
        is_more = False
        for entries, starts_at, has_marker in self._pages(address, first, through, deadline):
            first, is_more = max(first, starts_at), has_marker
            page = [xrpl_entries.transaction(entry, address, self._token) for entry in entries]
            page.sort(key=_place)
            _require_order(found[-1:] + page, first, through)
            found += page
            if sum(_is_after(one, after) for one in found) > most:
                break
        found = [one for one in found if _is_after(one, after)]
        if is_more and not found:
            raise ValueError("pages without end")
        return History(tuple(found[:most]), is_complete=first == wanted, is_truncated=is_more or len(found) > most)

    def _pages(self, address: str, first: int, through: int, deadline: float) -> Iterator[tuple[list[Json], int, bool]]:
        """Entries, the first ledger that they are of, and whether there are more."""
        marker: Any = None
        for _ in range(MAX_PAGES):
            more = {"marker": marker} if marker is not None else {}
            page = self._ask(
                "account_tx",
                deadline,
                account=address,
                ledger_index_min=first,
                ledger_index_max=through,
                forward=True,
                limit=PAGE,
                **more,
            )
            if page["account"] != address or page.get("validated", True) is not True:
                raise ValueError("another account, or another ledger")
            if whole(page["ledger_index_max"]) < through:
                raise _failed("stale_ledger")
            last, marker = marker, page.get("marker")
            if marker is not None and marker == last:
                raise ValueError("the same page again")
            yield page["transactions"], whole(page["ledger_index_min"]), marker is not None
            if marker is None:
                return

    def _server(self, deadline: float, at_least: int) -> tuple[Json, Json]:
        """`server_info`, and what it says of the newest validated ledger."""
        info = self._ask("server_info", deadline)["info"]
        if info.get("network_id") != int(self._token.network.partition(":")[2]):
            raise _failed("wrong_network")
        newest = info.get("validated_ledger")
        if newest is None or whole(newest["seq"]) < at_least or whole(newest.get("age", 0)) > STALE_S:
            raise _failed("stale_ledger")
        return info, newest

    def _account(self, address: str, ledger: int, deadline: float) -> Json | None:
        try:
            found = self._ask("account_info", deadline, refusal="actNotFound", account=address, ledger_index=ledger)
        except _NotFound:
            return None
        data: Json = found["account_data"]
        if data["Account"] != address or found["ledger_index"] != ledger or found["validated"] is not True:
            raise ValueError("another account, or another ledger")
        return data

    def _held(self, address: str, ledger: int, deadline: float) -> tuple[TrustLine | None, tuple[Amount, ...]]:
        """The account's line to the issuer of the token, and the other tokens of its first page of lines."""
        pages = self._lines(address, ledger, deadline)
        lines, is_all = next(pages)
        own = next(filter(self._is_own, lines), None)
        tokens = [xrpl_entries.held(line) for line in lines if not self._is_own(line)]
        if own is None and not is_all:
            pages = self._lines(address, ledger, deadline, peer=self._token.issuer)
            own = next((line for lines, _ in pages for line in lines if self._is_own(line)), None)
        found = self._line(own, ledger, deadline) if own else None
        return found, tuple(token for token in tokens if token is not None)

    def _is_own(self, line: Json) -> bool:
        return (line["currency"], line["account"]) == (self._token.currency, self._token.issuer)

    def _line(self, line: Json, ledger: int, deadline: float) -> TrustLine:
        issuer = self._account(self._token.issuer, ledger, deadline)
        flags = whole(issuer["Flags"]) if issuer else 0
        return xrpl_entries.trust_line(
            line,
            is_globally_frozen=bool(flags & _GLOBAL_FREEZE),
            needs_authorization=bool(flags & _REQUIRES_AUTHORIZATION),
            allows_clawback=bool(flags & _CLAWBACK),
        )

    def _lines(self, address: str, ledger: int, deadline: float, **peer: str) -> Iterator[tuple[list[Json], bool]]:
        """Pages of trust lines, and whether each is the last one."""
        more: Json = {}
        for _ in range(MAX_PAGES):
            page = self._ask(
                "account_lines", deadline, account=address, ledger_index=ledger, limit=LINES, **peer, **more
            )
            if page["account"] != address or page["ledger_index"] != ledger:
                raise ValueError("another account, or another ledger")
            is_last = page.get("marker") is None
            yield page["lines"], is_last
            if is_last:
                return
            more = {"marker": page["marker"]}
        raise ValueError("pages without end")

    def _ask(self, method: str, deadline: float, *, refusal: str = "", **parameters: Any) -> Json:
        """The `result` of a method. Raises UpstreamFailed, and _NotFound when the node answers with the error `refusal`."""
        if time.monotonic() >= deadline:
            raise _failed("timeout")
        try:
            return self._rpc(method, **parameters)
        except XrplError as error:
            if refusal and error.code == refusal:
                raise _NotFound from None
            raise _failed(_REASONS.get(error.code, "node_error")) from None
        except NodeFailed as error:
            raise _failed("rate_limited" if error.status in _THROTTLED else _FAILURES[error.reason]) from None


class _NotFound(Exception):
    """There is no such account."""


def _place(transaction: Transaction) -> tuple[int, int]:
    return transaction.ledger, transaction.position


def _is_after(transaction: Transaction, point: Point) -> bool:
    if point.position is None:
        return transaction.ledger > point.ledger
    return _place(transaction) > (point.ledger, point.position)


def _require_order(transactions: Sequence[Transaction], first: int, through: int) -> None:
    """Each once, one page after the other, and all of the ledgers that were asked for."""
    places = [_place(transaction) for transaction in transactions]
    if any(later <= earlier for earlier, later in pairwise(places)):
        raise ValueError("a transaction twice, or out of order")
    if any(not first <= ledger <= through for ledger, _ in places):
        raise ValueError("a transaction of another ledger")


def _failed(reason: str) -> UpstreamFailed:
    return UpstreamFailed(_DETAILS[reason], reason=reason)
