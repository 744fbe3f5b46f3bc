#!lua flags=allow-oom
-- Records which facilitator settles a payment, before it is sent to any, and renews the lease of its driver. Uses: now.
--
-- KEYS: record, answer, open, journal: of the payment
-- ARGV: id: of the payment
--       facilitator: as in its record; '': the rail's own
--       settle_lease_ms: how long the caller is the driver
-- Returns 1, or 0 when somebody else drives the payment, or did.
local record, answer, open, journal = unpack(KEYS)
local id, facilitator, settle_lease_ms = unpack(ARGV)

local state, attempts = unpack(redis.call('HMGET', record, 'state', 'attempts'))
if state ~= 'SETTLING' or attempts ~= '1' then return 0 end
redis.call('HSET', record, 'facilitator', facilitator, 'lease', now + settle_lease_ms)
redis.call('ZADD', open, now + settle_lease_ms, id)
return 1
