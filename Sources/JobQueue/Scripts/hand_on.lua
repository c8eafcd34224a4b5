-- Hands on a job after step 2 of publishing failed: any worker publishes the version again after a delay. If that was tried often
-- enough, the job is stuck.
--
-- ARGV     P, events max, done max, id, fence, delay ms, carries max, code, message, attempt for the history (JSON)
-- Returns  OK, or GONE, or FENCED
-- Crash    Before it, the lease expires, which counts as one carry as well; afterwards reap finds the job after the
--          delay. Called again with the same fence: OK, and no second entry in the history.
local id, fence, delay, carries_max, code, message, attempt =
  ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8], ARGV[9], ARGV[10]
local j = load(id)
local refused = refusal(j, fence)
if refused then return refused end
if j.state == 'stuck' or j.handedOn then return 'OK' end
if j.state ~= 'committing' then return 'GONE' end
remember(id, attempt)
if tonumber(j.carries) >= carries_max then
  get_stuck(j, code, message)
else
  -- The heartbeat does not renew the lease of a job that was handed on.
  call('HSET', P .. 'job:' .. id, 'code', code, 'message', message, 'handedOn', '1', 'lease', delay)
  hold(id, j.tenant, int(MS + delay))
end
settle()
return 'OK'
