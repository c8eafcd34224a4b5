-- wrk sends jobs of distinct ids; the last line that it prints is what it saw, as JSON.
local start, sent, stem = os.getenv("BENCH_START"), 0, nil
local head = "POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: Bearer "
  .. os.getenv("BENCH_KEY") .. "\r\nContent-Length: %d\r\n\r\n"
local body = '{"asset":"bench/2026/IMG_%07d.JPG","id":"%s-%07d",'
  .. '"edit":{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}]}}'
local length = #string.format(body, 0, start, 0)
head = string.format(head, length)

function request()
  sent = sent + 1
  return head .. string.format(body, sent, start, sent)
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"seconds":%.6f,"failed":%d,"p50":%.1f,"p99":%.1f}', summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
