-- Defines note(journal, payment, event, attempts, cause, fault), for every script that moves a payment: it writes one line of the
-- journal of the payment's bucket. The last three may be left out; only what failed has a cause and a fault.
local function note(journal, payment, event, attempts, cause, fault)
  local length = journal == SHARED_JOURNAL and SHARED_JOURNAL_LENGTH or JOURNAL_LENGTH
  local failed = (cause or '') ~= '' and {'cause', cause, 'fault', fault} or {}
  redis.call('XADD', journal, 'MAXLEN', '~', length, '*',
    'payment', payment, 'event', event, 'attempts', attempts or '', unpack(failed))
end
