"""The payment ledger: one record per payment, moved from state to state by one script per transition.

    (none) -> SETTLING -> SETTLED -> DONE          the way of a paid call; DONE is written by the worker
              SETTLING -> REJECTED                 the only settle attempt was refused, or the chain says so
              SETTLING -> UNKNOWN -> SETTLING      nobody knows: the same payment, repeated, asks again
              SETTLING -> (none)                   nothing was ever sent
                          SETTLED -> FAILED        charged, and not answered within a day: refundable (shared/ledger/refunds.py)
    REJECTED, UNKNOWN  -> SETTLED                  proof of payment overrules everything but an end

A record has a *driver*: the call that holds its lease settles the payment and runs the job. Every other copy of the call waits
for the result. When the lease has run out, the next copy of the same request becomes the driver; if none comes,
api/payment/reconcile.py examines the payment. A definite refusal counts only if it answers the one and only settle attempt:
after any doubt only evidence from the chain decides. Every transition is a line in the journal.
"""

import contextlib
import random
from collections.abc import Sequence
from typing import Any

from api.payment import transitions
from api.payment.channel_ledger import ChannelLedger, caller_name, limited, payer_keys
from api.payment.ledger_terms import Claim, Doubtful, Entry, LookUp, Recorded, Settled, Verdict
from api.payment.limits import Quota
from api.payment.listing_ledger import ListingLedger
from api.redis_client import Commands, RedisLost, RedisRefused, Script
from shared.ledger.channels import is_voucher
from shared.ledger.keys import (
    BUCKETS,
    JOURNAL,
    LOST,
    OPEN,
    PREFIXES,
    RECHECK,
    RECORDS,
    REFUNDABLE,
    bucket_in,
    bucket_of,
    payment_keys,
    record_key,
)
from shared.lua_script import Command
from shared.observability import tracing


