-- Checks whether waits end at times that a clock can have given. After a step of the server's clock back, some lie further ahead than
-- they can: workers find them within a second, this script finds them while no worker does.
--
-- ARGV     P, events max, done max, whether to repair (1), lease ms, longest delay of an attempt in ms, longest lease of a duty in ms,
--          most of each structure
-- Returns  {kind, job, worker or field, structure, repaired (1) or ``}*
-- Crash    All of a call or nothing; a repeated call finds the rest.
local lease, delay_max, duty_max, most = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])

-- The repair lets a lease begin anew: its worker may live. All others are due.
local leases = beyond('lease', MS + lease, most)
for i = 1, #leases, 2 do
  local ends = MS + math.max(lease, tonumber((load_any(leases[i]) or {}).lease or '0'))
  if tonumber(leases[i + 1]) > ends then
    fault('timeImpossible', leases[i], 'lease', function() call('ZADD', P .. 'lease', 'XX', int(ends), leases[i]) end)
  end
end
local retries = beyond('retrying', MS + delay_max, most)
for i = 1, #retries, 2 do
  local ends = MS + math.max(delay_max, stated_delay(retries[i]))
  if tonumber(retries[i + 1]) > ends then
    fault('timeImpossible', retries[i], 'retrying', function()
      call('ZREM', P .. 'retrying', retries[i])
      call('ZADD', P .. 'delayed', 'XX', NOW, retries[i])
    end)
  end
end
local workers = beyond('workers', MS, most)
for i = 1, #workers, 2 do
  fault('timeImpossible', workers[i], 'workers', function() call('ZADD', P .. 'workers', 'XX', NOW, workers[i]) end)
end
local duties = call('HGETALL', P .. 'duties')
for i = 1, #duties, 2 do
  if tonumber(duties[i + 1]:match('^%d+') or 'inf') > MS + duty_max then
    fault('timeImpossible', duties[i], 'duties', function() call('HDEL', P .. 'duties', duties[i]) end)
  end
end
-- The doctor may not know the lease of the workers.
local LEASE_MAX = 3600 * 1000  -- ms; the longest that settings allow
local LIMITS = {tended = MS, laneTurn = US, aloneUntil = MS + math.max(lease, LEASE_MAX)}
for name, limit in pairs(LIMITS) do
  local at = call('HGET', P .. 'virtual', name)
  if at and tonumber(at) > limit then
    fault('timeImpossible', name, 'virtual', function() call('HSET', P .. 'virtual', name, '0') end)
  end
end
return faults
