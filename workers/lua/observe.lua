-- Defines observe(baseline, payer_index, sealed, settled, ttl_ms, most): it makes an observation the baseline, unless that is of
-- a call which was settled later, and drops the payer's baselines that are too many. Uses: now.
local function observe(baseline, payer_index, sealed, settled, ttl_ms, most)
  if tonumber(redis.call('HGET', baseline, 'settled') or 0) > settled then return end
  redis.call('HSET', baseline, 'sealed', sealed, 'settled', settled)
  redis.call('PEXPIRE', baseline, ttl_ms)
  redis.call('ZADD', payer_index, now, baseline)
  redis.call('PEXPIRE', payer_index, ttl_ms)
  local excess = redis.call('ZCARD', payer_index) - most
  if excess > 0 then
    for _, oldest in ipairs(redis.call('ZRANGE', payer_index, 0, excess - 1)) do redis.call('DEL', oldest) end
    redis.call('ZREMRANGEBYRANK', payer_index, 0, excess - 1)
  end
end
