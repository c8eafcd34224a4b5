-- Workers whose machines cannot do a job: the record's field `unable` has their names, one a line, with a line feed at both ends.

-- The most workers that are looked at: beyond them one is believed to be able.
local LIVE_MAX = 1000
local live_workers

-- Returns whether a worker that was heard of within a lease is not among these.
local function able_worker(unable, lease)
  if not live_workers then
    live_workers = call('ZRANGEBYSCORE', P .. 'workers', int(MS - lease), '+inf', 'LIMIT', '0', int(LIVE_MAX))
  end
  for _, name in ipairs(live_workers) do
    if not unable:find('\n' .. name .. '\n', 1, true) then return true end
  end
  return #live_workers >= LIVE_MAX
end
