-- Ends a failed attempt: the job is retried later, as before or in quarantine, or it is dead.
--
-- ARGV     P, events max, done max, id, fence, the counter to increment: `attempts` or `crashes`,
--          delay ms or `dead`, `alone` for quarantine or ``, code, message, data of the event (JSON),
--          attempt for the history (JSON)
-- Returns  OK, or GONE, or FENCED
-- Crash    Before it, the lease expires and reap counts a crash; afterwards the attempt is counted.
local id, fence, counter, delay, quarantined, code, message, data, attempt =
  ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12]
local j = load(id)
local refused = refusal(j, fence)
if refused then return refused end
if j.state ~= 'active' then return 'GONE' end
if bury_damaged(j) then
  settle()
  return 'GONE'
end
local k = P .. 'job:' .. id
remember(id, attempt)
if j.cancel then
  cancel(j, j.cancel)
else
  end_hold(j)
  call('HINCRBY', k, counter, '1')
  if counter == 'crashes' then count('crashed') end
  if delay == 'dead' then
    leave_asset(j)
    make_dead(j, code, message, data)
  else
    -- The job keeps its asset: a later edit must not overtake it.
    call('HSET', k, 'state', 'delayed', 'code', code, 'message', message, 'delay', delay)
    if quarantined == 'alone' then quarantine(j, counter) end
    call('ZADD', P .. 'delayed', int(MS + delay), id)
    call('ZADD', P .. 'retrying', int(MS + delay), id)
    if not j.parent then count('retried') end
    emit('retried', j, j.generation .. '/retried/' .. fence, data)
  end
end
settle()
return 'OK'
