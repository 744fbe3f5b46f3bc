#!lua flags=allow-oom
-- Records that nobody knows whether a settle attempt paid. Uses: now, note.
--
-- KEYS: record, answer, open, journal: of the payment
-- ARGV: id: of the payment
--       attempts: the number of the caller's settle attempt
-- Returns 1, or 0 when a later driver has taken over.
local record, answer, open, journal = unpack(KEYS)
local id, attempts = unpack(ARGV)

local state, latest = unpack(redis.call('HMGET', record, 'state', 'attempts'))
if (state ~= 'SETTLING' and state ~= 'UNKNOWN') or latest ~= attempts then return 0 end
redis.call('HSET', record, 'state', 'UNKNOWN', 'lease', 0)
if state == 'SETTLING' then
  redis.call('ZADD', open, now + FIRST_PROBE_MS, id)
  note(journal, id, 'UNKNOWN', latest)
end
return 1
