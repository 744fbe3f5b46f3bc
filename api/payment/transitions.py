"""The transitions of a payment in Lua: each is one script, so it happens wholly or not at all.

KEYS begin with the record, the answer, OPEN, JOURNAL; ARGV begins with the payment id. All keys of a script are of one bucket,
also those that it makes out of what it finds. Scripts that only move what is already paid for carry `allow-oom`: a full Redis
takes no new payment and still ends those that it has.
"""

from __future__ import annotations

from shared.ledger import FREE_RERUNS, NOTE, NOW, RERUN_MS, RERUN_WINDOW_MS

RECORD_TTL_S = 30 * 24 * 3600
"""How long a used payment is remembered. Far beyond the longest authorization we accept."""
TOKEN_TTL_S = 3600
"""How long it is known which payment a token paid. No new payment is taken with one that is older than ten minutes."""
REJECTED_CHECK_S = 60
"""A refused payment is looked for on the chain once more, so long after it expired."""
FIRST_PROBE_MS = 1_500
"""When an unknown settlement is asked about first. Each time it waits twice as long, up to LONGEST_PROBE_MS."""
LONGEST_PROBE_MS = 30_000
RECHECK_MS = 10 * 60 * 1000
"""How long after its settlement a payment is looked for on the chain once more. No chain of ours goes back that far."""
RECHECK_PAUSE_MS = 60_000
"""And how long after that again, when the chain did not say."""
RECHECKS = 60
"""So often at most."""
OLD_S, OLD_PROBE_MS = 600, 300_000
"""What is unknown so long after it expired is asked about that rarely."""

_PRELUDE = (
    NOW
    + NOTE
    + """
local id = ARGV[1]
local function due(at) redis.call('ZADD', KEYS[3], at, id) end
local function closed() redis.call('ZREM', KEYS[3], id) end
"""
)
_OOM_TOO = "#!lua flags=allow-oom\n"

# KEYS: 5 the rate, 6 the identifier and 7 the token (or the record again). ARGV: 2 mode, 3 fingerprint, 4 settle lease,
# 5 run lease, 6 interval of the rate in ms (0: none), 7 burst, 8 valid before, 9 fingerprint by the
# previous key or '', 10 name of the caller, then the fields of a new record. A driver whose answer was lost asks again under
# its name, and is the driver still.
_LOOK_UP = (
    _PRELUDE
    + f"""
local record = redis.call('HMGET', KEYS[1], 'fingerprint', 'state', 'lease', 'reason', 'receipt', 'failures',
  'failing_since', 'failure', 'driver')
if not record[1] then
  if ARGV[2] ~= 'claim' then return {{'absent'}} end
  local records = string.sub(KEYS[1], 1, #KEYS[1] - #id)  -- what records of the bucket begin with
  if KEYS[6] ~= KEYS[1] then
    local other = redis.call('GET', KEYS[6])
    if other and other ~= id then
      local state = redis.call('HGET', records .. other, 'state')
      if state and state ~= 'REJECTED' then return {{'identified', other}} end
    end
  end
  if KEYS[7] ~= KEYS[1] then
    local other = redis.call('GET', KEYS[7])
    if other and other ~= id then
      local state = redis.call('HGET', records .. other, 'state')
      if state and state ~= 'REJECTED' then return {{'conflict'}} end
    end
  end
  local left, reset = '', ''
  local interval, burst = tonumber(ARGV[6]), tonumber(ARGV[7])
  if interval > 0 then
    local arrival = math.max(now, tonumber(redis.call('GET', KEYS[5]) or 0))
    local wait = arrival + interval - interval * burst - now
    if wait > 0 then return {{'limited', tostring(math.ceil(wait)), tostring(math.ceil(arrival - now))}} end
    arrival = arrival + interval
    redis.call('SET', KEYS[5], string.format('%.3f', arrival), 'PX', math.ceil(arrival - now))
    left = tostring(math.floor((interval * burst - (arrival - now)) / interval))
    reset = tostring(math.ceil(arrival - now))
  end
  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[3], 'state', 'SETTLING', 'attempts', 1, 'created', now,
    'lease', now + ARGV[4], 'valid_before', ARGV[8], 'driver', ARGV[10], unpack(ARGV, 11))
  redis.call('EXPIRE', KEYS[1], {RECORD_TTL_S})
  if KEYS[6] ~= KEYS[1] then redis.call('SET', KEYS[6], id, 'EX', {RECORD_TTL_S}) end
  if KEYS[7] ~= KEYS[1] then redis.call('SET', KEYS[7], id, 'EX', {TOKEN_TTL_S}) end
  due(now + ARGV[4])
  note(KEYS[4], id, 'SETTLING', 1)
  return {{'settle', '1', left, reset}}
end
local state = record[2]
if record[1] ~= ARGV[3] and record[1] ~= ARGV[9] then
  return {{(state == 'SETTLING' or state == 'UNKNOWN') and 'claimed' or 'conflict'}}
end
if state == 'DONE' then
  local answer = redis.call('GET', KEYS[2])
  if answer then return {{'answer', record[5], answer}} end
  return {{'expired'}}
end
if state == 'REJECTED' then return {{'rejected', record[4]}} end
if state == 'FAILED' then return {{'failed', record[5]}} end
if tonumber(record[3]) > now then
  if record[9] ~= ARGV[10] then return {{'wait', record[5] or ''}} end
  if state == 'SETTLED' then return {{'run', record[5]}} end
  return {{'settle', redis.call('HGET', KEYS[1], 'attempts'), '', ''}}
end
if state == 'SETTLED' and tonumber(record[6] or 0) > {FREE_RERUNS} then
  local rest = tonumber(record[7]) + {RERUN_WINDOW_MS} - now
  if rest > 0 then return {{'answer', record[5], record[8], tostring(rest)}} end
end
if ARGV[2] == 'peek' or (ARGV[2] == 'resume' and state ~= 'SETTLED') then
  return {{'idle', record[5] or ''}}
end
if state == 'SETTLED' then
  redis.call('HSET', KEYS[1], 'lease', now + ARGV[5], 'driver', ARGV[10])
  return {{'run', record[5]}}
end
redis.call('HSET', KEYS[1], 'state', 'SETTLING', 'lease', now + ARGV[4], 'driver', ARGV[10])
due(now + ARGV[4])
local attempts = redis.call('HINCRBY', KEYS[1], 'attempts', 1)
note(KEYS[4], id, 'SETTLING', attempts)
return {{'settle', tostring(attempts), '', ''}}
"""
)
# Without a flag Redis refuses the script when memory is full: then nothing is claimed and nothing charged.
CLAIM = "#!lua\n" + _LOOK_UP
FIND = _OOM_TOO + _LOOK_UP

