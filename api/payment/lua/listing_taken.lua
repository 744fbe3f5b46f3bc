#!lua
-- Gives a payment the turn to be settled by a facilitator that lists it, if nobody has it now. Uses: now.
--
-- KEYS: listing: of the facilitator and the call (shared/ledger/listing.py)
-- ARGV: id: of the payment
--       hold_ms: how long no other payment gets it, unless `listing_noted` says how long
-- Returns 0, or how long it is taken, in ms.
local listing = unpack(KEYS)
local id, hold_ms = unpack(ARGV)

local wait = tonumber(redis.call('HGET', listing, 'until') or 0) - now
if wait > 0 then return wait end
redis.call('HSET', listing, 'until', now + hold_ms, 'payment', id)
redis.call('EXPIRE', listing, KEEP_S)
return 0
