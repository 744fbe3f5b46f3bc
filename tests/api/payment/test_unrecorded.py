"""Which settlements are recorded while only some servers of the ledger answer. The ledger is a double."""

from functools import partial
from typing import cast

import pytest

from api.payment.ledger import Ledger
from api.payment.ledger_terms import Recorded
from api.payment.unrecorded import UnrecordedSettlements
from api.redis_client import RedisLost, RedisRefused
from shared.ledger.keys import bucket_of

pytestmark = pytest.mark.anyio

IDS = [f"eip155:8453:0x833:0x{payer}:0x{number}" for number in range(2) for payer in ("1", "2")]


class LedgerDouble:
    """It takes what is in some buckets."""

    def __init__(self, why: Exception) -> None:
        self.lost: set[int] = set()
        self.asked: list[str] = []
        self.why = why

    async def receipt(self, payment_id: str) -> bytes:
        self.asked.append(payment_id)
        if bucket_of(payment_id) in self.lost:
            raise self.why
        return b""

    async def settled(self, payment_id: str, receipt: bytes, run_lease_ms: int) -> Recorded:
        return Recorded.NEW


@pytest.mark.parametrize("why", [RedisLost("gone"), RedisRefused("NOREPLICAS")])
async def test_a_lost_server_keeps_back_its_own_settlements_alone(why: Exception) -> None:
    """It is asked once in a round, and those of others are recorded."""
    ledger = LedgerDouble(why)
    unrecorded = UnrecordedSettlements(cast(Ledger, ledger))
    told: list[str] = []
    for payment_id in IDS:
        unrecorded.keep(payment_id, b"{}", on_recorded=partial(told.append, payment_id))
    first, other = bucket_of(IDS[0]), bucket_of(IDS[1])
    assert first != other
    ledger.lost = {first}
    assert (await unrecorded.run_once(), told) == (2, IDS[1::2])
    assert ledger.asked == [IDS[0], IDS[1], IDS[3]]
    with pytest.raises(type(why)):
        await unrecorded.run_once()
    ledger.lost = set()
    assert (await unrecorded.run_once(), told) == (2, [*IDS[1::2], *IDS[::2]])
