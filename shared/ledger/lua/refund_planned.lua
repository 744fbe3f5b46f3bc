#!lua flags=allow-oom
-- Notes that a plan has a transfer which pays a payment back. Uses: note.
--
-- KEYS: record, journal: of the payment
-- ARGV: id: of the payment
--       plan: its id
--       earlier: the plan that the caller has read in the record, or ''
-- Returns 1; 0 when nothing is owed any more, or another plan has come first.
local record, journal = unpack(KEYS)
local id, plan, earlier = unpack(ARGV)

local state, refunded, lost, planned, attempts = unpack(redis.call('HMGET', record,
  'state', 'refunded', 'lost', 'refund_plan', 'attempts'))
if state ~= 'FAILED' or refunded or lost or (planned or '') ~= earlier then return 0 end
redis.call('HSET', record, 'refund_plan', plan)
note(journal, id, 'PLANNED', attempts)
return 1
