#!lua flags=allow-oom
-- Takes or keeps the lease of the one claimer.
--
-- KEYS: lease
-- ARGV: name: of the process
--       lease_ms: for how long; 0 gives it back
-- Returns 1 when the process has it.
local lease = unpack(KEYS)
local name, lease_ms = unpack(ARGV)

local holder = redis.call('GET', lease)
if holder and holder ~= name then return 0 end
if lease_ms == '0' then
  redis.call('DEL', lease)
else
  redis.call('SET', lease, name, 'PX', lease_ms)
end
return 1
