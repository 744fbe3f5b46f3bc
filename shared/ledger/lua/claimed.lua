#!lua flags=allow-oom
-- After a claim, or when there is nothing to claim yet: decides when to look at a channel again. Uses: now, note.
--
-- KEYS: channel, claimable, journal: of the channel's bucket
-- ARGV: id: of the channel
--       final: what a final block shows as claimed, in atomic units
--       pause_ms: when to look again, where charges are not claimed in a final block
--       event: for the journal, or ''
-- Returns 1 when nothing is owed any more.
local channel, claimable, journal = unpack(KEYS)
local id, final, pause_ms, event = unpack(ARGV)

local charged = tonumber(redis.call('HGET', channel, 'charged') or 0)
redis.call('HSET', channel, 'final_claimed', final)
if event ~= '' then note(journal, id, event, 0) end
if charged <= tonumber(final) then
  redis.call('ZREM', claimable, id)
  redis.call('HSET', channel, 'owed_since', 0)
  return 1
end
redis.call('ZADD', claimable, now + pause_ms, id)
return 0
