"""The payment ledger: one record per payment, moved from state to state by one script per transition.

    (none) -> SETTLING -> SETTLED -> DONE          the way of a paid call; DONE is written by the worker
              SETTLING -> REJECTED                 the only settle attempt was refused, or the chain says so
              SETTLING -> UNKNOWN -> SETTLING      nobody knows: the same payment, repeated, asks again
              SETTLING -> (none)                   nothing was ever sent

A record has a *driver*: the call that holds its lease settles it and runs the job; every other copy of the call waits for
the result. When the lease has run out, the next copy of the same request becomes the driver. A definite refusal counts only
if it answers the one and only settle attempt: after any doubt only evidence from the chain decides.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from api.resp import Redis, Script
from shared.answers import answer_key, record_key

RECORD_TTL_S = 30 * 24 * 3600
"""How long a used payment is remembered. Far beyond the longest authorization we accept."""

_NOW = "local time = redis.call('TIME') local now = time[1] * 1000 + math.floor(time[2] / 1000)\n"

_LOOK_UP = (
    _NOW
    + """
local record = redis.call('HMGET', KEYS[1], 'fingerprint', 'state', 'lease', 'reason', 'receipt')
if not record[1] then
  if ARGV[2] ~= 'claim' then return {'absent'} end
  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'state', 'SETTLING', 'attempts', 1, 'created', now,
    'lease', now + ARGV[3], 'endpoint', ARGV[5], 'payer', ARGV[6], 'offer', ARGV[7])
  redis.call('EXPIRE', KEYS[1], ARGV[8])
  return {'settle', '1'}
end
if record[1] ~= ARGV[1] then return {'conflict'} end
local state = record[2]
if state == 'DONE' then
  local answer = redis.call('GET', KEYS[2])
  if answer then return {'answer', record[5], answer} end
  return {'expired'}
end
if state == 'REJECTED' then return {'rejected', record[4]} end
if tonumber(record[3]) > now then return {'wait'} end
if ARGV[2] == 'peek' then return {'idle'} end
if state == 'SETTLED' then
  redis.call('HSET', KEYS[1], 'lease', now + ARGV[4])
  return {'run', record[5]}
end
redis.call('HSET', KEYS[1], 'state', 'SETTLING', 'lease', now + ARGV[3])
return {'settle', tostring(redis.call('HINCRBY', KEYS[1], 'attempts', 1))}
"""
)
# Without a flag Redis refuses the script when memory is full: then nothing is claimed and nothing charged.
_CLAIM = "#!lua\n" + _LOOK_UP
_FIND = "#!lua flags=allow-oom\n" + _LOOK_UP

_SETTLED = (
    "#!lua flags=allow-oom\n"
    + _NOW
    + """
if redis.call('HGET', KEYS[1], 'state') == 'DONE' then return 0 end
redis.call('HSET', KEYS[1], 'state', 'SETTLED', 'receipt', ARGV[1], 'settled', now, 'lease', now + ARGV[2])
return 1
"""
)
_REJECTED = """#!lua flags=allow-oom
local record = redis.call('HMGET', KEYS[1], 'state', 'attempts')
if record[1] ~= 'SETTLING' then return 0 end
if record[2] ~= ARGV[3] then return 0 end
if ARGV[2] ~= 'evidence' and record[2] ~= '1' then return 0 end
redis.call('HSET', KEYS[1], 'state', 'REJECTED', 'reason', ARGV[1], 'lease', 0)
return 1
"""
_UNKNOWN = """#!lua flags=allow-oom
local record = redis.call('HMGET', KEYS[1], 'state', 'attempts')
if record[1] ~= 'SETTLING' or record[2] ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'state', 'UNKNOWN', 'lease', 0)
return 1
"""
_ABANDON = """#!lua flags=allow-oom
local record = redis.call('HMGET', KEYS[1], 'state', 'attempts')
if record[1] ~= 'SETTLING' or record[2] ~= ARGV[1] then return 0 end
if record[2] == '1' then return redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], 'state', 'UNKNOWN', 'lease', 0)
return 0
"""
_RELEASE = """#!lua flags=allow-oom
if redis.call('HGET', KEYS[1], 'state') ~= 'SETTLED' then return 0 end
redis.call('HSET', KEYS[1], 'lease', 0)
return 1
"""


class Verdict(enum.StrEnum):
    """What the caller that looked a payment up is to do."""

    ABSENT = "absent"
    """Nobody has presented this payment."""
    SETTLE = "settle"
    """You drive it: settle, then run. `attempts` counts settle calls, this one included."""
    RUN = "run"
    """You drive it: it is settled and nobody runs the job."""
    WAIT = "wait"
    """Another copy of this request drives it."""
    ANSWER = "answer"
    """Here is the stored answer."""
    EXPIRED = "expired"
    """It was answered too long ago."""
    REJECTED = "rejected"
    """It could not be settled, for `reason`."""
    IDLE = "idle"
    """It is this request's, and nobody drives it. Only `peek` says so: the others make you the driver."""
    CONFLICT = "conflict"
    """It paid for another request."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What the ledger says of a payment. Only the fields of the verdict are set."""

    verdict: Verdict
    attempts: int = 0
    receipt: bytes = b""
    """The settlement as JSON."""
    answer: bytes = b""
    """An encoded shared.outcome.Outcome."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is recorded of a payment when it is first presented. Never the body: only its fingerprint."""

    payment_id: str
    fingerprint: str
    endpoint: str
    payer: str
    offer: bytes
    settle_lease_ms: int
    run_lease_ms: int


