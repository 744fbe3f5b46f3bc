"""What the ledger says is owed: the payments that FAILED and are not refunded (shared/ledger/refunds.py)."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import cast

import redis
from redis.exceptions import RedisError

from shared.ledger import refunds
from shared.ledger.keys import REFUNDABLE
from shared.lua_script import Command
from shared.servers.ledger_connections import LedgerConnections
from shared.servers.ledger_servers import read_record
from shared.settings.service import Settings


@dataclass(frozen=True, slots=True)
class Debt:
    """A payment that is to be paid back to its payer.

    Attributes:
        payment: its id.
        asset: as in its offer; on the XRP Ledger with the issuer behind it, after a dot.
        amount: as in its offer: atomic units, on the XRP Ledger whole tokens.
        pay_to: who received it.
        settled_ms: when its settlement was recorded.
        plan: the open plan that has a transfer for it, or "".
    """

    payment: str
    network: str
    asset: str
    amount: str
    pay_to: str
    payer: str
    settled_ms: int
    plan: str

    @property
    def value(self) -> Decimal:
        """The amount as a number."""
        return Decimal(self.amount)


def read(ledger: redis.Redis) -> list[Debt]:
    """Everything that is owed, the oldest first. Raises RedisError."""
    return sorted(_read(ledger), key=lambda debt: (debt.settled_ms, debt.payment))


def plan(settings: Settings, debts: Sequence[Debt], plan_id: str) -> bool:
    """Put them into a plan. False when one of them has changed since it was read. Raises RedisError."""
    commands = {debt.payment: refunds.plan(debt.payment, plan_id, debt.plan) for debt in debts}
    return all(_run(settings, commands).values())


def close(settings: Settings, transfers: Iterable[tuple[Debt, str, str]]) -> list[Debt]:
    """Close each debt with a transfer. Returns those that are closed. Raises RedisError.

    Args:
        transfers: debt, transaction, and the key of the transfer in PAID_BACK.
    """
    paid = {debt.payment: (debt, refunds.close(debt.payment, *transfer)) for debt, *transfer in transfers}
    done = _run(settings, {payment: command for payment, (_, command) in paid.items()})
    return [debt for payment, (debt, _) in paid.items() if done[payment]]


def closed_by(ledger: redis.Redis, transfers: Sequence[str]) -> dict[str, str]:
    """The payments that transfers have closed before, by the keys of both in PAID_BACK. Raises RedisError."""
    found: dict[str, str] = {}
    for key in refunds.PAID_BACK if transfers else ():
        answers = cast(list[bytes | None], ledger.hmget(key, list(transfers)))
        found |= {name: payment.decode() for name, payment in zip(transfers, answers, strict=True) if payment}
    return found


def _read(ledger: redis.Redis) -> Iterator[Debt]:
    for key in REFUNDABLE:
        for payment in cast(list[bytes], ledger.zrange(key, 0, -1)):
            record = {name.decode(): value for name, value in read_record(ledger, payment.decode()).items()}
            if record.get("state") != b"FAILED" or {"refunded", "lost"} & record.keys():
                continue
            offer = json.loads(record["offer"])
            issuer = offer.get("extra", {}).get("issuer")
            yield Debt(
                payment=payment.decode(),
                network=offer["network"],
                asset=f"{offer['asset']}.{issuer}" if issuer else offer["asset"],
                amount=offer["amount"],
                pay_to=offer["payTo"],
                payer=record["payer"].decode(),
                settled_ms=int(record["settled"]),
                plan=record.get("refund_plan", b"").decode(),
            )


def _run(settings: Settings, commands: dict[str, Command]) -> dict[str, bool]:
    """Run a script for each payment. Returns when as many replicas have what it wrote as the settings say."""
    with contextlib.closing(LedgerConnections(settings.ledger_urls, replicas=settings.ledger_replicas)) as ledger:
        answers = ledger.send(list(commands.values()))
    for answer in answers:
        if isinstance(answer, RedisError):
            raise answer
    return {payment: answer == 1 for payment, answer in zip(commands, answers, strict=True)}
