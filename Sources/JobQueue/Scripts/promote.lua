-- Makes delayed jobs that are due ready, the longest due first.
--
-- ARGV     P, events max, done max, maximum jobs
-- Returns  {jobs that were promoted, jobs that were postponed}
-- Crash    A job is either delayed or ready, never both and never neither.
local most, promoted, later = ARGV[4], 0, 0
-- A job whose record has a later format is left to a newer worker: it is postponed by this time, so that it does not block
-- other jobs.
local PUT_OFF = 60 * 1000  -- ms
for _, id in ipairs(call('ZRANGEBYSCORE', P .. 'delayed', '-inf', NOW, 'LIMIT', '0', most)) do
  local j = load(id)
  if j and is_later(j) then
    later = later + 1
    call('ZADD', P .. 'delayed', 'XX', int(MS + PUT_OFF), id)
  else
    promoted = promoted + 1
    call('ZREM', P .. 'delayed', id)
    if j then make_ready(j) end  -- otherwise Redis lost its record
  end
end
settle()
return {promoted, later}
