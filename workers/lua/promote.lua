#!lua flags=allow-oom
-- Makes a pending observation, whose answer has won, the baseline. Uses: now, observe.
--
-- KEYS: baseline, payer_index, pending: of the payer and the subject (Baseline in workers/observations.py)
-- ARGV: ttl_ms: how long they are kept from now on
--       most: baselines of one payer
--       field: of the pending one
--       settled: when its call was settled, in Unix ms
-- Returns 1, or 0 when it is not pending.
local baseline, payer_index, pending = unpack(KEYS)
local ttl_ms, most, field, settled = unpack(ARGV)

local sealed = redis.call('HGET', pending, field)
if not sealed then return 0 end
observe(baseline, payer_index, sealed, tonumber(settled), ttl_ms, tonumber(most))
return redis.call('HDEL', pending, field)
