#!lua
-- Looks a voucher up, and where it is new reserves its price in the channel and makes the caller the driver of its call. Where
-- nothing is claimed it has the flag allow-oom: ACCEPT and FIND_VOUCHER in api/payment/transitions.py. Uses: now, channel_state,
-- rate_wait.
--
-- KEYS: record, answer, channel, running: of the voucher
--       rate: as in look_up.lua
--       identifier: holds the payment that has the identifier of this call; the record again where the call has none
-- ARGV: id: of the voucher
--       mode, fingerprint, previous_fingerprint, run_lease_ms, interval_ms, burst, driver, endpoint: as in look_up.lua
--       price: of the call, in atomic units
--       max: of the voucher
--       signature: its payer's, in hex
-- Returns a verdict (api/payment/ledger_terms.py), and what belongs to it.
local record, answer, channel, running, rate, identifier = unpack(KEYS)
local id, mode, fingerprint, previous_fingerprint, run_lease_ms, interval_ms, burst, driver, endpoint,
  price, max, signature = unpack(ARGV)

local claimed_by, state, lease, current_driver = unpack(redis.call('HMGET', record,
  'fingerprint', 'state', 'lease', 'driver'))
if claimed_by and state ~= 'VOID' then
  if claimed_by ~= fingerprint and claimed_by ~= previous_fingerprint then
    return {'mismatch', channel_state(channel, max)}  -- it pays another call: the payer signs the next one
  end
  if state == 'DONE' then
    local stored = redis.call('GET', answer)
    if stored then return {'answer', stored} end
    return {'expired'}
  end
  if tonumber(lease) > now then
    if current_driver == driver then return {'run'} end
    return {'wait'}
  end
  if mode == 'peek' then return {'idle'} end
  redis.call('HSET', record, 'lease', now + run_lease_ms, 'driver', driver)
  redis.call('ZADD', running, now + run_lease_ms, id)
  return {'run'}
end
if mode ~= 'claim' then return {'absent'} end
if identifier ~= record then
  local other = redis.call('GET', identifier)
  -- A call that failed, and was not charged, has given the identifier free.
  if other and other ~= id and redis.call('HGET', string.sub(record, 1, -#id - 1) .. other, 'state') ~= 'VOID' then
    return {'identified', other}
  end
end
local balance, leaving, charged, inflight, top, done_top, old_top, rotated, shown_top, refunding = unpack(redis.call('HMGET',
  channel, 'balance', 'leaving', 'charged', 'inflight', 'top', 'done_top', 'old_top', 'rotated', 'shown_top', 'refunding'))
if not balance then return {'unknown'} end
if refunding == '1' then return {'busy'} end
local most = tonumber(max)
-- Vouchers in flight come in any order: the highest one covers all. No voucher comes twice: the records of the last minutes say
-- so, and of those before them the highest. One that a claim has shown to everybody pays no call.
local used = now - tonumber(rotated) < ROTATION_MS and old_top or done_top
local owed = tonumber(charged) + tonumber(inflight) + tonumber(price)
if math.max(most, tonumber(top)) < owed or most <= math.max(tonumber(used), tonumber(shown_top or 0)) then
  return {'mismatch', channel_state(channel, max)}
end
-- What an earlier voucher covers may have left the channel since.
if math.max(most, owed) > tonumber(balance) - tonumber(leaving) then return {'exceeds', channel_state(channel, max)} end
local wait, left, reset = rate_wait(rate, tonumber(interval_ms), tonumber(burst), now)
if wait then return {'limited', tostring(wait), reset} end
redis.call('HSET', record, 'fingerprint', fingerprint, 'state', 'RUNNING', 'lease', now + run_lease_ms, 'driver', driver,
  'endpoint', endpoint, 'price', price, 'max', max, 'channel', channel, 'settled', now)
redis.call('EXPIRE', record, RECORD_TTL_S)
if identifier ~= record then redis.call('SET', identifier, id, 'EX', ANSWER_TTL_S) end
redis.call('HINCRBY', channel, 'inflight', price)
if most > tonumber(top) then redis.call('HSET', channel, 'top', max, 'sig', signature) end
redis.call('ZADD', running, now + run_lease_ms, id)
return {'run', left, reset}
