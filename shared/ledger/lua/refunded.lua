#!lua flags=allow-oom
-- Closes a refundable payment with a transfer that paid it back. A transfer closes one payment. Uses: now, note.
--
-- KEYS: record, refundable, refunds, journal: of the payment (shared/ledger/refunds.py)
-- ARGV: id: of the payment
--       transaction: that the transfer is in
--       transfer: its name
-- Returns 1 when the payment is closed, now or by this transfer before; else 0.
local record, refundable, refunds, journal = unpack(KEYS)
local id, transaction, transfer = unpack(ARGV)

local closed = redis.call('HGET', refunds, transfer)
if closed then return closed == id and 1 or 0 end
local state, refunded, attempts = unpack(redis.call('HMGET', record, 'state', 'refunded', 'attempts'))
if state ~= 'FAILED' or refunded then return 0 end
redis.call('HSET', refunds, transfer, id)
redis.call('HSET', record, 'refunded', now, 'refund_tx', transaction)
redis.call('EXPIRE', record, RECORD_TTL_S)
redis.call('ZREM', refundable, id)
note(journal, id, 'REFUNDED', attempts)
return 1
