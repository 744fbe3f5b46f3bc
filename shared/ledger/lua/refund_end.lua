#!lua flags=allow-oom
-- Records how a refund ended. Vouchers of the channel are taken again. Uses: now, note.
--
-- KEYS: channel, refunds, journal: of the channel's bucket
-- ARGV: id: of the channel
--       result: JSON: what the payer is told
--       is_done: '1': the rest was paid back; '0': it was not, and may be wanted again
local channel, refunds, journal = unpack(KEYS)
local id, result, is_done = unpack(ARGV)

redis.call('HSET', channel, 'refunding', 0, 'refund', result)
redis.call('ZREM', refunds, id)
if is_done == '1' then
  redis.call('HSET', channel, 'refunded', now, 'refunded_calls', redis.call('HGET', channel, 'calls'))
  note(journal, id, 'REFUNDED', 0)
end
return 1
