-- The arrival of a job's entry, in µs since 1970. It determines the order of edits of one asset, whatever stream an entry used and
-- whenever it was admitted.
--
-- The id of an entry is a time in ms and a number within that ms, which is counted as µs. An XADD takes more than one µs, so
-- even a burst in one ms ends before the id of the next command begins. Ids increase within a stream even if the server's
-- clock is set back, or if a replica with a slower clock takes over. An id that is too far ahead of the clock was chosen by a
-- producer: such an entry counts as arriving now, after those before it.
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

-- Returns the same for an entry of a batch stream. Its field `arrived`, which `append` writes, has the arrival. The ids 1-1, 1-2, …
-- contain no time: an entry that a plain XADD added with such an id arrives when it is fed, as the entry of this number in one
-- call of `feed`.
local function arrived_in_stream(entry, field, number)
  if field then return believed(tonumber(field)) end
  if entry:find('^1%-') then return int(US + number) end
  return arrived(entry)
end
