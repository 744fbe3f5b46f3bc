#!lua flags=allow-oom
-- Ends the record of a deposit that the chain shows in its channel. Uses: note.
--
-- KEYS: record, answer, open, journal: of the deposit
-- ARGV: id: of the deposit
-- Returns 1.
local record, answer, open, journal = unpack(KEYS)
local id = unpack(ARGV)

if redis.call('HGET', record, 'state') == 'SETTLED' then
  redis.call('HSET', record, 'state', 'DONE', 'lease', 0)
  redis.call('ZREM', open, id)
  note(journal, id, 'DONE', 1)
end
return 1
