#!lua flags=allow-oom
-- Stores what a job ended with, if it is final, and else frees its payment for one more run. The first final outcome of a payment
-- wins. allow-oom: a charged call's answer must be storable when a full Redis refuses new claims. Uses: now, note, observe.
--
-- KEYS: record, answer, open, journal: of the payment
--       baseline, payer_index: where its observation is kept; the record again where there is none beside the payments
-- ARGV: id: of the payment
--       outcome: sealed
--       kind: 'final' or 'again'
--       ttl_s: how long the answer is kept
--       tag: of an observation on another Redis, or ''
--       cause, fault: of a failure, or ''
--       observation: sealed, or ''
--       observation_ttl_ms: how long it is kept
--       most: baselines of one payer
-- Returns the sealed outcome that counts; an error when the settlement is not recorded, or was given up as
-- FAILED: its refund may be under way.
local record, answer, open, journal, baseline, payer_index = unpack(KEYS)
local id, outcome, kind, ttl_s, tag, cause, fault, observation, observation_ttl_ms, most = unpack(ARGV)

local stored = redis.call('GET', answer)
if stored then return stored end
local state, attempts, failures, failing_since, settled, failure = unpack(redis.call(
  'HMGET', record, 'state', 'attempts', 'failures', 'failing_since', 'settled', 'failure'))
if not state then return outcome end
if state == 'FAILED' then return redis.error_reply('FAILED the payment is refundable, and is not answered any more') end
if state == 'SETTLING' or state == 'UNKNOWN' or state == 'REJECTED' then
  return redis.error_reply('UNSETTLED the settlement is not recorded')
end
if kind == 'final' then
  redis.call('SET', answer, outcome, 'EX', ttl_s)
  redis.call('HSET', record, 'state', 'DONE', 'lease', 0)
  redis.call('HDEL', record, 'failure')
  redis.call('ZREM', open, id)
  if tag ~= '' then redis.call('HSET', record, 'observed', tag) end
  if observation ~= '' then
    observe(baseline, payer_index, observation, tonumber(settled or now), observation_ttl_ms, tonumber(most))
  end
  note(journal, id, 'DONE', attempts, cause, fault)
elseif failure ~= outcome then  -- it counts once, however often it is sent
  local count, since = tonumber(failures or 0), tonumber(failing_since or 0)
  if now - since > RERUN_WINDOW_MS then count, since = 0, now end
  redis.call('HSET', record, 'lease', 0, 'failures', count + 1, 'failing_since', since, 'failure', outcome)
  note(journal, id, 'FAILURE', attempts, cause, fault)
end
return outcome
