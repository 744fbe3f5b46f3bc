#!lua flags=allow-oom
-- Gives a key a value if it has none. allow-oom: a server of the ledger that is full is still known by its number.
--
-- KEYS: key
-- ARGV: value
-- Returns the value that the key has then.
local key = unpack(KEYS)
local value = unpack(ARGV)

local found = redis.call('GET', key)
if found then return found end
redis.call('SET', key, value)
return value
