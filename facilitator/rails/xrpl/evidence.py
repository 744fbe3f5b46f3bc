"""What the XRP Ledger shows: what became of a transaction, accounts, trust lines and tickets.

The rule of finality (xrpl.org, "Finality of Results"): a result counts only from a validated ledger. That there is no result
counts only when the node says that it has searched every ledger in which there could be one.
"""

import enum
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from facilitator.rails.xrpl.clock import RIPPLE_EPOCH
from facilitator.rails.xrpl.node import XrplNode
from shared.nodes.xrpl_rpc import XrplError

SEARCHED_LEDGERS = 250
"""How many ledgers before a payment's last one are searched: a quarter of an hour, less than the history that nodes keep."""
_MOST_PAGES = 3
_MOST_DIGITS = 100

Json = dict[str, Any]


class Status(enum.Enum):
    """What became of a transaction."""

    SETTLED = "settled"
    """It is validated and was executed."""
    FAILED = "failed"
    """It is validated and only cost its fee. That is final."""
    OPEN = "open"
    """The node has it, but no validated ledger has it yet."""
    ABSENT = "absent"
    """All ledgers were searched, and none has it."""
    UNKNOWN = "unknown"
    """The node did not find it, but does not have all ledgers."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a node shows of a transaction.

    Attributes:
        at: close time of its ledger, Unix seconds.
        value: how much of the token arrived; 0 when none did.
        token: currency and issuer.
    """

    status: Status
    at: int = 0
    payer: str = ""
    pay_to: str = ""
    value: Decimal = Decimal(0)
    token: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class AccountRoot:
    """An account.

    Attributes:
        balance: drops.
        transfer_rate: how many of its tokens a holder spends for each one that arrives.
    """

    sequence: int
    balance: int
    flags: int
    regular_key: str
    transfer_rate: Decimal


@dataclass(frozen=True, slots=True)
class TrustLine:
    """A trust line, seen from its holder. It is the issuer who freezes and authorizes it."""

    balance: Decimal
    limit: Decimal
    is_frozen: bool
    is_authorized: bool


class XrplLedger:
    """Reads the ledger through one node. Every method raises what is in NODE_ERRORS."""

    def __init__(self, node: XrplNode) -> None:
        self._node = node

    async def outcome(self, transaction: str, *, through: int) -> Outcome:
        """What became of a transaction in the ledgers up to `through`."""
        try:
            found = await self._node.ask(
                "tx", transaction=transaction, min_ledger=max(1, through - SEARCHED_LEDGERS), max_ledger=through
            )
        except XrplError as no:
            if no.code != "txnNotFound":
                raise
            return Outcome(Status.ABSENT if no.result.get("searched_all") is True else Status.UNKNOWN)
        if found["hash"] != transaction:
            raise ValueError("another transaction")
        if found.get("validated") is not True:
            return Outcome(Status.OPEN)
        body, meta = found["tx_json"], found["meta"]
        at = int(body.get("date") or found["date"]) + RIPPLE_EPOCH
        if meta["TransactionResult"] != "tesSUCCESS":
            return Outcome(Status.FAILED, at=at, payer=body["Account"])
        delivered = meta["delivered_amount"]
        if not isinstance(delivered, dict):
            return Outcome(Status.SETTLED, at=at, payer=body["Account"], pay_to=body["Destination"])
        return Outcome(
            Status.SETTLED,
            at=at,
            payer=body["Account"],
            pay_to=body["Destination"],
            value=_decimal(delivered["value"]),
            token=(delivered["currency"], delivered["issuer"]),
        )

    async def account(self, address: str, *, ledger: str = "current") -> tuple[AccountRoot | None, int]:
        """An account, or None when it does not exist, and the index of the ledger that was read."""
        try:
            found = await self._node.ask("account_info", account=address, ledger_index=ledger)
        except XrplError as no:
            if no.code != "actNotFound":
                raise
            return None, 0
        data = found["account_data"]
        root = AccountRoot(
            sequence=int(data["Sequence"]),
            balance=int(data["Balance"]),
            flags=int(data["Flags"]),
            regular_key=str(data.get("RegularKey", "")),
            transfer_rate=Decimal(int(data.get("TransferRate", 0)) or 10**9).scaleb(-9),
        )
        return root, int(found.get("ledger_index", 0))

    async def trust_line(self, holder: str, currency: str, issuer: str) -> TrustLine | None:
        """A holder's trust line to an issuer in the open ledger; None when there is none."""
        try:
            async for line in self._pages("account_lines", "lines", account=holder, peer=issuer):
                if line["currency"] == currency and line["account"] == issuer:
                    return TrustLine(
                        _decimal(line["balance"]),
                        _decimal(line["limit"]),
                        bool(line.get("freeze_peer") or line.get("deep_freeze_peer")),
                        bool(line.get("peer_authorized")),
                    )
        except XrplError as no:
            if no.code != "actNotFound":
                raise
        return None

    async def has_ticket(self, account: str, ticket: int, *, ledger: str = "current") -> bool:
        """Whether an account still has a ticket."""
        async for found in self._pages("account_objects", "account_objects", ledger, account=account, type="ticket"):
            if found.get("TicketSequence") == ticket:
                return True
        return False

    async def is_sequence_used(self, account: str, sequence: int, ticket: int) -> tuple[bool, int]:
        """Whether a validated ledger has used the sequence or the ticket, and the index of the ledger that was read."""
        root, index = await self.account(account, ledger="validated")
        if root is None:
            return False, index
        if ticket:
            is_made = root.sequence > ticket
            return is_made and not await self.has_ticket(account, ticket, ledger=str(index)), index
        return root.sequence > sequence, index

    async def base_fee(self) -> int:
        """The least fee of a transaction, in drops."""
        return int((await self._node.ask("fee"))["drops"]["base_fee"])

    async def _pages(self, method: str, name: str, ledger: str = "current", **parameters: Any) -> Any:
        where: int | str = int(ledger) if ledger.isdigit() else ledger
        for _ in range(_MOST_PAGES):
            found = await self._node.ask(method, ledger_index=where, limit=400, **parameters)
            for entry in found[name]:
                yield entry
            if found.get("marker") is None:
                return
            parameters["marker"] = found["marker"]


def _decimal(text: object) -> Decimal:
    """The value of a number as nodes write it. Some have an exponent."""
    value = Decimal(str(text))
    if not value.is_finite() or abs(value.adjusted()) > _MOST_DIGITS:
        raise ValueError("not a number that the ledger has")
    return value
