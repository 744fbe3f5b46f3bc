"""Channels and their vouchers in the ledger, as the API uses them. Every method raises RedisLost and RedisRefused.

(none) -> RUNNING -> DONE     a voucher whose call was answered: charged, in the write that stores the answer (workers/)
          RUNNING -> VOID     a call that failed, or that nobody drives any more: not charged, and it may come again
"""

import asyncio
import random
import secrets
import time
from collections.abc import Sequence

import msgspec

from api.payment import transitions
from api.payment.ledger_terms import Channel, Claim, Entry, LookUp, Verdict
from api.payment.limits import Quota
from api.redis_client import Commands, Script
from shared.ledger.channels import (
    READS,
    REFUND_BEGIN,
    REFUNDS,
    ReadRequest,
    channel_key,
    read_key,
    voucher_keys,
)
from shared.ledger.keys import PREFIXES, bucket_in, bucket_of, bucket_of_payer, payment_keys
from shared.x402.evm_channel import Voucher

READ_TIMEOUT_S = 5.0
"""How long the claimer may take to read a channel from the chain."""
MOST_READS = 50
"""So many channels wait to be read at most: to ask for one that does not exist costs nothing. Those of deposits come first."""
_POLL_S = 0.01


class ChannelLedger:
    """One installation's channels.

    Args:
        replicated: as in api/payment/ledger.py.
    """

    def __init__(self, redis: Commands, replicated: Commands) -> None:
        self._redis = redis
        self._accept = Script(replicated, transitions.ACCEPT, is_repeatable=True)
        self._find = Script(replicated, transitions.FIND_VOUCHER, is_repeatable=True)
        self._opened = Script(redis, transitions.OPENED, is_repeatable=True)
        self._refund_begin = Script(replicated, REFUND_BEGIN)

    async def look_up(self, claim: Claim, how: LookUp) -> Entry:
        """Look a voucher up, and become the driver of its call where `how` says so: a new one reserves its price."""
        keys = voucher_keys(claim.payment_id)
        verdict, *rest = await (self._accept if how is LookUp.CLAIM else self._find)(
            **keys,
            **payer_keys(claim, keys["record"]),
            id=claim.payment_id,
            mode=how,
            fingerprint=claim.fingerprint,
            previous_fingerprint=claim.previous_fingerprint,
            run_lease_ms=claim.run_lease_ms,
            interval_ms=f"{claim.limit.interval_ms:.3f}",
            burst=claim.limit.burst,
            driver=caller_name(),
            endpoint=claim.endpoint,
            price=claim.reserve.price,
            max=claim.reserve.max_claimable,
            signature=claim.reserve.signature,
        )
        match Verdict(verdict.decode()):
            case Verdict.RUN if rest:
                quota = Quota(claim.limit, int(rest[0]), int(rest[1])) if rest[0] else None
                return Entry(Verdict.RUN, quota=quota)
            case Verdict.ANSWER:
                receipt, _, answer = rest[0].partition(b"\n")
                return Entry(Verdict.ANSWER, receipt=receipt, answer=answer)
            case Verdict.IDENTIFIED:
                return Entry(Verdict.IDENTIFIED, other=rest[0].decode())
            case Verdict.LIMITED:
                return limited(claim, rest)
            case Verdict.MISMATCH | Verdict.EXCEEDS as known:
                return Entry(known, channel=_channel(rest[0]))
            case other:
                return Entry(other)

    async def opened(self, deposit_id: str) -> None:
        """End the record of a deposit, once the channel's row has what the chain shows."""
        await self._opened(**payment_keys(deposit_id), id=deposit_id)

    async def state(self, voucher: Voucher) -> Channel | None:
        """What the ledger knows of a voucher's channel."""
        fields = [field for field in Channel.__dataclass_fields__ if field != "signature"]
        found = await self._redis.call("HMGET", _key(voucher), *fields, "sig")
        return None if found[0] is None else _channel(found)

    async def read(self, voucher: Voucher, *, has_deposit: bool = False) -> bool:
        """Have the claimer read a voucher's channel from the chain. False when it has not done so in time.

        Args:
            has_deposit: a deposit was just made into it.
        """
        if not has_deposit and await self._redis.call("LLEN", READS) >= MOST_READS:
            return False
        bucket = bucket_of_payer(voucher.network, voucher.payer)
        config = msgspec.json.encode(voucher.config).decode()
        ticket = secrets.token_hex(8)
        request = msgspec.json.encode(ReadRequest(_name(voucher), voucher.network, voucher.payer, config, ticket))
        await self._redis.call("LPUSH" if has_deposit else "RPUSH", READS, request)
        give_up_at, pause_s = time.monotonic() + READ_TIMEOUT_S, _POLL_S
        while time.monotonic() < give_up_at:
            await asyncio.sleep(pause_s)
            if await self._redis.call("EXISTS", read_key(bucket, ticket)):
                return True
            pause_s = min(2 * pause_s, 0.2)
        await self._redis.call("LREM", READS, 1, request)
        return False

    async def begin_refund(self, voucher: Voucher, wanted: int | None) -> tuple[str, Channel | None]:
        """Note that a payer wants the rest of a channel back. Returns a verdict of refund_begin.lua, and what belongs to it."""
        bucket = bucket_of_payer(voucher.network, voucher.payer)
        verdict, *rest = await self._refund_begin(
            channel=_key(voucher),
            refunds=REFUNDS[bucket],
            id=_name(voucher),
            max=voucher.max_claimable,
            wanted="" if wanted is None else wanted,
        )
        return verdict.decode(), _channel(rest[0]) if verdict == b"mismatch" else None

    async def refund_result(self, voucher: Voucher) -> bytes | None:
        """What the payer is told of the refund that was begun: a settlement as JSON; None while it is under way."""
        result: bytes | None = await self._redis.call("HGET", _key(voucher), "refund")
        return result


def payer_keys(claim: Claim, record: str) -> dict[str, str]:
    """The keys of the payer's rate and of the client's own identifier, by their names in scripts."""
    prefix = PREFIXES[bucket_in(record)]
    identifier = f"{prefix}identifier:{claim.payer}:{claim.endpoint}:{claim.identifier}" if claim.identifier else record
    return {"rate": f"{prefix}rate:{claim.payer}:{claim.endpoint}", "identifier": identifier}


def limited(claim: Claim, rest: Sequence[bytes]) -> Entry:
    """A payer that has to wait."""
    return Entry(Verdict.LIMITED, wait_ms=int(rest[0]), quota=Quota(claim.limit, 0, int(rest[1])))


def caller_name() -> str:
    """A name for a call of a script that may be sent again: under it the script knows that it is the same call."""
    return f"{random.getrandbits(64):x}"


def _name(voucher: Voucher) -> str:
    return f"0x{voucher.channel_id.hex()}"


def _key(voucher: Voucher) -> str:
    return channel_key(bucket_of(voucher.payment_id), _name(voucher))


def _channel(fields: Sequence[bytes | None]) -> Channel:
    balance, claimed, withdraw_at, refund_nonce, charged, inflight, done_top, top = (
        int(one or 0) for one in fields[:-1]
    )
    signature = (fields[-1] or b"").decode()
    return Channel(balance, claimed, withdraw_at, refund_nonce, charged, inflight, done_top, top, signature)
