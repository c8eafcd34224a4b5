-- Uncounts crashes of jobs whose leases expired while their worker was alive.
--
-- The worker was cut off from Redis, or its machine stood still. It has stopped its work on these holds and reports them when it
-- is back. A hold that reap has not seen is released without a crash. For a hold that reap has ended, the crash that was counted
-- for it is uncounted, and the quarantine that followed from it ends.
--
-- ARGV     P, events max, done max, crashes to quarantine, (id, fence)*
-- Returns  per job RELEASED; PARDONED; NOTHING: no crash is counted for this hold; or ERROR and the reason
-- Crash    The worker received no reply and calls again: NOTHING, because a fence is blamed once.
local crashes_to_quarantine = tonumber(ARGV[4])

-- The holder of an asset has at least the priority of the first job that is parked behind it.
local function leave_quarantine(j)
  local behind = call('ZRANGE', P .. 'parked:' .. j.asset, '0', '0')[1]
  local wanted, back = behind and (call('HGET', P .. 'job:' .. behind, 'priority') or 'normal'), j.was
  if wanted and (URGENCY[wanted] or 0) > (URGENCY[back] or 9) then back = wanted end
  call('HSET', P .. 'job:' .. j.id, 'priority', back)
  call('HDEL', P .. 'job:' .. j.id, 'was', 'aloneFor')
  if j.state ~= 'ready' then return end
  leave_flow('alone', j.tenant, j.id)
  enter_flow(back, j.tenant, j.sequence, j.id)
end

local function release(j)
  if j.state == 'committing' then
    -- A carry that an outage interrupted does not count, and reap finds the job at once.
    call('HSET', P .. 'job:' .. j.id, 'handedOn', '1', 'carries', int(math.max(0, j.carries - 1)))
    hold(j.id, j.tenant, NOW)
  elseif j.cancel then
    cancel(j, j.cancel)
  else
    lose_hold(j)
    make_ready(j)
  end
  return 'RELEASED'
end

local function pardon(id, fence)
  local j = load(id)
  if not j or is_later(j) then return 'NOTHING' end
  if j.fence == fence and (j.state == 'active' or j.state == 'committing' and not j.handedOn) then return release(j) end
  local others, was_blamed = {}, false
  for blamed in (j.blamed or ''):gmatch('%d+') do
    if blamed == fence then was_blamed = true else others[#others + 1] = blamed end
  end
  if not was_blamed or ENDED[j.state] then return 'NOTHING' end
  require_whole(j)
  local k = P .. 'job:' .. id
  if others[1] then call('HSET', k, 'blamed', table.concat(others, ' ')) else call('HDEL', k, 'blamed') end
  count('pardoned')
  if call('HINCRBY', k, 'crashes', '-1') < crashes_to_quarantine and j.priority == 'alone' and j.aloneFor == 'crashes' then
    leave_quarantine(j)
  end
  return 'PARDONED'
end

local out = {}
for i = 5, #ARGV, 2 do out[#out + 1] = guarded(pardon, ARGV[i], ARGV[i + 1]) end
settle()
return out
