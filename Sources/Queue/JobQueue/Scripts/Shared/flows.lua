-- The order of jobs: start-time fair queuing (Goyal, Vin and Cheng, SIGCOMM 1996) within each priority.
--
-- The ready jobs of one tenant at one priority are a flow, zset ready:<priority>:<tenant>, in order of
-- admission. The flows that have jobs are in zset flows:<priority>, scored by the virtual time at which
-- their next job starts. The flow with the least score is served, and its score grows by the job's cost over the tenant's
-- weight. A tenant with a million jobs spreads into the future; a new tenant starts at the present virtual time
-- (hash virtual), that is, next. Zset finished:<priority> remembers the score of an emptied flow
-- until virtual time has passed it. A flow whose tenant is at its cap is in hash
-- capped instead, until one of the tenant's jobs ends.
--
-- The cost of a job is known when its hold ends. Until then its flow is charged the producer's estimate, or the average cost of
-- such jobs so far; the job's field `charge` records the amount. Then the difference is added to the flow's score, in whichever
-- structure has it, so that a producer gains nothing by a low estimate. An excess charge is returned only down to the present
-- virtual time, because other flows have used the time before it.
local PRIORITIES = {'interactive', 'normal', 'bulk', 'alone'}
local entered, virtual = {}, {}
-- The number of jobs, or flows, that this script has made claimable.
local claimable = 0

local function virtual_time(priority)
  if not virtual[priority] then
    virtual[priority] = tonumber(call('HGET', P .. 'virtual', priority) or '0')
  end
  return virtual[priority]
end

-- Adds a job to its flow, and the flow to those that are served.
local function enter_flow(priority, tenant, sequence, id)
  local flow = priority .. ':' .. tenant
  call('ZADD', P .. 'ready:' .. flow, sequence, id)
  claimable = claimable + 1
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

-- Removes a flow without jobs from those that are served.
local function retire_flow(priority, tenant, tag)
  local flow = priority .. ':' .. tenant
  entered[flow] = nil
  tag = tag or call('ZSCORE', P .. 'flows:' .. priority, tenant) or call('HGET', P .. 'capped', flow)
  call('ZREM', P .. 'flows:' .. priority, tenant)
  call('HDEL', P .. 'capped', flow)
  if tag then call('ZADD', P .. 'finished:' .. priority, tag, tenant) end
end

-- Removes a job from its flow.
local function leave_flow(priority, tenant, id)
  local key = P .. 'ready:' .. priority .. ':' .. tenant
  call('ZREM', key, id)
  if call('EXISTS', key) == 0 then retire_flow(priority, tenant) end
end

-- Makes a flow that waited for a cap eligible again.
local function uncap_flow(priority, tenant, tag)
  claimable = claimable + 1
  call('HDEL', P .. 'capped', priority .. ':' .. tenant)
  call('ZADD', P .. 'flows:' .. priority, int(math.max(virtual_time(priority), tonumber(tag) or 0)), tenant)
end

-- Does the same for all flows of a tenant.
local function uncap(tenant)
  for _, priority in ipairs(PRIORITIES) do
    local tag = call('HGET', P .. 'capped', priority .. ':' .. tenant)
    if tag then uncap_flow(priority, tenant, tag) end
  end
end

local RECHECK_STEP = '100'  -- approximate number of flows at their caps that one call checks again

-- Makes flows whose cap may have changed eligible again: about this many from a cursor of HSCAN on. The next claim continues
-- from the new cursor, which field `recheck` of hash virtual keeps. `claim` puts back flows that are still at their caps.
-- Returns whether some flows were not checked.
local function recheck_capped(cursor)
  local scan = call('HSCAN', P .. 'capped', cursor, 'COUNT', RECHECK_STEP)
  for i = 1, #scan[2], 2 do
    local priority, tenant = scan[2][i]:match('^(%a+):(.*)$')
    uncap_flow(priority, tenant, scan[2][i + 1])
  end
  if scan[1] == '0' then
    call('HDEL', P .. 'virtual', 'recheck')
    return false
  end
  call('HSET', P .. 'virtual', 'recheck', scan[1])
  return true
