"""What the ledger says is owed: the payments that FAILED and are not refunded (shared/ledger/refunds.py)."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import cast

import redis
from redis.exceptions import RedisError

from shared.ledger import refunds
from shared.ledger.fence import fence, missing
from shared.ledger.keys import REFUNDABLE, bucket_of
from shared.lua_script import Command
from shared.servers.ledger_servers import of_bucket, read_record


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


def read(ledger: Sequence[redis.Redis]) -> list[Debt]:
    """Everything that is owed, the oldest first. Raises RedisError."""
    return sorted(_read(ledger), key=lambda debt: (debt.settled_ms, debt.payment))


def plan(ledger: Sequence[redis.Redis], debts: Sequence[Debt], plan_id: str, replicas: int) -> bool:
    """Put them into a plan. False when one of them has changed since it was read. Raises RedisError."""
    commands = {debt.payment: refunds.plan(debt.payment, plan_id, debt.plan) for debt in debts}
    return all(_run(ledger, commands, replicas).values())


def close(ledger: Sequence[redis.Redis], transfers: Iterable[tuple[Debt, str, str]], replicas: int) -> list[Debt]:
    """Close each debt with a transfer. Returns those that are closed. Raises RedisError.

    Args:
        transfers: debt, transaction, and the key of the transfer in PAID_BACK.
    """
    paid = {debt.payment: (debt, refunds.close(debt.payment, *transfer)) for debt, *transfer in transfers}
    done = _run(ledger, {payment: command for payment, (_, command) in paid.items()}, replicas)
    return [debt for payment, (debt, _) in paid.items() if done[payment]]


def closed_by(ledger: Sequence[redis.Redis], transfers: Sequence[str]) -> dict[str, str]:
    """The payments that transfers have closed before, by the keys of both in PAID_BACK. Raises RedisError."""
    found: dict[str, str] = {}
    for bucket, key in enumerate(refunds.PAID_BACK) if transfers else ():
        answers = cast(list[bytes | None], of_bucket(ledger, bucket).hmget(key, list(transfers)))
        found |= {name: payment.decode() for name, payment in zip(transfers, answers, strict=True) if payment}
    return found


def _read(ledger: Sequence[redis.Redis]) -> Iterator[Debt]:
    for bucket, key in enumerate(REFUNDABLE):
        for payment in cast(list[bytes], of_bucket(ledger, bucket).zrange(key, 0, -1)):
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


def _run(ledger: Sequence[redis.Redis], commands: dict[str, Command], replicas: int) -> dict[str, bool]:
    """Run a script for each payment. Returns when so many replicas have what it wrote."""
    done, used = {}, set()
    for payment, command in commands.items():
        server = of_bucket(ledger, bucket_of(payment))
        done[payment] = server.execute_command(*command) == 1  # type: ignore[no-untyped-call]
        used.add(server)
    for server in used:
        answers = [server.execute_command(*command) for command in fence(replicas)]  # type: ignore[no-untyped-call]
        if lack := missing(answers, replicas):
            raise RedisError(lack)
    return done
