#!lua flags=allow-oom
-- Takes settled payments of one bucket that are due for their check on the chain. Each comes again after a pause, until its check
-- ends or it came too often. Uses: now.
--
-- KEYS: recheck: RECHECK of the bucket
-- ARGV: count: how many at most
--       records: what the keys of the bucket's records begin with, before the payment id
-- Returns a list of {id, offer, payer, settled in Unix ms}.
local recheck = unpack(KEYS)
local count, records = unpack(ARGV)

local taken = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', recheck, '-inf', now, 'LIMIT', 0, count)) do
  local record = records .. id
  local offer, payer, settled = unpack(redis.call('HMGET', record, 'offer', 'payer', 'settled'))
  if offer and redis.call('HINCRBY', record, 'rechecks', 1) <= RECHECKS then
    redis.call('ZADD', recheck, now + RECHECK_PAUSE_MS, id)
    taken[#taken + 1] = {id, offer, payer, settled}
  else
    redis.call('ZREM', recheck, id)
  end
end
return taken
