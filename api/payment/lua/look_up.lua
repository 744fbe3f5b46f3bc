#!lua
-- Looks a payment up, and makes the caller its driver where the mode says so. It has the flag allow-oom where nothing is claimed:
-- CLAIM and FIND in api/payment/transitions.py. Uses: now, note, rate_wait.
--
-- KEYS: record, answer, open, journal: of the payment
--       rate: when the payer's next call of this endpoint would be in time if all came at the allowed rate, in Unix ms
--       identifier: holds the payment that has the identifier of this call; the record again where the call has none
--       token: holds the payment that a token has paid; the record again where the payment has none
--       undelivered: holds the payment whose answer to the same request was not delivered; the record again where that is not asked
-- ARGV: id: of the payment
--       mode: 'peek': no driver; 'resume': of what is settled; 'find': of what is known; 'claim': also of what is absent
--       fingerprint, previous_fingerprint: of the request, by our key, and by the one before it or ''
--       settle_lease_ms, run_lease_ms: how long the caller is the driver, before and after the settlement
--       interval_ms, burst: of the payer's rate: one new call in so long, and so many at once; 0 as interval: any number
--       valid_before: when the authorization expires, in Unix s
--       last_claim: until when it may be claimed, in Unix s; 0: at any time
--       driver: a name of the caller. One whose answer was lost asks again under its name, and still is the driver.
--       endpoint, payer, offer, payment: fields of a new record; '' as payment: without it
-- Returns a verdict (api/payment/ledger_terms.py), and what belongs to it.
local record, answer, open, journal, rate, identifier, token, undelivered = unpack(KEYS)
local id, mode, fingerprint, previous_fingerprint, settle_lease_ms, run_lease_ms, interval_ms, burst, valid_before, last_claim,
  driver, endpoint, payer, offer, payment = unpack(ARGV)

local claimed_by, state, lease, reason, receipt, failures, failing_since, failure, current_driver = unpack(redis.call(
  'HMGET', record, 'fingerprint', 'state', 'lease', 'reason', 'receipt', 'failures', 'failing_since', 'failure', 'driver'))
if not claimed_by then
  if mode ~= 'claim' then return {'absent'} end
  -- Another payment that a key holds, unless it was refused.
  local function other_payment(key, record, id)
    if key == record then return nil end
    local other = redis.call('GET', key)
    if not other or other == id then return nil end
    local records = string.sub(record, 1, #record - #id)  -- what records of the bucket begin with
    local state = redis.call('HGET', records .. other, 'state')
    return state and state ~= 'REJECTED' and other
  end
  local identified = other_payment(identifier, record, id) or other_payment(undelivered, record, id)
  if identified then return {'identified', identified} end
  if other_payment(token, record, id) then return {'conflict'} end
  if last_claim ~= '0' and now > last_claim * 1000 then return {'late'} end
  local wait, left, reset = rate_wait(rate, tonumber(interval_ms), tonumber(burst), now)
  if wait then return {'limited', tostring(wait), reset} end
  redis.call('HSET', record, 'fingerprint', fingerprint, 'state', 'SETTLING', 'attempts', 1, 'created', now,
    'lease', now + settle_lease_ms, 'valid_before', valid_before, 'driver', driver,
    'endpoint', endpoint, 'payer', payer, 'offer', offer)
  if payment ~= '' then redis.call('HSET', record, 'payment', payment) end
  redis.call('EXPIRE', record, RECORD_TTL_S)
  if identifier ~= record then redis.call('SET', identifier, id, 'EX', RECORD_TTL_S) end
  if token ~= record then redis.call('SET', token, id, 'EX', TOKEN_TTL_S) end
  redis.call('ZADD', open, now + settle_lease_ms, id)
  note(journal, id, 'SETTLING', 1)
  return {'settle', '1', left, reset, ''}
end
if claimed_by ~= fingerprint and claimed_by ~= previous_fingerprint then
  return {(state == 'SETTLING' or state == 'UNKNOWN') and 'claimed' or 'conflict'}
end
if state == 'DONE' then
  local sealed = redis.call('GET', answer)
  if sealed then return {'answer', receipt, sealed} end
  return {'expired'}
end
if state == 'REJECTED' then return {'rejected', reason} end
if state == 'FAILED' then return {'failed', receipt, redis.call('HGET', record, 'refund_tx') or ''} end
if tonumber(lease) > now then
  if current_driver ~= driver then return {'wait', receipt or ''} end
  if state == 'SETTLED' then return {'run', receipt} end
  local attempts, facilitator = unpack(redis.call('HMGET', record, 'attempts', 'facilitator'))
  return {'settle', attempts, '', '', facilitator or ''}
end
if state == 'SETTLED' and tonumber(failures or 0) > FREE_RERUNS then
  local rest = tonumber(failing_since) + RERUN_WINDOW_MS - now
  if rest > 0 then return {'answer', receipt, failure, tostring(rest)} end
end
if mode == 'peek' or (mode == 'resume' and state ~= 'SETTLED') then
  return {'idle', receipt or ''}
end
if state == 'SETTLED' then
  redis.call('HSET', record, 'lease', now + run_lease_ms, 'driver', driver)
  return {'run', receipt}
end
redis.call('HSET', record, 'state', 'SETTLING', 'lease', now + settle_lease_ms, 'driver', driver)
redis.call('ZADD', open, now + settle_lease_ms, id)
local attempts = redis.call('HINCRBY', record, 'attempts', 1)
note(journal, id, 'SETTLING', attempts)
return {'settle', tostring(attempts), '', '', redis.call('HGET', record, 'facilitator') or ''}
