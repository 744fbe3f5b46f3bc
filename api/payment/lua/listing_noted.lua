#!lua flags=allow-oom
-- Notes what became of a payment that was sent to a facilitator that lists it. Uses: now.
--
-- KEYS: listing: of the facilitator and the call (shared/ledger/listing.py)
-- ARGV: id: of the payment
--       transaction: of its settlement; '' when it was not settled
--       status: what the facilitator said of its catalogue, as JSON, or ''
--       trouble: why it was not settled there, or ''
--       pause_ms: how long no other payment goes there; 0: as long as was said before
-- Returns 1.
local listing = unpack(KEYS)
local id, transaction, status, trouble, pause_ms = unpack(ARGV)

if transaction ~= '' then
  redis.call('HSET', listing, 'payment', id, 'settled', now, 'transaction', transaction)
  redis.call('HDEL', listing, 'trouble', 'trouble_at')
end
if status ~= '' then redis.call('HSET', listing, 'status', status, 'status_at', now) end
if trouble ~= '' then redis.call('HSET', listing, 'trouble', trouble, 'trouble_at', now) end
if pause_ms ~= '0' then redis.call('HSET', listing, 'until', now + pause_ms) end
redis.call('EXPIRE', listing, KEEP_S)
return 1
