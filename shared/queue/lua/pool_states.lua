#!lua flags=no-writes
-- Reads the state of each pool, in the order of the keys. Uses: now.
--
-- KEYS: the stream of each pool, then for each the key that is there while its only upstream refuses our calls
-- ARGV: 1 the consumer group
--       2 how long a consumer may be silent and counts as a living worker, in ms
--       3 and further: for each pool, what keys begin with that hold why a worker cannot run jobs, before the worker's name
-- Returns for each pool {depth, running, waited in ms, workers, available, closed in ms, reason}, and at the end `now`.
local group_name, silent_ms = ARGV[1], tonumber(ARGV[2])
local pools = #KEYS / 2

local function named(flat)
  local fields = {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end

local states = {}
for i = 1, pools do
  local stream, closed_key, unavailable_prefix = KEYS[i], KEYS[pools + i], ARGV[2 + i]
  local running, waited, workers, available, reason = 0, 0, 0, 0, ''
  local groups = redis.pcall('XINFO', 'GROUPS', stream)
  for _, flat in ipairs(groups) do
    local group = named(flat)
    if group['name'] == group_name then
      running = group['pending']
      local first = redis.call('XRANGE', stream, '(' .. group['last-delivered-id'], '+', 'COUNT', 1)[1]
      if first then waited = now - tonumber(string.match(first[1], '^%d+')) end
      for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', stream, group_name)) do
        local fields = named(consumer)
        if fields['idle'] < silent_ms then
          workers = workers + 1
          local unavailable = redis.call('GET', unavailable_prefix .. fields['name'])
          if unavailable then reason = unavailable else available = available + 1 end
        end
      end
    end
  end
  local closed = math.max(0, redis.call('PTTL', closed_key))
  states[i] = {redis.call('XLEN', stream), running, waited, workers, available, closed, reason}
end
states[pools + 1] = now
return states
