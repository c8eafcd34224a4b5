-- Lets delayed jobs wait for a worker that are due, those first that are due the longest.
--
-- ARGV   P, events max, done max, jobs at most, how many to pass over
-- Returns {jobs that were promoted, jobs that stay: their records are of a later format}. A caller goes on behind those.
-- Crash  A job is delayed or it is ready, never both and never neither.
local most, offset, promoted, later = ARGV[4], ARGV[5], 0, 0
for _, id in ipairs(call('ZRANGEBYSCORE', P .. 'delayed', '-inf', NOW, 'LIMIT', offset, most)) do
  local j = load(id)
  if j and is_later(j) then
    later = later + 1
  else
    promoted = promoted + 1
    call('ZREM', P .. 'delayed', id)
    if j then make_ready(j) end  -- else Redis lost its record
  end
end
settle()
return {promoted, later}
