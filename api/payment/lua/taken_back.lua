#!lua flags=allow-oom
-- Records that the chain no longer shows a settled payment. Uses: now, note.
--
-- KEYS: record: of the payment
--       recheck, journal, lost: of its bucket
--       lost_of_rail: the same as `lost` for one network and asset, without what a facilitator settled that is not the rail's own
-- ARGV: id: of the payment
--       window_ms: how long lost_of_rail is kept after its last payment
-- Returns 1, or 0 when it was recorded before.
local record, recheck, journal, lost, lost_of_rail = unpack(KEYS)
local id, window_ms = unpack(ARGV)

if redis.call('ZREM', recheck, id) == 0 then return 0 end
redis.call('HSET', record, 'lost', now)
redis.call('ZADD', lost, now, id)
local attempts, facilitator = unpack(redis.call('HMGET', record, 'attempts', 'facilitator'))
if (facilitator or '') == '' then
  redis.call('ZADD', lost_of_rail, now, id)
  redis.call('PEXPIRE', lost_of_rail, window_ms)
end
note(journal, id, 'LOST', attempts)
return 1
