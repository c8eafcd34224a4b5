-- The limit of jobs that are admitted ahead of the workers. A record needs ten times the memory of an entry, so a flood stays in
-- its stream. The limit of the urgent stream is twice as high.
local AHEAD_MAX, AHEAD_BYTES_MAX = tonumber(ARGV[12]), tonumber(ARGV[13])
local CAPPED_STEP = '100'  -- approximate number of flows at their caps that are counted

-- Returns the number of jobs that wait for a cap. As many further jobs may be admitted, so that a paused tenant does not keep
-- out all others.
local function ready_at_caps()
  local ready, flows = 0, call('HSCAN', P .. 'capped', '0', 'COUNT', CAPPED_STEP)[2]
  for i = 1, #flows, 2 do ready = ready + call('ZCARD', P .. 'ready:' .. flows[i]) end
  return math.min(ready, AHEAD_MAX)
end

-- Returns the number of jobs that may still be admitted from a stream.
local function room_ahead(door)
  local before = call('HMGET', P .. 'virtual', 'aheadJobs', 'aheadBytes')
  if (before[2] or 0) + ahead.bytes >= door.share * AHEAD_BYTES_MAX then return 0 end
  -- Jobs of the previous version were not counted at their admission.
  local room = door.share * AHEAD_MAX - math.max(0, (before[1] or 0) + ahead.jobs)
  return room > 0 and room or room + ready_at_caps()
end
