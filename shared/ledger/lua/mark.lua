#!lua flags=allow-oom
-- Writes something, so that replicas which have it have all that was written before. allow-oom: a full Redis still says what it
-- knows.
--
-- KEYS: key: holds nothing
-- Returns OK.
local key = unpack(KEYS)

return redis.call('SET', key, '')
