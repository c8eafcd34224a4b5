-- How much is admitted ahead of the workers: a record takes ten times the memory of an entry, so a flood stays in its
-- stream. The urgent door goes on for as much again.
local AHEAD_MAX, AHEAD_BYTES_MAX = tonumber(ARGV[12]), tonumber(ARGV[13])
local CAPPED_STEP = '100'  -- about how many flows at their caps are counted

-- How many jobs wait for a cap: as many again may be ahead because of them, so that a tenant that is paused does not
-- keep out all others.
local function ready_at_caps()
  local ready, flows = 0, call('HSCAN', P .. 'capped', '0', 'COUNT', CAPPED_STEP)[2]
  for i = 1, #flows, 2 do ready = ready + call('ZCARD', P .. 'ready:' .. flows[i]) end
  return math.min(ready, AHEAD_MAX)
end

-- How many jobs may still come through a door.
local function room_ahead(door)
  local before = call('HMGET', P .. 'virtual', 'aheadJobs', 'aheadBytes')
  if (before[2] or 0) + ahead.bytes >= door.share * AHEAD_BYTES_MAX then return 0 end
  -- Jobs of the version before were not counted when they came.
  local room = door.share * AHEAD_MAX - math.max(0, (before[1] or 0) + ahead.jobs)
  return room > 0 and room or room + ready_at_caps()
end