# KEYS: 5 RECHECK. ARGV: 2 receipt, 3 run lease.
SETTLED = (
    _OOM_TOO
    + _PRELUDE
    + f"""
local record = redis.call('HMGET', KEYS[1], 'state', 'attempts')
if not record[1] or record[1] == 'DONE' or record[1] == 'FAILED' then return 0 end
if record[1] ~= 'SETTLED' then note(KEYS[4], id, 'SETTLED', record[2]) end
redis.call('HSET', KEYS[1], 'state', 'SETTLED', 'receipt', ARGV[2], 'lease', now + ARGV[3])
if redis.call('HSETNX', KEYS[1], 'settled', now) == 1 then redis.call('ZADD', KEYS[5], now + {RECHECK_MS}, id) end
redis.call('HDEL', KEYS[1], 'payment', 'reason')
due(redis.call('HGET', KEYS[1], 'settled') + {RERUN_MS})
return record[1] == 'SETTLED' and 1 or 2
"""
)

# ARGV: 2 attempts, 3 reason, 4 'evidence' or 'answer'. A later driver's record is not an earlier one's to change.
REJECTED = (
    _OOM_TOO
    + _PRELUDE
    + f"""
local record = redis.call('HMGET', KEYS[1], 'state', 'attempts', 'valid_before')
if (record[1] ~= 'SETTLING' and record[1] ~= 'UNKNOWN') or record[2] ~= ARGV[2] then return 0 end
if ARGV[4] ~= 'evidence' and record[2] ~= '1' then return 0 end
redis.call('HSET', KEYS[1], 'state', 'REJECTED', 'reason', ARGV[3], 'lease', 0)
redis.call('HDEL', KEYS[1], 'payment')
if ARGV[4] == 'evidence' then closed() else due((record[3] + {REJECTED_CHECK_S}) * 1000) end
note(KEYS[4], id, 'REJECTED', record[2])
return 1
"""
)

# ARGV: 2 attempts.
UNKNOWN = (
    _OOM_TOO
    + _PRELUDE
    + f"""
local record = redis.call('HMGET', KEYS[1], 'state', 'attempts')
if (record[1] ~= 'SETTLING' and record[1] ~= 'UNKNOWN') or record[2] ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'state', 'UNKNOWN', 'lease', 0)
if record[1] == 'SETTLING' then
  due(now + {FIRST_PROBE_MS})
  note(KEYS[4], id, 'UNKNOWN', record[2])
end
return 1
"""
)

# ARGV: 2 attempts. The settle call of this attempt was never sent.
ABANDON = (
    _OOM_TOO
    + _PRELUDE
    + f"""
local record = redis.call('HMGET', KEYS[1], 'state', 'attempts')
if record[1] ~= 'SETTLING' or record[2] ~= ARGV[2] then return 0 end
if record[2] == '1' then
  closed()
  note(KEYS[4], id, 'FORGOTTEN', record[2])
  return redis.call('DEL', KEYS[1])
end
redis.call('HSET', KEYS[1], 'state', 'UNKNOWN', 'lease', 0)
due(now + {FIRST_PROBE_MS})
note(KEYS[4], id, 'UNKNOWN', record[2])
return 0
"""
)

