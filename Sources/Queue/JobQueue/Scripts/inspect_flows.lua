-- Checks whether the flows that have jobs are served, and whether the counts of running jobs are correct.
--
-- ARGV     P, events max, done max, whether to repair (1), maximum leases, flow (`<priority>:<tenant>`)*
-- Returns  {kind, flow or tenant, detail, repaired (1) or ``}*
-- Crash    All of a call or nothing; a repeated call finds the rest.
local leases_max = tonumber(ARGV[5])
-- While claims check flows at their caps again, a flow may still wait for a cap that has changed.
local rechecks = call('HEXISTS', P .. 'virtual', 'recheck') == 1
local known = {}
for _, priority in ipairs(PRIORITIES) do known[priority] = true end

local function cap_of(tenant)
  local config = call('HMGET', P .. 'config', 'cap:' .. tenant, 'cap')
  return tonumber(config[1] or config[2] or 'inf')
end

local function inspect(flow)
  local priority, tenant = flow:match('^(%a+):(.*)$')
  if not priority then return end
  local jobs = redis.pcall('ZCARD', P .. 'ready:' .. flow)
  if type(jobs) ~= 'number' then return end  -- of another type: the walk reports it
  local served = call('ZSCORE', P .. 'flows:' .. priority, tenant)
  local capped = call('HGET', P .. 'capped', flow)
  if jobs == 0 then
    if served or capped then
      fault('flowEmpty', flow, '', function() retire_flow(priority, tenant) end)
    end
    return
  end
  if call('ZSCORE', P .. 'finished:' .. priority, tenant) and (served or capped) then
    fault('flowNotFinished', flow, '', function() call('ZREM', P .. 'finished:' .. priority, tenant) end)
  end
  if not served and not capped then
    -- This equals the arrival of a flow's first job.
    fault('flowUnserved', flow, int(jobs), known[priority] and function()
      local used = call('ZSCORE', P .. 'finished:' .. priority, tenant)
      call('ZREM', P .. 'finished:' .. priority, tenant)
      call('ZADD', P .. 'flows:' .. priority, int(math.max(virtual_time(priority), tonumber(used or '0'))), tenant)
    end or nil)
  elseif served and capped then
    -- A claim checks the cap of each flow that is served.
    fault('flowTwice', flow, '', function() call('HDEL', P .. 'capped', flow) end)
  elseif capped and not rechecks and tonumber(call('HGET', P .. 'running', tenant) or '0') < cap_of(tenant) then
    fault('flowHeldBack', flow, int(jobs), function() uncap(tenant) end)
  end
end

for i = 6, #ARGV do inspect(ARGV[i]) end

-- Counts the running jobs from the leases themselves.
if leases_max > 0 and call('ZCARD', P .. 'lease') <= leases_max then
  local held = {}
  for _, id in ipairs(call('ZRANGE', P .. 'lease', '0', int(leases_max))) do
    local j = load_any(id)
    if j and HELD[j.state] then held[j.tenant] = (held[j.tenant] or 0) + 1 end
  end
  local counts = call('HGETALL', P .. 'running')
  for i = 1, #counts, 2 do held[counts[i]] = held[counts[i]] or 0 end
  for tenant, number in pairs(held) do
    local counted = tonumber(call('HGET', P .. 'running', tenant) or '0')
    if counted ~= number then
      fault('runningMiscounted', tenant, int(counted) .. '/' .. int(number), function()
        if number == 0 then call('HDEL', P .. 'running', tenant)
        else call('HSET', P .. 'running', tenant, int(number)) end
        if number < counted then uncap(tenant) end
      end)
    end
  end
end
return faults
