-- Ends a job without a version: it made renditions of one, it had nothing to do, a newer edit was published first, or it was cancelled.
--
-- ARGV     P, events max, done max, id, fence, outcome: `rendered`, `unchanged` or `superseded` with the data of its event (JSON),
--          or `cancelled`
-- Returns  OK, or GONE, or FENCED
-- Crash    Before it, the lease expires and another worker finds the same; afterwards the job is done. Called
--          again with the same fence: OK, and no second event.
local id, fence, outcome, data = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local j = load(id)
local refused = refusal(j, fence)
if refused then return refused end
if j.state == 'done' then return 'OK' end
if j.state ~= 'active' then return 'GONE' end
if bury_damaged(j) then
  settle()
  return 'GONE'
end
if outcome == 'cancelled' then
  cancel(j, j.cancel or j.batch and call('HGET', P .. 'batch:' .. j.batch, 'cancel') or 'cancelled')
else
  call('HSET', P .. 'job:' .. id, 'outcome', outcome)
  call('SET', P .. 'result:' .. id, data)
  local ms = end_hold(j)
  leave_asset(j)
  finish(j, outcome, data, ms)
end
settle()
return 'OK'
