#!lua flags=allow-oom
-- Notes at which prices a process sells, and says at which ones processes sold lately. Uses: now.
--
-- KEYS: lists, sellers: PRICE_LISTS and SELLERS (shared/ledger/keys.py)
-- ARGV: list: the prices, or "" to note nothing
--       seller: the process, with the version of its prices
-- Returns each list of the last day, followed by how many milliseconds ago a process last sold at it.
local lists, sellers = unpack(KEYS)
local list, seller = unpack(ARGV)

if list ~= '' then
  redis.call('ZADD', lists, now, list)
  redis.call('ZREMRANGEBYSCORE', lists, '-inf', now - KEPT_MS)
  redis.call('ZADD', sellers, now, seller)
  redis.call('ZREMRANGEBYSCORE', sellers, '-inf', now - SILENT_MS)
end
local found = redis.call('ZRANGE', lists, 0, -1, 'WITHSCORES')
for at = 2, #found, 2 do found[at] = now - tonumber(found[at]) end
return found
