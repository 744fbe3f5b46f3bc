-- Defines channel_state(channel, max): what the payer of a channel is told of it. `max`: of the voucher that he brings. Where a claim
-- may have shown that one to everybody, it may be anybody who brings it: he does not get a voucher that could pay a call.
local function channel_state(channel, max)
  local state = redis.call('HMGET', channel, 'balance', 'claimed', 'withdraw_at', 'refund_nonce', 'charged', 'inflight', 'done_top',
    'top', 'sig')
  local shown_top, top = tonumber(redis.call('HGET', channel, 'shown_top') or 0), tonumber(state[8] or 0)
  if tonumber(max) <= shown_top and top > math.max(shown_top, tonumber(state[7] or 0)) then state[9] = '' end
  return state
end
