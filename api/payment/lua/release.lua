#!lua flags=allow-oom
-- Ends the lease of a job that nobody runs.
--
-- KEYS: record: of the payment
-- Returns 1, or 0 when the payment is not SETTLED and no voucher whose call runs.
local record = unpack(KEYS)

local state = redis.call('HGET', record, 'state')
if state ~= 'SETTLED' and state ~= 'RUNNING' then return 0 end
redis.call('HSET', record, 'lease', 0)
return 1
