-- When the entry of a job arrived, in µs since 1970. Edits of one asset count in this order, whichever stream they came
-- through and whenever they were admitted.
--
-- The id of an entry is a time: ms, and a number within that ms, which is counted as µs. An XADD takes more than one µs,
-- so even a burst in one ms ends before the id of the next command begins. Ids rise within a stream even when the
-- server's clock is set back, or a replica takes over whose clock is behind. An id that is further ahead of the clock is a
-- producer's invention: such an entry arrived now, after those before it.
local ARRIVAL_AHEAD_MAX, invented = 5 * 1000 * 1000, 0  -- µs
local function believed(us)
  if us <= US + ARRIVAL_AHEAD_MAX then return int(us) end
  invented = invented + 1
  return int(US + invented)
end

local function arrived(entry)
  local ms, number = entry:match('^(%d+)%-(%d+)$')
  return believed(ms * 1000 + number)
end

-- The same for an entry of a lane. Its field `arrived` says it, which append writes. The ids 1-1, 1-2, … say no time:
-- a plain XADD with one of them arrives when it is fed, as the entry of this number in one call of feed.
local function arrived_in_lane(entry, field, number)
  if field then return believed(tonumber(field)) end
  if entry:find('^1%-') then return int(US + number) end
  return arrived(entry)
end
