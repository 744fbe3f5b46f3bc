#!lua flags=allow-oom
-- Reads what is known about a subject, and renews it. allow-oom: a call that was paid is compared also when a full Redis takes
-- nothing new. Uses: now.
--
-- KEYS: baseline, payer_index, pending: of the payer and the subject (Baseline in workers/observations.py)
-- ARGV: ttl_ms: how long they are kept from now on
-- Returns {sealed observation, when its call was settled in Unix ms, fields of pending ones}.
local baseline, payer_index, pending = unpack(KEYS)
local ttl_ms = unpack(ARGV)

local sealed, settled = unpack(redis.call('HMGET', baseline, 'sealed', 'settled'))
if sealed then
  redis.call('PEXPIRE', baseline, ttl_ms)
  redis.call('PEXPIRE', payer_index, ttl_ms)
  redis.call('ZADD', payer_index, 'XX', now, baseline)
end
return {sealed, settled, redis.call('HKEYS', pending)}
