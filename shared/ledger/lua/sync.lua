#!lua flags=allow-oom
-- Records what the chain shows of a channel at a block. What an older block shows changes nothing. Uses: now, note.
--
-- KEYS: channel, channels, claimable, journal: of the channel's bucket
-- ARGV: id: of the channel
--       block: the number of the block
--       balance, claimed: of the contract's channel, in atomic units
--       leaving, withdraw_at: of a withdrawal that was announced, in atomic units and Unix ms; both 0 without one
--       refund_nonce
--       config, network, payer: fields of a new row
-- Returns 0: it was known from a newer block; 1: recorded; 2: recorded, and a withdrawal is new.
local channel, channels, claimable, journal = unpack(KEYS)
local id, block, balance, claimed, leaving, withdraw_at, refund_nonce, config, network, payer = unpack(ARGV)

local known, charged, done_top, was_leaving, was_claimed = unpack(redis.call('HMGET', channel,
  'block', 'charged', 'done_top', 'leaving', 'claimed'))
if known and tonumber(known) > tonumber(block) then return 0 end
redis.call('HSET', channel, 'block', block, 'balance', balance, 'claimed', claimed, 'leaving', leaving,
  'withdraw_at', withdraw_at, 'refund_nonce', refund_nonce)
if not known then
  -- What the ledger has lost is not to be charged again: the chain's word is the least that was charged.
  redis.call('HSET', channel, 'config', config, 'network', network, 'payer', payer, 'charged', claimed, 'inflight', 0,
    'top', claimed, 'sig', '', 'done_top', claimed, 'old_top', claimed, 'rotated', now, 'shown_top', 0, 'calls', 0, 'opened', now, 'owed_since', 0)
  redis.call('ZADD', channels, now, id)
  note(journal, id, 'OPENED', 0)
else
  if was_claimed ~= claimed then  -- what is owed now was charged after that claim was signed
    redis.call('HSET', channel, 'owed_since', tonumber(charged) > tonumber(claimed) and now or 0)
  end
  if tonumber(charged) < tonumber(claimed) then redis.call('HSET', channel, 'charged', claimed) end
  if tonumber(done_top) < tonumber(claimed) then
    redis.call('HSET', channel, 'done_top', claimed, 'old_top', claimed, 'rotated', now)
  end
end
if tonumber(leaving) > 0 and tonumber(was_leaving or 0) == 0 then
  if redis.call('ZSCORE', claimable, id) then redis.call('ZADD', claimable, 'LT', now, id) end
  note(journal, id, 'WITHDRAWING', 0)
  return 2
end
return 1
