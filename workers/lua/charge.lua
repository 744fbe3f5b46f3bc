#!lua flags=allow-oom
-- Stores the answer to a voucher's call and charges the channel for it, both or neither; a failure is not charged, and the voucher
-- may come again. The first answer wins. Uses: now, observe.
--
-- KEYS: record, answer, channel, running: of the voucher
--       claimable: CLAIMABLE of its bucket
--       baseline, payer_index: as in done.lua
-- ARGV: id: of the voucher
--       channel_id, network, payer: for the receipt
--       outcome: sealed
--       is_answer: '1': it is charged; '0': it is not
--       ttl_s: how long the answer is kept
--       claim_after_ms, claim_value: when the channel is to be claimed: so long after its oldest charge that is not claimed, or when
--         so many atomic units are not
--       tag, observation, observation_ttl_ms, most: as in done.lua
-- Returns the receipt, a line feed and the sealed outcome; without a receipt when nothing was charged.
local record, answer, channel, running, claimable, baseline, payer_index = unpack(KEYS)
local id, channel_id, network, payer, outcome, is_answer, ttl_s, claim_after_ms, claim_value, tag, observation,
  observation_ttl_ms, most = unpack(ARGV)

local stored = redis.call('GET', answer)
if stored then return stored end
local state, price, max, settled, endpoint = unpack(redis.call('HMGET', record, 'state', 'price', 'max', 'settled', 'endpoint'))
if state ~= 'RUNNING' then return is_answer == '1' and '\n' or '\n' .. outcome end  -- it was given up: no answer for free
redis.call('ZREM', running, id)
redis.call('HINCRBY', channel, 'inflight', -price)
redis.call('EXPIRE', record, ttl_s)
if is_answer == '0' then
  redis.call('HSET', record, 'state', 'VOID', 'lease', 0)
  return '\n' .. outcome
end
local charged = redis.call('HINCRBY', channel, 'charged', price)
redis.call('HINCRBY', channel, 'calls', 1)
redis.call('HINCRBY', channel, SOLD .. endpoint .. ':' .. price, 1)  -- for the books
local balance, claimed, withdraw_at, refund_nonce, done_top, owed_since, leaving, rotated = unpack(redis.call('HMGET', channel,
  'balance', 'claimed', 'withdraw_at', 'refund_nonce', 'done_top', 'owed_since', 'leaving', 'rotated'))
if now - tonumber(rotated) >= ROTATION_MS then redis.call('HSET', channel, 'old_top', done_top, 'rotated', now) end
local floor = math.max(charged, tonumber(done_top), tonumber(max))  -- the next voucher is to be above it
redis.call('HSET', channel, 'done_top', string.format('%.0f', math.max(tonumber(done_top), tonumber(max))))
if tonumber(owed_since) == 0 then redis.call('HSET', channel, 'owed_since', now) end
redis.call('ZADD', claimable, 'NX', now + claim_after_ms, channel_id)
if charged - tonumber(claimed) >= tonumber(claim_value) or tonumber(leaving) > 0 then
  redis.call('ZADD', claimable, 'LT', now, channel_id)
end
local receipt = string.format('{"success":true,"transaction":"","network":"%s","payer":"%s","amount":"","extra":{'
  .. '"channelState":{"channelId":"%s","balance":"%s","totalClaimed":"%s","withdrawRequestedAt":%d,"refundNonce":"%s",'
  .. '"chargedCumulativeAmount":"%.0f"},"chargedAmount":"%s"}}', network, payer, channel_id, balance, claimed,
  math.floor(tonumber(withdraw_at) / 1000), refund_nonce, floor, price)
local answered = receipt .. '\n' .. outcome
redis.call('SET', answer, answered, 'EX', ttl_s)
redis.call('HSET', record, 'state', 'DONE', 'lease', 0)
if tag ~= '' then redis.call('HSET', record, 'observed', tag) end
if observation ~= '' then
  observe(baseline, payer_index, observation, tonumber(settled), observation_ttl_ms, tonumber(most))
end
return answered
