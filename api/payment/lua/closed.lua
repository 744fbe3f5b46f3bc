#!lua flags=allow-oom
-- Ends the checks of a payment.
--
-- KEYS: index: OPEN or RECHECK of the payment's bucket
-- ARGV: id: of the payment
-- Returns 1, or 0 when they had ended before.
local index = unpack(KEYS)
local id = unpack(ARGV)

return redis.call('ZREM', index, id)
