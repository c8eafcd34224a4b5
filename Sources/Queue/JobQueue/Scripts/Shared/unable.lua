-- Workers whose machines cannot do a job: the record's field `unable` has their names, one a line, with a line feed at both ends.

--
-- A worker lives until `reap` removes it, after ten leases without a beat. Its last beat may be older than a lease: Redis was away, or its
-- clock leapt, and the caller is the first that is back.

-- The most workers that are looked at: beyond them one is believed to be able.
local LIVE_MAX = 1000
local live_workers

-- Returns whether a worker that lives is not among these.
local function able_worker(unable)
  live_workers = live_workers or call('ZREVRANGEBYSCORE', P .. 'workers', '+inf', '-inf', 'LIMIT', '0', int(LIVE_MAX))
  for _, name in ipairs(live_workers) do
    if not unable:find('\n' .. name .. '\n', 1, true) then return true end
  end
  return #live_workers >= LIVE_MAX
end
