-- Releases a job, which can be claimed again from its old position. No attempt is counted.
--
-- ARGV     P, events max, done max, id, fence, reason: `shutdown`, `rebase` (the asset changed during the
--          render), `pressure` (its worker is short of memory), or `outage` (the library's store does not respond)
-- Returns  OK, or GONE, or FENCED
-- Crash    Before it, the lease expires and reap counts a crash; afterwards the job is ready.
local id, fence, reason = ARGV[4], ARGV[5], ARGV[6]
local j = load(id)
local refused = refusal(j, fence)
if refused then return refused end
if not HELD[j.state] then return 'GONE' end
if j.state == 'active' and bury_damaged(j) then
  settle()
  return 'GONE'
end
local k = P .. 'job:' .. id
if j.state == 'committing' then
  call('HDEL', k, 'version', 'outcome', 'carries', 'handedOn', 'worked')
  call('UNLINK', P .. 'result:' .. id)
  call('HSET', k, 'state', 'active')
  j.state = 'active'
end
if j.cancel then
  cancel(j, j.cancel)
else
  -- The time for which the library's store was away is nobody's cost.
  if reason == 'outage' then
    lose_hold(j)
    correct(j, 0)
  else
    end_hold(j)
  end
  if reason == 'rebase' then call('HINCRBY', k, 'rebases', '1') end
  if reason == 'pressure' then count('requeued') end
  make_ready(j)
end
settle()
return 'OK'
