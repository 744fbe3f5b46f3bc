#!lua flags=allow-oom
-- Ends the wait of an answer for its payer's next payment.
--
-- KEYS: undelivered: holds the payment whose answer to a request was not delivered
-- ARGV: id: of the payment whose answer was delivered
-- Returns 1, or 0 when no answer waits, or that of another payment.
local undelivered = unpack(KEYS)
local id = unpack(ARGV)

return redis.call('GET', undelivered) == id and redis.call('DEL', undelivered) or 0
