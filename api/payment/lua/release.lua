#!lua flags=allow-oom
-- Ends the lease of a job that nobody runs.
--
-- KEYS: record: of the payment
-- Returns 1, or 0 when the payment is not SETTLED.
local record = unpack(KEYS)

if redis.call('HGET', record, 'state') ~= 'SETTLED' then return 0 end
redis.call('HSET', record, 'lease', 0)
return 1
