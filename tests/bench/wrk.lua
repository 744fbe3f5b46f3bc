-- POSTs the content of the file BENCH_BODY, with each line of the file BENCH_PAYMENTS once as PAYMENT-SIGNATURE, and prints one JSON line at the end.

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local file = assert(io.open(os.getenv("BENCH_BODY"), "rb"))
wrk.body = file:read("*a")
file:close()

local pause_ms = tonumber(os.getenv("BENCH_PAUSE_MS") or "0")
if pause_ms > 0 then
  function delay() return pause_ms end
end

local payments, wallets = os.getenv("BENCH_PAYMENTS"), tonumber(os.getenv("BENCH_WALLETS") or "0")
if wallets > 0 then
  local sent = 0

  function request()
    sent = sent + 1
    wrk.headers["X-Wallet"] = "wallet-" .. sent % wallets
    return wrk.format()
  end
elseif payments then
  local ready, sent = {}, 0

  function init()
    for payment in io.lines(payments) do
      wrk.headers["PAYMENT-SIGNATURE"] = payment
      ready[#ready + 1] = wrk.format()
    end
  end

  function request()
    sent = sent + 1
    if sent > #ready then
      -- Sending one twice would measure another thing. Whoever started this sees that all of them were used.
      os.exit(3)
    end
    return ready[sent]
  end
end

-- wrk adds latencies that a caller with a fixed rhythm would have seen during a stall ("stats_correct"). Our callers have
-- no rhythm: they wait. The addition is exact integer work from the longest latency down, so it can be taken out again.
local function measured(latency, interval)
  local counts, values, longest = {}, {}, 0
  for i = 1, #latency do
    local value, count = latency(i)
    counts[value], values[i], longest = count, value, math.max(longest, value)
  end
  for i = #values, 1, -1 do
    local value = values[i]
    if value > interval then
      for longer = value + interval, longest, interval do
        counts[value] = counts[value] - (counts[longer] or 0)
      end
    end
  end
  return values, counts
end

local function percentile(values, counts, total, share)
  local seen = 0
  for _, value in ipairs(values) do
    seen = seen + counts[value]
    if seen >= total * share then return value end
  end
  return 0
end

function done(summary, latency)
  local interval = math.floor(summary.duration / math.max(1, math.floor(summary.requests / tonumber(os.getenv("BENCH_IN_FLIGHT")))))
  local values, counts = measured(latency, interval)
  local total = 0
  for _, value in ipairs(values) do total = total + counts[value] end
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "latencies": %d, "duration_us": %d, "p50_us": %d, "p99_us": %d, "statuses": %d, "broken": %d}\n',
    summary.requests, total, summary.duration,
    percentile(values, counts, total, 0.5), percentile(values, counts, total, 0.99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
