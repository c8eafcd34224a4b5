-- Hands on a job after step 2 of publishing failed: any worker publishes the version again after a delay. If that was tried often
-- enough, the job is stuck. A worker that was to publish the version for another one and cannot, because of an outage or
-- because it stops, gives it back instead: then no carry is counted.
--
-- ARGV     P, events max, done max, id, fence, delay ms, carries max, code, message, attempt for the history (JSON), message
--          of an event; or
--          P, events max, done max, id, fence, delay ms
-- Returns  OK, or GONE, or FENCED
-- Crash    Before it, the lease expires, which counts as one carry as well; afterwards reap finds the job after the
--          delay. Called again with the same fence: OK, and no second entry in the history.
local id, fence, delay, carries_max, code, message, attempt, told =
  ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local j = load(id)
local refused = refusal(j, fence)
if refused then return refused end
if j.state == 'stuck' or j.handedOn then return 'OK' end
if j.state ~= 'committing' then return 'GONE' end
if not attempt then
  call('HSET', P .. 'job:' .. id, 'handedOn', '1', 'carries', int(math.max(0, j.carries - 1)))
  call('ZADD', P .. 'lease', int(MS + delay), id)
  settle()
  return 'OK'
end
remember(id, attempt)
if not is_whole(j.carries) or tonumber(j.carries) >= carries_max then
  get_stuck(j, code, message, told)
else
  -- The heartbeat does not renew the lease of a job that was handed on.
  call('HSET', P .. 'job:' .. id, 'code', code, 'message', message, 'handedOn', '1', 'lease', delay)
  hold(id, j.tenant, int(MS + delay))
end
settle()
return 'OK'
