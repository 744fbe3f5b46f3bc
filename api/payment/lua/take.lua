#!lua flags=allow-oom
-- Takes payments of one bucket that are in doubt, so that one caller probes each, and marks as FAILED what was charged and not
-- answered in time. Uses: now, note.
--
-- KEYS: open, journal, refundable: of the bucket
-- ARGV: count: how many at most
--       probe_lease_ms: how long the caller probes them
--       records: what the keys of the bucket's records begin with, before the payment id
-- Returns a list of {id, state, attempts, valid_before in Unix s, offer, payer, payment or '', endpoint,
--   facilitator or ''}.
local open, journal, refundable = unpack(KEYS)
local count, probe_lease_ms, records = unpack(ARGV)

local taken = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', open, '-inf', now, 'LIMIT', 0, count)) do
  local record = records .. id
  local state, lease, attempts, valid_before, offer, payer, payment, settled, endpoint, lost, facilitator = unpack(redis.call(
    'HMGET', record, 'state', 'lease', 'attempts', 'valid_before', 'offer', 'payer', 'payment', 'settled', 'endpoint', 'lost',
    'facilitator'))
  lease, valid_before = tonumber(lease or 0), tonumber(valid_before or 0)
  if not state or state == 'DONE' or state == 'FAILED' then
    redis.call('ZREM', open, id)
  elseif lease > now then
    redis.call('ZADD', open, lease, id)
  elseif state == 'SETTLED' then
    if now < settled + RERUN_MS then
      redis.call('ZADD', open, settled + RERUN_MS, id)
    elseif string.find(offer or '', '"batch-settlement"', 1, true) then  -- a deposit: its payer has it in his channel
      redis.call('HSET', record, 'state', 'DONE')
      redis.call('ZREM', open, id)
      note(journal, id, 'DONE', attempts)
    else
      redis.call('HSET', record, 'state', 'FAILED')
      redis.call('ZREM', open, id)
      if not lost then  -- what the chain took back is not owed
        redis.call('ZADD', refundable, now, id)
        redis.call('PERSIST', record)  -- a debt does not expire: refunded.lua lets the record expire
      end
      note(journal, id, 'FAILED', attempts)
    end
  else
    local probes = redis.call('HINCRBY', record, 'probes', 1)
    local pause = math.min(FIRST_PROBE_MS * 2 ^ math.min(probes, 10), LONGEST_PROBE_MS)
    if now > (valid_before + OLD_S) * 1000 then pause = OLD_PROBE_MS end
    redis.call('ZADD', open, now + probe_lease_ms + pause, id)
    if state ~= 'REJECTED' then redis.call('HSET', record, 'lease', now + probe_lease_ms) end
    taken[#taken + 1] = {id, state, attempts, tostring(valid_before), offer, payer, payment or '', endpoint,
      facilitator or ''}
  end
end
return taken
