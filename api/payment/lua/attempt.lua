#!lua flags=allow-oom
-- Begins one more settle call, of a payment that the caller probes. Uses: now, note.
--
-- KEYS: record, answer, open, journal: of the payment
-- ARGV: id: of the payment
--       attempts: the number of the last settle attempt that the caller knows
--       settle_lease_ms: how long the caller is the driver
-- Returns the number of the new attempt, or 0 when there is another driver.
local record, answer, open, journal = unpack(KEYS)
local id, attempts, settle_lease_ms = unpack(ARGV)

local state, latest = unpack(redis.call('HMGET', record, 'state', 'attempts'))
if (state ~= 'SETTLING' and state ~= 'UNKNOWN') or latest ~= attempts then return 0 end
redis.call('HSET', record, 'state', 'SETTLING', 'lease', now + settle_lease_ms)
redis.call('ZADD', open, now + settle_lease_ms, id)
local number = redis.call('HINCRBY', record, 'attempts', 1)
note(journal, id, 'SETTLING', number)
return number
