-- How much is admitted ahead of the workers: a record takes ten times the memory of an entry, so a flood stays in its
-- stream. The urgent door goes on for as much again.
local AHEAD_MAX, AHEAD_BYTES_MAX = tonumber(ARGV[12]), tonumber(ARGV[13])

-- How many jobs may still come through a door.
local function room_ahead(door)
  local before = call('HMGET', P .. 'virtual', 'aheadJobs', 'aheadBytes')
  if (before[2] or 0) + ahead.bytes >= door.share * AHEAD_BYTES_MAX then return 0 end
  -- Jobs of the version before were not counted when they came.
  return door.share * AHEAD_MAX - math.max(0, (before[1] or 0) + ahead.jobs)
end
