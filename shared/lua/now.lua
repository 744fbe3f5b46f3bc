-- Defines `now`: the clock of this Redis, in Unix milliseconds. All leases on it are by this clock.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