end

local CHARGE_MAX = 24 * 3600 * 1000  -- the maximum charge of a flow for one job, in ms
local corrections = {}

-- Records the time for which a worker held a job, in ms. A job whose publication was continued is not corrected, because no
-- worker worked on it while its lease ran out.
local function correct(j, ms)
  if not j.charge or j.carries ~= '0' then return end
  local priority, units, weight = j.charge:match('^(%a+):(%d+):(%d+)$')
  local flow, charge = priority .. ':' .. j.tenant, math.min(math.max(ms, 1), CHARGE_MAX) * 1000
  corrections[flow] = (corrections[flow] or 0) + math.ceil(charge / weight) - math.ceil(units / weight)
end

local function settle_correction(priority, tenant, by)
  local now, flow = virtual_time(priority), priority .. ':' .. tenant
  local function moved(tag) return int(math.max(now, (tonumber(tag) or now) + by)) end
  local tag = call('ZSCORE', P .. 'flows:' .. priority, tenant)
  if tag then return call('ZADD', P .. 'flows:' .. priority, moved(tag), tenant) end
  tag = call('HGET', P .. 'capped', flow)
  if tag then return call('HSET', P .. 'capped', flow, moved(tag)) end
  tag = call('ZSCORE', P .. 'finished:' .. priority, tenant)
  -- Virtual time has passed every score that is not remembered.
  if tag or by > 0 then call('ZADD', P .. 'finished:' .. priority, moved(tag or now), tenant) end
end

-- Writes the tallies. A damaged sum of one tenant loses its own alone.
local function settle_running()
  for flow, by in pairs(corrections) do
    local priority, tenant = flow:match('^(%a+):(.*)$')
    if by ~= 0 then guarded(settle_correction, priority, tenant, by) end
  end
  for tenant, by in pairs(running) do
    if by ~= 0 then
      guarded(function()
        if call('HINCRBY', P .. 'running', tenant, int(by)) <= 0 then call('HDEL', P .. 'running', tenant) end
        if by < 0 and call('EXISTS', P .. 'capped') == 1 then uncap(tenant) end
      end)
    end
  end
end

-- Wake-ups. A worker with a free slot and nothing to claim blocks in BLPOP on list wake until it receives a token; a token
-- wakes one worker. Scripts push tokens when they have made jobs claimable, and a claim that leaves jobs pushes more. So
-- as many workers wake as there is work for, and all others stay blocked. A token without a waiting worker stays until one
-- waits; that worker then claims once in vain.
--
-- A worker that leaves jobs to others has used up the token of one that could do them. Its tokens are in list wake:others, on which all
-- workers wait but those whose last claim left jobs: in list wake, the same worker would receive them again and again.
local WAKES_MAX = 16  -- the maximum number of waiting tokens of a list

-- Wakes workers for a number of jobs. Tokens that no worker has received yet count.
local function wake_for(jobs, others)
  local key = P .. (others and 'wake:others' or 'wake')
  for _ = call('LLEN', key) + 1, math.min(jobs, WAKES_MAX) do call('RPUSH', key, '1') end
end

-- Wakes workers for the jobs that this script has made claimable.
local function wake_workers()
  if claimable > 0 then wake_for(claimable) end
end

-- Wakes the worker that admits jobs when batches must be fed, because no ingress stream shows that. The worker waits in XREAD
-- on the ingress streams and on stream bell, of which only the last entry matters.
local function signal_admission() call('XADD', P .. 'bell', 'MAXLEN', '1', '*', 'ring', '1') end

-- Notifies workers at once; otherwise they would learn of it with their next heartbeat.
local function notify_workers(...) call('XADD', P .. 'control', 'MAXLEN', '~', '1000', '*', ...) end
