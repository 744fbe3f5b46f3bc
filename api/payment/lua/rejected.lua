#!lua flags=allow-oom
-- Records a definite refusal. A later driver's record is not an earlier one's to change. Uses: now, note.
--
-- KEYS: record, answer, open, journal: of the payment
-- ARGV: id: of the payment
--       attempts: the number of the caller's settle attempt
--       reason: why it was refused
--       weight: 'evidence' of the chain, or the 'answer' of a facilitator, which counts only for the first attempt
-- Returns 1 when it counts, else 0.
local record, answer, open, journal = unpack(KEYS)
local id, attempts, reason, weight = unpack(ARGV)

local state, latest, valid_before = unpack(redis.call('HMGET', record, 'state', 'attempts', 'valid_before'))
if (state ~= 'SETTLING' and state ~= 'UNKNOWN') or latest ~= attempts then return 0 end
if weight ~= 'evidence' and latest ~= '1' then return 0 end
redis.call('HSET', record, 'state', 'REJECTED', 'reason', reason, 'lease', 0)
redis.call('HDEL', record, 'payment')
if weight == 'evidence' then
  redis.call('ZREM', open, id)
else
  redis.call('ZADD', open, (valid_before + REJECTED_CHECK_S) * 1000, id)
end
note(journal, id, 'REJECTED', latest)
return 1