class Ledger:
    """The API's side of the ledger. Every method is one round trip and one script; all raise RedisLost and RedisRefused."""

    def __init__(self, redis: Redis) -> None:
        self._claim = Script(redis, _CLAIM)
        self._find = Script(redis, _FIND)
        self._settled = Script(redis, _SETTLED)
        self._rejected = Script(redis, _REJECTED)
        self._unknown = Script(redis, _UNKNOWN)
        self._abandon = Script(redis, _ABANDON)
        self._release = Script(redis, _RELEASE)

    async def peek(self, claim: Claim) -> Entry:
        """Look a payment up without becoming its driver."""
        return await self._entry(self._find, claim, "peek")

    async def find(self, claim: Claim) -> Entry:
        """Look a payment up, and become the driver of one that is known and has none."""
        return await self._entry(self._find, claim, "find")

    async def claim(self, claim: Claim) -> Entry:
        """Look a payment up, and become the driver of one that is absent or has none."""
        return await self._entry(self._claim, claim, "claim")

    async def settled(self, claim: Claim, receipt: bytes) -> None:
        """Proof of payment: allowed from every state but DONE.

        Args:
            receipt: the settlement as JSON.
        """
        await self._settled((record_key(claim.payment_id),), receipt, claim.run_lease_ms)

    # The next three are for the driver of one attempt: a later driver's record is not theirs to change.

    async def rejected(self, claim: Claim, attempts: int, reason: str, *, by_evidence: bool = False) -> bool:
        """A definite refusal. False when it does not count, because an earlier attempt may have paid."""
        weight = "evidence" if by_evidence else "answer"
        return bool(await self._rejected((record_key(claim.payment_id),), reason, weight, attempts))

    async def unknown(self, claim: Claim, attempts: int) -> None:
        """The settle call's outcome is not known. The next copy of the request drives it again."""
        await self._unknown((record_key(claim.payment_id),), attempts)

    async def abandon(self, claim: Claim, attempts: int) -> bool:
        """The settle call was never sent. True when no attempt ever was, so the payment is forgotten."""
        return bool(await self._abandon((record_key(claim.payment_id),), attempts))

    async def release(self, claim: Claim) -> None:
        """The job could not be queued. The next copy of the request runs it."""
        await self._release((record_key(claim.payment_id),))

    async def _entry(self, script: Script, claim: Claim, mode: str) -> Entry:
        verdict, *rest = await script(
            (record_key(claim.payment_id), answer_key(claim.payment_id)),
            claim.fingerprint,
            mode,
            claim.settle_lease_ms,
            claim.run_lease_ms,
            claim.endpoint,
            claim.payer,
            claim.offer,
            RECORD_TTL_S,
        )
        match Verdict(verdict.decode()):
            case Verdict.SETTLE:
                return Entry(Verdict.SETTLE, attempts=int(rest[0]))
            case Verdict.RUN:
                return Entry(Verdict.RUN, receipt=rest[0])
            case Verdict.ANSWER:
                return Entry(Verdict.ANSWER, receipt=rest[0], answer=rest[1])
            case Verdict.REJECTED:
                return Entry(Verdict.REJECTED, reason=rest[0].decode())
            case other:
                return Entry(other)
