#!lua flags=no-writes
-- Counts the payments of one bucket that are due. Uses: now.
--
-- KEYS: index: OPEN or RECHECK of the bucket
-- Returns the count.
local index = unpack(KEYS)

return redis.call('ZCOUNT', index, '-inf', now)