class Ledger:
    """The ledger as the API uses it. Every method but `release` raises RedisLost and RedisRefused. What is about one payment
    takes one round trip and one script.

    Args:
        redis: all servers (api/ledger_servers.py).
        replicated: the same Redis for what is reported to a caller or followed by a settle call, where a failover must not
            undo it (api/replicated.py). What can be made again takes the other: a settlement is found on the chain.
    """

    def __init__(self, redis: Commands, replicated: Commands | None = None) -> None:
        self._redis = redis
        self._replicated = replicated = replicated or redis
        self._claim = Script(replicated, transitions.CLAIM, is_repeatable=True)
        self._find = Script(replicated, transitions.FIND, is_repeatable=True)
        self._settled = Script(redis, transitions.SETTLED, is_repeatable=True)
        self._rejected = Script(replicated, transitions.REJECTED)
        self._unknown = Script(redis, transitions.UNKNOWN)
        self._abandon = Script(replicated, transitions.ABANDON)
        self._release = Script(redis, transitions.RELEASE)
        self._attempt = Script(replicated, transitions.ATTEMPT)
        self._delivered = Script(redis, transitions.DELIVERED)
        self._take = Script(redis, transitions.TAKE)
        self._closed = Script(redis, transitions.CLOSED)
        self._take_settled = Script(redis, transitions.TAKE_SETTLED)
        self._taken_back = Script(redis, transitions.TAKEN_BACK)
        self._lost: dict[int, list[int]] = {}
        self.channels = ChannelLedger(redis, replicated)
        """What is about channels and their vouchers."""
        self.listings = ListingLedger(redis, replicated)
        """Which payments go to the facilitator that lists them."""

    async def offer(self, payment_id: str) -> bytes | None:
        """The offer that a payment was claimed for, as it is in the claim; None when nobody has presented the payment."""
        offer: bytes | None = await self._replicated.call("HGET", record_key(payment_id), "offer")
        return offer

    async def has_claim(self, claim: Claim) -> bool:
        """Whether a payment was claimed before, for the same offer, or as a voucher for the same price."""
        field, value = "offer", claim.offer
        if is_voucher(claim.payment_id):
            field, value = "price", str(claim.reserve.price).encode()
        return bool(await self._replicated.call("HGET", record_key(claim.payment_id), field) == value)

    async def receipt(self, payment_id: str) -> bytes:
        """The receipt of a payment whose settlement is recorded; empty for any other payment."""
        receipt: bytes | None = await self._redis.call("HGET", record_key(payment_id), "receipt")
        return receipt or b""

    @tracing.traced("ledger")
    async def look_up(self, claim: Claim, how: LookUp) -> Entry:
        """Look a payment up, and become its driver where `how` says so.

        Only a payment that was absent counts for the payer's rate. RedisRefused with CLAIM: nothing was claimed, because the
        ledger takes no new payments.
        """
        if is_voucher(claim.payment_id):
            return await self.channels.look_up(claim, how)
        return await self._entry(self._claim if how is LookUp.CLAIM else self._find, claim, how)

    async def peek(self, claim: Claim) -> Entry:
        """Look a payment up without becoming its driver."""
        return await self.look_up(claim, LookUp.PEEK)

    async def resume(self, claim: Claim) -> Entry:
        """Look a payment up, and become the driver of one that is settled for the same offer and has none."""
        return await self.look_up(claim, LookUp.RESUME if await self.has_claim(claim) else LookUp.PEEK)

    async def find(self, claim: Claim) -> Entry:
        """Look a payment up, and become the driver of one that is known and has none."""
        return await self.look_up(claim, LookUp.FIND)

    async def claim(self, claim: Claim) -> Entry:
        """Look a payment up, and become the driver of one that is absent or has none."""
        return await self.look_up(claim, LookUp.CLAIM)

    @tracing.traced("ledger")
    async def settled(self, payment_id: str, receipt: bytes, run_lease_ms: int) -> Recorded:
        """Record a proven settlement, from every state but DONE and FAILED.

        Args:
            receipt: the settlement as JSON.
            run_lease_ms: how long the caller drives the payment; 0 when it will not run the job.
        """
        keys = payment_keys(payment_id)
        recheck = RECHECK[bucket_in(keys["record"])]
        return Recorded(
            await self._settled(
                **keys,
                recheck=recheck,
                id=payment_id,
                receipt=receipt,
                run_lease_ms=run_lease_ms,
                caller=caller_name(),
            )
        )

    # The next methods are for the driver of one attempt. They change nothing when a later driver has taken over.

    async def rejected(self, payment_id: str, attempts: int, reason: str, *, by_evidence: bool = False) -> bool:
        """Record a definite refusal. False when it does not count, because an earlier attempt may have paid."""
        weight = "evidence" if by_evidence else "answer"
        keys = payment_keys(payment_id)
        return bool(await self._rejected(**keys, id=payment_id, attempts=attempts, reason=reason, weight=weight))

    async def unknown(self, payment_id: str, attempts: int) -> None:
        """Record that the settle call's outcome is unknown. The next copy of the request becomes the driver."""
        await self._unknown(**payment_keys(payment_id), id=payment_id, attempts=attempts)

    async def abandon(self, payment_id: str, attempts: int) -> bool:
        """Record that the settle call was not sent. True when no attempt was ever sent: the payment is forgotten."""
        return bool(await self._abandon(**payment_keys(payment_id), id=payment_id, attempts=attempts))

    async def attempt(self, payment_id: str, attempts: int, settle_lease_ms: int) -> int:
        """Begin one more settle call. Returns its number, or 0 when somebody else has become the driver."""
        keys = payment_keys(payment_id)
        return int(await self._attempt(**keys, id=payment_id, attempts=attempts, settle_lease_ms=settle_lease_ms))

    async def release(self, payment_id: str) -> None:
        """Give up the lease of a job that nobody runs or whose answer was not stored. The next copy of the request runs it.
        Raises nothing: a lease ends by itself, too."""
        with contextlib.suppress(RedisLost, RedisRefused):
            await self._release(record=record_key(payment_id))

    async def undelivered(self, claim: Claim) -> None:
        """Note that the caller hung up before the answer of this payment was written. Raises nothing."""
        with contextlib.suppress(RedisLost, RedisRefused):
            await self._redis.call("SET", _undelivered_key(claim), claim.payment_id, "PX", claim.undelivered_ms)

    async def prolong_undelivered(self, claim: Claim) -> None:
        """Begin that time anew, unless the payer has got the answer meanwhile. Raises nothing."""
        with contextlib.suppress(RedisLost, RedisRefused):
            await self._redis.call("PEXPIRE", _undelivered_key(claim), claim.undelivered_ms)

    async def delivered(self, claim: Claim) -> None:
        """Note that the payer has the answer of this payment: the next one is for another call. Raises nothing."""
        with contextlib.suppress(RedisLost, RedisRefused):
            await self._delivered(undelivered=_undelivered_key(claim), id=claim.payment_id)

    async def take_doubtful(self, count: int, lease_ms: int) -> list[Doubtful]:
        """Take doubtful payments; one caller gets each. Marks as FAILED what was settled and not answered within a day.

        Those of a server that does not answer are left out. RedisLost: none answers.
        """
        taken: list[Sequence[bytes]] = []
        for bucket in await self._due(OPEN):
            taken += await self._take(
                open=OPEN[bucket],
                journal=JOURNAL[bucket],
                refundable=REFUNDABLE[bucket],
                count=count - len(taken),
                probe_lease_ms=lease_ms,
                records=RECORDS[bucket],
            )
            if len(taken) == count:
                break
        return [
            Doubtful(
                payment_id=named.decode(),
                state=state.decode(),
                attempts=int(attempts),
                valid_before=int(valid_before),
                offer=offer,
                payer=payer.decode(),
                payment=payment,
                endpoint=endpoint.decode(),
                facilitator=facilitator.decode(),
            )
            for named, state, attempts, valid_before, offer, payer, payment, endpoint, facilitator in taken
        ]

    async def close(self, payment_id: str) -> None:
        """Close a refused payment that is still not on the chain."""
        await self._closed(index=OPEN[bucket_of(payment_id)], id=payment_id)

    async def take_settled(self, count: int) -> list[Settled]:
        """Take settled payments to look for on the chain. Each comes again later until it is `kept` or `taken_back`.

        Those of a server that does not answer are left out. RedisLost: none answers.
        """
        taken: list[Sequence[bytes]] = []
        for bucket in await self._due(RECHECK):
            taken += await self._take_settled(
                recheck=RECHECK[bucket], count=count - len(taken), records=RECORDS[bucket]
            )
            if len(taken) == count:
                break
        return [Settled(named.decode(), offer, payer.decode(), int(at)) for named, offer, payer, at in taken]

    async def kept(self, payment_id: str) -> None:
        """End the check of a payment that is still on the chain, or that nobody can check."""
        await self._closed(index=RECHECK[bucket_of(payment_id)], id=payment_id)

    async def taken_back(self, payment_id: str, asset: tuple[str, str], window_ms: int) -> bool:
        """Record that the chain no longer shows a payment. False when another process has recorded it before.

        Args:
            asset: network and asset of its offer, for the count of `lost_lately`.
            window_ms: how long it counts, in milliseconds.
        """
        bucket = bucket_of(payment_id)
        return bool(
            await self._taken_back(
                record=record_key(payment_id),
                recheck=RECHECK[bucket],
                journal=JOURNAL[bucket],
                lost=LOST[bucket],
                lost_of_rail=_lost_key(bucket, asset),
                id=payment_id,
                window_ms=window_ms,
            )
        )

    async def lost_lately(self, assets: Sequence[tuple[str, str]], window_ms: int) -> list[int]:
        """How many payments of each rail the chain took back in the last `window_ms`.

        A server that does not answer counts with what it said last. RedisLost: none answers.
        """
        keys = [[_lost_key(bucket, asset) for asset in assets] for bucket in range(BUCKETS)]
        commands: list[Command] = [
            ("EVAL", transitions.LOST_LATELY.text, len(assets), *of_bucket, window_ms) for of_bucket in keys
        ]
        self._lost |= await self._of_each_bucket(commands)
        return [sum(of_rail) for of_rail in zip(*self._lost.values(), strict=True)]

    async def _due(self, index: Sequence[str]) -> list[int]:
        """The buckets of which something is due, in any order: no bucket comes before another each time."""
        due = await self._of_each_bucket([transitions.DUE.eval({"index": key}) for key in index])
        buckets = [bucket for bucket, count in due.items() if count]
        random.shuffle(buckets)
        return buckets

    async def _of_each_bucket(self, commands: Sequence[Command]) -> dict[int, Any]:
        """The answers to one command for each bucket, in one write, without those of servers that do not answer.

        Raises RedisLost when none does, and RedisRefused.
        """
        answers = await self._redis.batch(commands)
        answered = {bucket: answer for bucket, answer in enumerate(answers) if not isinstance(answer, RedisLost)}
        if not answered:
            raise answers[0]
        if refused := next((answer for answer in answered.values() if isinstance(answer, RedisRefused)), None):
            raise refused
        return answered

    async def _entry(self, script: Script, claim: Claim, mode: str) -> Entry:
        keys = payment_keys(claim.payment_id)
        record = keys["record"]
        prefix = PREFIXES[bucket_in(record)]
        verdict, *rest = await script(
            **keys,
            **payer_keys(claim, record),
            token=f"{prefix}token:{claim.token}" if claim.token else record,
            undelivered=_undelivered_key(claim) if claim.undelivered_ms else record,
            id=claim.payment_id,
            mode=mode,
            fingerprint=claim.fingerprint,
            previous_fingerprint=claim.previous_fingerprint,
            settle_lease_ms=claim.settle_lease_ms,
            run_lease_ms=claim.run_lease_ms,
            interval_ms=f"{claim.limit.interval_ms:.3f}",
            burst=claim.limit.burst,
            valid_before=claim.valid_before,
            last_claim=claim.last_claim.at,
            driver=caller_name(),
            endpoint=claim.endpoint,
            payer=claim.payer,
            offer=claim.offer,
            payment=claim.payment,
        )
        match Verdict(verdict.decode()):
            case Verdict.SETTLE:
                quota = Quota(claim.limit, int(rest[1]), int(rest[2])) if rest[1] else None
                return Entry(Verdict.SETTLE, attempts=int(rest[0]), quota=quota, facilitator=rest[3].decode())
            case Verdict.RUN:
                return Entry(Verdict.RUN, receipt=rest[0])
            case Verdict.ANSWER:
                wait_ms = int(rest[2]) if len(rest) > 2 else 0
                return Entry(Verdict.ANSWER, receipt=rest[0], answer=rest[1], wait_ms=wait_ms)
            case Verdict.REJECTED:
                return Entry(Verdict.REJECTED, reason=rest[0].decode())
            case Verdict.FAILED:
                return Entry(Verdict.FAILED, receipt=rest[0], refund=rest[1].decode())
            case Verdict.WAIT | Verdict.IDLE as known:
                return Entry(known, receipt=rest[0])
            case Verdict.IDENTIFIED:
                return Entry(Verdict.IDENTIFIED, other=rest[0].decode())
            case Verdict.LIMITED:
                return limited(claim, rest)
            case other:
                return Entry(other)


def _undelivered_key(claim: Claim) -> str:
    """Holds the payment whose answer to this request was not delivered to the payer."""
    return f"{PREFIXES[bucket_of(claim.payment_id)]}undelivered:{claim.payer}:{claim.fingerprint}"


def _lost_key(bucket: int, asset: tuple[str, str]) -> str:
    return f"{LOST[bucket]}:{asset[0]}:{asset[1]}"
