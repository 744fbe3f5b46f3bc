"""The transitions of a payment: each is one script of the folder `lua`, so it happens wholly or not at all.

All keys of a script are of one bucket, also those that it makes out of what it finds. Scripts that only move what is already
paid for have the flag `allow-oom`: a full Redis takes no new payment and still completes those that it has.
"""

from pathlib import Path

from shared.ledger.channels import ANSWER_TTL_S, RATE, ROTATION_MS, STATE
from shared.ledger.keys import FREE_RERUNS, NOTE, RERUN_MS, RERUN_WINDOW_MS
from shared.lua_script import NOW, load

RECORD_TTL_S = 30 * 24 * 3600
"""How long a used payment is remembered. Far beyond the longest authorization we accept."""
VOUCHER_TTL_S = 24 * 3600
"""How long a voucher's record is kept whose call has no end. It is given up long before (shared/ledger/channels.py)."""
TOKEN_TTL_S = 3600
"""How long it is known which payment a token paid. No new payment is taken with one that is older than ten minutes."""
REJECTED_CHECK_S = 60
"""A refused payment is looked up on the chain once more, this long after it expired."""
FIRST_PROBE_MS = 1_500
"""The wait before an unknown settlement is looked up first. It doubles each time, up to LONGEST_PROBE_MS."""
LONGEST_PROBE_MS = 30_000
RECHECK_MS = 10 * 60 * 1000
"""A payment is looked up on the chain once more this long after its settlement. No chain of ours reverts that much."""
RECHECK_PAUSE_MS = 60_000
"""The wait before the next look when the chain gave no answer."""
RECHECKS = 60
"""The most looks at one settled payment."""
PRICES_KEPT_MS = 24 * 3600 * 1000
"""How long a price list is known: as long as stored answers."""
SELLER_SILENT_MS = 60_000
"""An API process that has not noted its price list for so long is gone."""
LISTING_KEPT_S = 180 * 24 * 3600
"""How long it is remembered what was listed where."""
OLD_S, OLD_PROBE_MS = 600, 300_000
"""A payment that is still unknown OLD_S after it expired is looked up every OLD_PROBE_MS."""

_LUA = Path(__file__).with_name("lua")
CLAIM = load(
    _LUA / "look_up.lua",
    NOW,
    NOTE,
    RATE,
    RECORD_TTL_S=RECORD_TTL_S,
    TOKEN_TTL_S=TOKEN_TTL_S,
    FREE_RERUNS=FREE_RERUNS,
    RERUN_WINDOW_MS=RERUN_WINDOW_MS,
)
"""Without a flag Redis refuses it when memory is full: then nothing is claimed and nothing charged."""
FIND = CLAIM.with_flags("allow-oom")
ACCEPT = load(
    _LUA / "accept.lua",
    NOW,
    STATE,
    RATE,
    RECORD_TTL_S=VOUCHER_TTL_S,
    ANSWER_TTL_S=ANSWER_TTL_S,
    ROTATION_MS=ROTATION_MS,
)
"""As CLAIM, for vouchers."""
FIND_VOUCHER = ACCEPT.with_flags("allow-oom")
OPENED = load(_LUA / "opened.lua", NOTE)
SETTLED = load(_LUA / "settled.lua", NOW, NOTE, RECHECK_MS=RECHECK_MS, RERUN_MS=RERUN_MS)
REJECTED = load(_LUA / "rejected.lua", NOW, NOTE, REJECTED_CHECK_S=REJECTED_CHECK_S)
UNKNOWN = load(_LUA / "unknown.lua", NOW, NOTE, FIRST_PROBE_MS=FIRST_PROBE_MS)
ABANDON = load(_LUA / "abandon.lua", NOW, NOTE, FIRST_PROBE_MS=FIRST_PROBE_MS)
RELEASE = load(_LUA / "release.lua")
DELIVERED = load(_LUA / "delivered.lua")
ATTEMPT = load(_LUA / "attempt.lua", NOW, NOTE)
TAKE = load(
    _LUA / "take.lua",
    NOW,
    NOTE,
    RERUN_MS=RERUN_MS,
    FIRST_PROBE_MS=FIRST_PROBE_MS,
    LONGEST_PROBE_MS=LONGEST_PROBE_MS,
    OLD_S=OLD_S,
    OLD_PROBE_MS=OLD_PROBE_MS,
)
ROUTED = load(_LUA / "routed.lua", NOW)
LISTING_TAKEN = load(_LUA / "listing_taken.lua", NOW, KEEP_S=LISTING_KEPT_S)
LISTING_NOTED = load(_LUA / "listing_noted.lua", NOW, KEEP_S=LISTING_KEPT_S)
CLOSED = load(_LUA / "closed.lua")
TAKE_SETTLED = load(_LUA / "take_settled.lua", NOW, RECHECKS=RECHECKS, RECHECK_PAUSE_MS=RECHECK_PAUSE_MS)
TAKEN_BACK = load(_LUA / "taken_back.lua", NOW, NOTE)
LOST_LATELY = load(_LUA / "lost_lately.lua", NOW)
DUE = load(_LUA / "due.lua", NOW)
PRICE_LISTS = load(_LUA / "price_lists.lua", NOW, KEPT_MS=PRICES_KEPT_MS, SILENT_MS=SELLER_SILENT_MS)
