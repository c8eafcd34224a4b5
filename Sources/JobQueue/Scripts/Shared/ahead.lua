-- How much is admitted ahead of the workers: a record takes ten times the memory of an entry, so a flood stays in its
-- stream. The urgent door goes on for as much again.
local AHEAD_MAX, AHEAD_BYTES_MAX = tonumber(ARGV[12]), tonumber(ARGV[13])

-- How many jobs may still come through a door. Jobs that wait or run have their assets or are parked behind those that
-- do; the few edits that are large are counted by `weigh`. What waits for its notBefore is not counted: it would keep out
-- what can be done now.
local function room_ahead(door)
  local bytes = tonumber(call('HGET', P .. 'virtual', 'aheadBytes') or '0')
  if bytes >= door.share * AHEAD_BYTES_MAX then return 0 end
  return door.share * AHEAD_MAX - call('HLEN', P .. 'assets') - call('ZCARD', P .. 'parked')
end
