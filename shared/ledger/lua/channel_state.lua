-- Defines channel_state(channel): what the payer of a channel is told of it.
local function channel_state(channel)
  return redis.call('HMGET', channel, 'balance', 'claimed', 'withdraw_at', 'refund_nonce', 'charged', 'inflight', 'done_top', 'top',
    'sig')
end
