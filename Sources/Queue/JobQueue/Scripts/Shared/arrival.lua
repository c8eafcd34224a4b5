-- The arrival of a job's entry, in µs since 1970. It determines the order of edits of one asset, whatever stream an entry used and
-- whenever it was admitted.
--
-- The id of an entry is a time in ms and a number within that ms, which is counted as µs. An XADD takes more than one µs, so
-- even a burst in one ms ends before the id of the next command begins. An id that is too far ahead of clock and queue was chosen by a
-- producer: such an entry counts as arriving now, after those before it.
--
-- While the server's clock is behind the queue's time, ids do not tell the order of arrival: the edits before may have had ids of a clock
-- that was ahead. But whatever was not in its stream when the stream was empty (`after`, in the queue's time) has arrived since, so it
-- counts as arriving now.
local ARRIVAL_AHEAD_MAX = 5 * 1000 * 1000  -- µs
local function arrival_from(us, after)
  local now = queue_time()
  local least = math.max(after, floor)
  if us > math.max(US + ARRIVAL_AHEAD_MAX, now) or US < least and us <= least then return int(next_time()) end
  reached = math.max(now, us)
  return int(us)
end

local function arrived(entry, after)
  local ms, number = entry:match('^(%d+)%-(%d+)$')
  return arrival_from(ms * 1000 + number, after)
end

-- Returns the same for an entry of a batch stream. Its field `arrived`, which `append` writes, has the arrival. The ids 1-1, 1-2, …
-- contain no time: an entry that a plain XADD added with such an id arrives when it is fed.
local function arrived_in_stream(entry, field, after)
  if field then return arrival_from(tonumber(field), after) end
  if entry:find('^1%-') then return int(next_time()) end
  return arrived(entry, after)
end
