#!lua flags=allow-oom
-- Records that the settle call of an attempt was never sent. Uses: now, note.
--
-- KEYS: record, answer, open, journal: of the payment
-- ARGV: id: of the payment
--       attempts: the number of the caller's settle attempt
-- Returns 1 when no other was sent either, and the payment is forgotten; else 0.
local record, answer, open, journal = unpack(KEYS)
local id, attempts = unpack(ARGV)

local state, latest = unpack(redis.call('HMGET', record, 'state', 'attempts'))
if state ~= 'SETTLING' or latest ~= attempts then return 0 end
if latest == '1' then
  redis.call('ZREM', open, id)
  note(journal, id, 'FORGOTTEN', latest)
  return redis.call('DEL', record)
end
redis.call('HSET', record, 'state', 'UNKNOWN', 'lease', 0)
redis.call('ZADD', open, now + FIRST_PROBE_MS, id)
note(journal, id, 'UNKNOWN', latest)
return 0