RELEASE = (
    _OOM_TOO
    + """
if redis.call('HGET', KEYS[1], 'state') ~= 'SETTLED' then return 0 end
redis.call('HSET', KEYS[1], 'lease', 0)
return 1
"""
)

# ARGV: 2 attempts, 3 settle lease. One more settle call for a payment that somebody probes.
ATTEMPT = (
    _OOM_TOO
    + _PRELUDE
    + """
local record = redis.call('HMGET', KEYS[1], 'state', 'attempts')
if (record[1] ~= 'SETTLING' and record[1] ~= 'UNKNOWN') or record[2] ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'state', 'SETTLING', 'lease', now + ARGV[3])
due(now + ARGV[3])
local attempts = redis.call('HINCRBY', KEYS[1], 'attempts', 1)
note(KEYS[4], id, 'SETTLING', attempts)
return attempts
"""
)

# KEYS: 1 OPEN, 2 JOURNAL, 3 REFUNDABLE of one bucket. ARGV: 1 how many at most, 2 lease of a probe, 3 what records begin with.
TAKE = (
    _OOM_TOO
    + NOW
    + NOTE
    + f"""
local taken = {{}}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])) do
  local key = ARGV[3] .. id
  local record = redis.call('HMGET', key, 'state', 'lease', 'attempts', 'valid_before', 'offer', 'payer', 'payment',
    'settled', 'endpoint')
  local state, lease, valid_before = record[1], tonumber(record[2] or 0), tonumber(record[4] or 0)
  if not state or state == 'DONE' or state == 'FAILED' then
    redis.call('ZREM', KEYS[1], id)
  elseif lease > now then
    redis.call('ZADD', KEYS[1], lease, id)
  elseif state == 'SETTLED' then
    if now < record[8] + {RERUN_MS} then
      redis.call('ZADD', KEYS[1], record[8] + {RERUN_MS}, id)
    else
      redis.call('HSET', key, 'state', 'FAILED')
      redis.call('ZREM', KEYS[1], id)
      redis.call('ZADD', KEYS[3], now, id)
      note(KEYS[2], id, 'FAILED', record[3])
    end
  else
    local probes = redis.call('HINCRBY', key, 'probes', 1)
    local pause = math.min({FIRST_PROBE_MS} * 2 ^ math.min(probes, 10), {LONGEST_PROBE_MS})
    if now > (valid_before + {OLD_S}) * 1000 then pause = {OLD_PROBE_MS} end
    redis.call('ZADD', KEYS[1], now + ARGV[2] + pause, id)
    if state ~= 'REJECTED' then redis.call('HSET', key, 'lease', now + ARGV[2]) end
    taken[#taken + 1] = {{id, state, record[3], tostring(valid_before), record[5], record[6], record[7] or '', record[9]}}
  end
end
return taken
"""
)

# KEYS: OPEN. What was refused was looked for once more.
CLOSED = _OOM_TOO + "return redis.call('ZREM', KEYS[1], ARGV[1])\n"

# KEYS: RECHECK of one bucket. ARGV: 1 how many at most, 2 what records begin with.
TAKE_SETTLED = (
    _OOM_TOO
    + NOW
    + f"""
local taken = {{}}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])) do
  local key = ARGV[2] .. id
  local record = redis.call('HMGET', key, 'offer', 'payer', 'settled')
  if record[1] and redis.call('HINCRBY', key, 'rechecks', 1) <= {RECHECKS} then
    redis.call('ZADD', KEYS[1], now + {RECHECK_PAUSE_MS}, id)
    taken[#taken + 1] = {{id, record[1], record[2], record[3]}}
  else
    redis.call('ZREM', KEYS[1], id)
  end
end
return taken
"""
)

# KEYS: 1 record, 2 RECHECK, 3 JOURNAL, 4 LOST, 5 the rail's own LOST. ARGV: 1 payment id, 2 how long 5 is to remember.
TAKEN_BACK = (
    _OOM_TOO
    + NOW
    + NOTE
    + """
if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'lost', now)
redis.call('ZADD', KEYS[4], now, ARGV[1])
redis.call('ZADD', KEYS[5], now, ARGV[1])
redis.call('PEXPIRE', KEYS[5], ARGV[2])
note(KEYS[3], ARGV[1], 'LOST', redis.call('HGET', KEYS[1], 'attempts'))
return 1
"""
)

# KEYS: what rails have of their own in LOST of one bucket. ARGV: how far back, in ms. Returns how many of each.
LOST_LATELY = (
    "#!lua flags=no-writes\n"
    + NOW
    + """
local counts = {}
for number, key in ipairs(KEYS) do counts[number] = redis.call('ZCOUNT', key, now - ARGV[1], '+inf') end
return counts
"""
)
# KEYS: OPEN or RECHECK of one bucket. How many of it are due.
DUE = "#!lua flags=no-writes\n" + NOW + "return redis.call('ZCOUNT', KEYS[1], '-inf', now)\n"
