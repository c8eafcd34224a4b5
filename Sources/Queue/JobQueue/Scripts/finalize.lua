-- Step 3 of publishing: ends jobs as done, counts them and sends their events.
--
-- ARGV     P, events max, done max, (id, fence)*
-- Returns  per job OK; or GONE or FENCED: another worker finishes it or has finished it, or it is stuck because
--          its record is incomplete; or ERROR and the reason
-- Crash    Before it, a job is `committing` and another worker continues its publication; afterwards it is
--          done. Called again with the same fence: OK, and no second event.
local function finalize(id, fence)
  local j = load(id)
  local refused = refusal(j, fence)
  if refused then return refused end
  if j.state == 'done' then return 'OK' end
  if j.state ~= 'committing' then return 'GONE' end
  local data = call('GET', P .. 'result:' .. id)
  local lacking = lacks(j, data)
  if lacking then
    get_stuck_lacking(j, lacking)
    return 'GONE'
  end
  -- A draft changes nothing that readers see, so it has no place in the sequence of its asset.
  local revision = j.outcome == 'completed' and j.version:match('^%d+')
  if j.handedOn then call('HDEL', P .. 'job:' .. id, 'handedOn') end
  local ms = end_hold(j)
  leave_asset(j)
  finish(j, j.outcome, data, ms, revision)
  if revision then end_told(j.asset, revision) end
  return 'OK'
end

local out = {}
for i = 4, #ARGV, 2 do out[#out + 1] = guarded(finalize, ARGV[i], ARGV[i + 1]) end
settle()
return out
