#!lua flags=allow-oom
-- Notes what a claim is about to show to everybody. Uses: note.
--
-- KEYS: channel, journal: of the channel's bucket
-- ARGV: id: of the channel
-- Returns {charged, top, signature} as they are now: what the claim is to say.
local channel, journal = unpack(KEYS)
local id = unpack(ARGV)

local charged, top, signature = unpack(redis.call('HMGET', channel, 'charged', 'top', 'sig'))
redis.call('HSET', channel, 'shown_top', top)
note(journal, id, 'CLAIMING', 0)
return {charged, top, signature}
