-- Lets delayed jobs wait for a worker that are due, those first that are due the longest.
--
-- ARGV   P, events max, done max, jobs at most
-- Returns {jobs that were promoted, jobs that were put off}
-- Crash  A job is delayed or it is ready, never both and never neither.
local most, promoted, later = ARGV[4], 0, 0
-- A job whose record is of a later format is for a newer worker: it is looked at again after so long, and keeps no
-- others back.
local PUT_OFF = 60 * 1000  -- ms
for _, id in ipairs(call('ZRANGEBYSCORE', P .. 'delayed', '-inf', NOW, 'LIMIT', '0', most)) do
  local j = load(id)
  if j and is_later(j) then
    later = later + 1
    call('ZADD', P .. 'delayed', 'XX', int(MS + PUT_OFF), id)
  else
    promoted = promoted + 1
    call('ZREM', P .. 'delayed', id)
    if j then make_ready(j) end  -- else Redis lost its record
  end
end
settle()
return {promoted, later}
