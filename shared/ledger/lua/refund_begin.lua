#!lua
-- Notes that a payer wants the rest of a channel back. From then on no voucher of it is taken until refund_end. Uses: now,
-- channel_state.
--
-- KEYS: channel, refunds: of the channel's bucket
-- ARGV: id: of the channel
--       max: of the voucher that asks: what was charged, or the highest voucher that was
--       wanted: atomic units, or '': all that is left
-- Returns a verdict: {'unknown'}, {'mismatch', state}, {'busy'}: a call is under way, {'limited'}: too soon after the
-- last one or after too few calls, {'nothing'}: nothing is left, {'partial'}: not all is wanted, {'begun'}: now or before.
local channel, refunds = unpack(KEYS)
local id, max, wanted = unpack(ARGV)

local balance, charged, inflight, refunding, refunded, calls, done_top, refunded_calls = unpack(redis.call('HMGET', channel,
  'balance', 'charged', 'inflight', 'refunding', 'refunded', 'calls', 'done_top', 'refunded_calls'))
if not balance then return {'unknown'} end
if tonumber(max) ~= tonumber(charged) and tonumber(max) ~= tonumber(done_top) then return {'mismatch', channel_state(channel, max)} end
if refunding == '1' then return {'begun'} end  -- by a request whose caller may have left
if tonumber(inflight) > 0 then return {'busy'} end
local left = tonumber(balance) - tonumber(charged)
if left <= 0 then return {'nothing'} end
if wanted ~= '' and tonumber(wanted) ~= left then return {'partial', tostring(left)} end
if refunded and now - tonumber(refunded) < REFUND_PAUSE_MS then return {'limited'} end
if tonumber(calls) - tonumber(refunded_calls or 0) < REFUND_CALLS then return {'limited'} end
redis.call('HSET', channel, 'refunding', 1)
redis.call('HDEL', channel, 'refund')
redis.call('ZADD', refunds, now, id)
return {'begun'}
