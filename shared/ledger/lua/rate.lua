-- Defines rate_wait(rate, interval, most, now): takes one call out of a payer's rate, and returns how long the payer has to wait in
-- milliseconds, or false, then how many calls are left, and in how many milliseconds all are. `interval` 0: any number of calls.
local function rate_wait(rate, interval, most, now)
  if interval <= 0 then return false, '', '' end
  local arrival = math.max(now, tonumber(redis.call('GET', rate) or 0))
  local wait = arrival + interval - interval * most - now
  if wait > 0 then return math.ceil(wait), '', tostring(math.ceil(arrival - now)) end
  arrival = arrival + interval
  redis.call('SET', rate, string.format('%.3f', arrival), 'PX', math.ceil(arrival - now))
  return false, tostring(math.floor((interval * most - (arrival - now)) / interval)), tostring(math.ceil(arrival - now))
end
