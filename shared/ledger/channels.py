"""The ledger's keys of payment channels, and the scripts that move them (docs/channels.md has the states).

All keys of a channel and of its vouchers are in the payer's bucket. What was charged is ours to say; `balance`, `claimed`,
`leaving` and `refund_nonce` are the chain's, as the claimer read them at `block`: an older block changes nothing.
"""

from pathlib import Path
from typing import NamedTuple

import msgspec

from shared.ledger.keys import NOTE, PREFIXES, RECORDS, bucket_of, of_each_bucket
from shared.lua_script import NOW, load, piece

ANSWER_TTL_S = 600
"""How long a voucher's record and answer are kept after its end. A lost answer is fetched within minutes, and an older
voucher is refused by what was charged since. Kept as long as other payments, they would take 18 GB an hour at 2,500 calls/s
(3,705 bytes a call in the append-only file, measured)."""
ROTATION_MS = ANSWER_TTL_S * 1000 // 2
"""So long, and at most twice as long, a voucher may come after a higher one was charged. Of what was charged before that the
ledger knows the highest alone, so this is less than the life of records."""
VOID_AFTER_MS = 15_000
"""How long after the end of its lease a voucher's call is given up."""
REFUND_PAUSE_MS = 24 * 3600 * 1000
"""A channel is refunded once in this time: each refund and the next deposit cost the settler gas."""
REFUND_CALLS = 10
"""And not before so many paid calls since the last one. A payer can always withdraw at his own cost."""

SOLD = "sold:"
"""What fields of a channel's row begin with that count its charged calls: ``sold:<endpoint>:<price in atomic units>``."""

CHANNELS = of_each_bucket("channels")
"""By bucket: ZSET of channel ids. Score: when the row was made, in Unix milliseconds."""
CLAIMABLE = of_each_bucket("claimable")
"""By bucket: ZSET of channel ids with charges that are not claimed. Score: when to claim, in Unix milliseconds."""
RUNNING = of_each_bucket("running")
"""By bucket: ZSET of the vouchers whose call is not at its end. Score: the end of its driver's lease, in Unix milliseconds."""
REFUNDS = of_each_bucket("refunds")
"""By bucket: ZSET of the channels whose payer wants the rest back. Score: since when, in Unix milliseconds."""
READS = "coinslot:{00}:channel-reads"
"""LIST of ReadRequest: channels that the claimer is to read from the chain now."""
WATCH = "coinslot:{00}:channel-watch"
"""HASH that the claimer writes: `authorizer`, `network`, `withdraw_delay`, `min_deposit`, `handled_block`, `watched_at` (Unix
milliseconds of the claimer), `behind` (the buckets that it could not look at then), `claimer`, and what a claim costs now:
`claim_cost` (atomic units of the token)."""
LEASE = "coinslot:{00}:claimer"
"""Who claims: one process of an installation."""
AUTHORIZER = "coinslot:{00}:channel-authorizer"
"""The address that signs claims of this ledger's channels. Two ledgers with one authorizer would take one voucher twice, as
channels of both would have one id."""

_LUA = Path(__file__).with_name("lua")
STATE = piece(_LUA / "channel_state.lua")
"""Defines `channel_state`: what callers are told of a channel."""
RATE = piece(_LUA / "rate.lua")
"""Defines `rate_wait`, for every script that takes new calls of a payer."""

SYNC = load(_LUA / "sync.lua", NOW, NOTE)
REFUND_BEGIN = load(_LUA / "refund_begin.lua", NOW, STATE, REFUND_PAUSE_MS=REFUND_PAUSE_MS, REFUND_CALLS=REFUND_CALLS)
REFUND_END = load(_LUA / "refund_end.lua", NOW, NOTE)
VOID = load(_LUA / "void.lua", NOW, VOID_AFTER_MS=VOID_AFTER_MS)
TAKE_LEASE = load(_LUA / "lease.lua")
SHOW = load(_LUA / "show.lua", NOTE)
"""Before a claim is sent: from then on its voucher is no secret, and pays no call any more."""
CLAIMED = load(_LUA / "claimed.lua", NOW, NOTE)
"""Moves a channel out of CLAIMABLE when a final block shows that everything is claimed, or to a later time."""


class ReadRequest(NamedTuple):
    """One entry of READS, as a JSON list. The claimer sets `read_key(payer's bucket, ticket)` when it is done."""

    channel: str
    network: str
    payer: str
    config: str
    ticket: str


class Looked(NamedTuple):
    """How far the claimer has looked at the channels of a bucket: the last block, and when, in Unix milliseconds."""

    block: int
    at_ms: int


def behind(field: bytes | None) -> dict[int, Looked]:
    """What WATCH says of the buckets that the claimer could not look at: how far it had looked before."""
    return msgspec.json.decode(field or b"{}", type=dict[int, Looked])


def channel_key(bucket: int, channel: str) -> str:
    """Key of a channel's row. `channel`: its id, ``0x`` and 64 digits in lower case."""
    return f"{PREFIXES[bucket]}channel:{channel}"


def read_key(bucket: int, ticket: str) -> str:
    """Key that is set for a minute when a ReadRequest was handled."""
    return f"{PREFIXES[bucket]}channel-read:{ticket}"


def is_voucher(payment_id: str) -> bool:
    """Whether a payment id is a voucher's: ``eip155:<chain>:<asset>:<payer>:<channel id>.<max claimable>``."""
    return payment_id.startswith("eip155:") and "." in payment_id


def channel_of(payment_id: str) -> str:
    """The channel of a voucher's id."""
    return payment_id.rsplit(":", 1)[1].partition(".")[0]


def voucher_keys(payment_id: str) -> dict[str, str]:
    """The keys of one voucher, by their names in scripts: its record, its answer, its channel, RUNNING of its bucket."""
    bucket = bucket_of(payment_id)
    prefix = PREFIXES[bucket]
    return {
        "record": RECORDS[bucket] + payment_id,
        "answer": f"{prefix}answer:{payment_id}",
        "channel": channel_key(bucket, channel_of(payment_id)),
        "running": RUNNING[bucket],
    }
