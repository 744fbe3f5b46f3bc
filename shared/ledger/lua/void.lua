#!lua flags=allow-oom
-- Gives up the calls of one bucket that nobody drives any more: they are not charged, and what they reserved is free. Uses: now.
--
-- KEYS: running: of the bucket
-- ARGV: count: how many at most
--       records: what the keys of the bucket's records begin with, before the payment id
-- Returns how many were given up.
local running = unpack(KEYS)
local count, records = unpack(ARGV)

local voided = 0
for _, id in ipairs(redis.call('ZRANGEBYSCORE', running, '-inf', now - VOID_AFTER_MS, 'LIMIT', 0, count)) do
  local record = records .. id
  local state, lease, price, channel = unpack(redis.call('HMGET', record, 'state', 'lease', 'price', 'channel'))
  if state == 'RUNNING' and tonumber(lease) > now - VOID_AFTER_MS then
    redis.call('ZADD', running, lease, id)
  else
    if state == 'RUNNING' then
      redis.call('HINCRBY', channel, 'inflight', -price)
      redis.call('HSET', record, 'state', 'VOID', 'lease', 0)
      voided = voided + 1
    end
    redis.call('ZREM', running, id)
  end
end
return voided
