#!lua flags=allow-oom
-- Records a proven settlement, from every state but DONE and FAILED. Uses: now, note.
--
-- KEYS: record, answer, open, journal: of the payment
--       recheck: RECHECK of its bucket
-- ARGV: id: of the payment
--       receipt: the settlement as JSON
--       run_lease_ms: how long the caller is the driver that runs the job; 0: it will not
--       caller: its name; whoever asks again under the same name, because an answer was lost, gets the same answer
-- Returns 0: nothing changed; 1: it was SETTLED before; 2: it is SETTLED now.
local record, answer, open, journal, recheck = unpack(KEYS)
local id, receipt, run_lease_ms, caller = unpack(ARGV)

local state, attempts, settled_by = unpack(redis.call('HMGET', record, 'state', 'attempts', 'settled_by'))
if not state or state == 'DONE' or state == 'FAILED' then return 0 end
if state ~= 'SETTLED' then
  note(journal, id, 'SETTLED', attempts)
  redis.call('HSET', record, 'settled_by', caller)
end
redis.call('HSET', record, 'state', 'SETTLED', 'receipt', receipt, 'lease', now + run_lease_ms)
if redis.call('HSETNX', record, 'settled', now) == 1 then redis.call('ZADD', recheck, now + RECHECK_MS, id) end
redis.call('HDEL', record, 'payment', 'reason')
redis.call('ZADD', open, redis.call('HGET', record, 'settled') + RERUN_MS, id)
return state == 'SETTLED' and settled_by ~= caller and 1 or 2
