#!lua flags=no-writes
-- Counts the payments of one bucket that the chain took back lately. Uses: now.
--
-- KEYS: the index of lost payments of each rail
-- ARGV: 1 how far back, in ms
-- Returns a count for each key.
local window_ms = ARGV[1]

local counts = {}
for number, lost_of_rail in ipairs(KEYS) do
  counts[number] = redis.call('ZCOUNT', lost_of_rail, now - window_ms, '+inf')
end
return counts
