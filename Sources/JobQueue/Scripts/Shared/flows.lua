-- Which job is next: start-time fair queuing (Goyal, Vin and Cheng, SIGCOMM 1996) within each priority.
--
-- The ready jobs of one tenant at one priority are a flow, zset ready:<priority>:<tenant>, in order of
-- admission. The flows that have jobs are in zset flows:<priority>, scored by the virtual time at which
-- their next job starts; the least is served, and moves on by the job's cost over the tenant's weight. A
-- tenant with a million jobs spreads into the future; one that comes new starts at the virtual time of now
-- (hash virtual), that is, next. What an emptied flow has used up is remembered in zset
-- finished:<priority> until virtual time has passed it. A flow whose tenant is at its cap is in hash
-- capped instead, until one of the tenant's jobs ends.
local PRIORITIES = {'interactive', 'normal', 'bulk', 'alone'}
local entered, virtual = {}, {}

local function virtual_time(priority)
  if not virtual[priority] then
    virtual[priority] = tonumber(call('HGET', P .. 'virtual', priority) or '0')
  end
  return virtual[priority]
end

-- Puts a job into its flow, and the flow among those that are served.
local function enter_flow(priority, tenant, sequence, id)
  local flow = priority .. ':' .. tenant
  call('ZADD', P .. 'ready:' .. flow, sequence, id)
  if entered[flow] then return end
  entered[flow] = true
  if call('ZSCORE', P .. 'flows:' .. priority, tenant) or call('HEXISTS', P .. 'capped', flow) == 1 then
    return
  end
  local used = call('ZSCORE', P .. 'finished:' .. priority, tenant)
  if used then call('ZREM', P .. 'finished:' .. priority, tenant) end
  call('ZADD', P .. 'flows:' .. priority,
    int(math.max(virtual_time(priority), tonumber(used or '0'))), tenant)
end

-- Takes a flow without jobs from those that are served.
local function retire_flow(priority, tenant, tag)
  local flow = priority .. ':' .. tenant
  entered[flow] = nil
  tag = tag or call('ZSCORE', P .. 'flows:' .. priority, tenant) or call('HGET', P .. 'capped', flow)
  call('ZREM', P .. 'flows:' .. priority, tenant)
  call('HDEL', P .. 'capped', flow)
  if tag then call('ZADD', P .. 'finished:' .. priority, tag, tenant) end
end

-- Takes a job out of its flow.
local function leave_flow(priority, tenant, id)
  local key = P .. 'ready:' .. priority .. ':' .. tenant
  call('ZREM', key, id)
  if call('EXISTS', key) == 0 then retire_flow(priority, tenant) end
end

-- Lets the flows of a tenant be served again that waited for its cap.
local function uncap(tenant)
  for _, priority in ipairs(PRIORITIES) do
    local flow = priority .. ':' .. tenant
    local tag = call('HGET', P .. 'capped', flow)
    if tag then
      call('HDEL', P .. 'capped', flow)
      call('ZADD', P .. 'flows:' .. priority, int(math.max(virtual_time(priority), tonumber(tag))), tenant)
    end
  end
end

-- Writes what was tallied.
local function settle_running()
  for tenant, by in pairs(running) do
    if by ~= 0 then
      if call('HINCRBY', P .. 'running', tenant, int(by)) <= 0 then call('HDEL', P .. 'running', tenant) end
      if by < 0 and call('EXISTS', P .. 'capped') == 1 then uncap(tenant) end
    end
  end
end
