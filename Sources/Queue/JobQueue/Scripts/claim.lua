-- Claims jobs for a worker under a lease and a new fence.
--
-- First makes flows eligible that a changed cap may have released. Then serves the flows by priority, but each priority has a
-- share of the turns that more urgent ones cannot take. A job in quarantine is given only to a worker that holds no other job,
-- and alone.
--
-- ARGV     P, events max, done max, worker, maximum jobs, whether it holds none (1), lease ms,
--          maximum skipped jobs, default cost, maximum flows at their caps to inspect, ms since the caller's last tick or ``
-- Returns  {further state: `paused`, `alone`, `later` (jobs whose records have a later format), `left` (jobs that this worker's
--          machine cannot do), `again` (not all flows were inspected: the caller calls again at once) or ``,
--          {id, fence, asset, edit, generation, attempts, crashes, rebases, enqueued, now, batch, tenant,
--           alone (1) or ``, arrival in µs, the job that it is a part of or ``, traceparent or ``, fields or ``, highest revision that
--           was told of its asset, if its library was set back, or 0 (Shared/events.lua)}*}; a part's edit is its task
-- Crash  Afterwards the lease runs out and reap finds the job. A fence is the queue's time in µs and
--        grows, so a token never comes again, not even after a failover that lost the last writes.
local worker, most, idle, lease, passed_max, usual, capped_max =
  ARGV[4], tonumber(ARGV[5]), ARGV[6] == '1', tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local ends = int(MS + lease)
tick(ARGV[11])
local out, passed, claimed, capped = {}, 0, 0, 0

local config = call('HMGET', P .. 'config', 'paused', 'cap', 'cap:default', 'weight:default')
if config[1] then
  settle()
  return {'paused', out}
end

-- The turns of 16 that belong to a lower priority even if more urgent jobs wait: 3, 2 and 1.
local SHARES = {[2] = 'normal', [7] = 'normal', [12] = 'normal', [5] = 'bulk', [13] = 'bulk', [15] = 'alone'}
local facts = call('HMGET', P .. 'virtual', 'turn', 'recheck')
local turn = number_in(facts[1], 0)
local rechecks = facts[2] and recheck_capped(int(number_in(facts[2], 0)))

-- The cost of a job without an estimate: the average cost of the last renders, in ms of a worker's slot.
local mean
local function usual_cost()
  if not mean then
    mean = math.max(1, mean_cost(P .. 'virtual') or usual)
  end
  return mean
end

local tenants = {}
local function tenant_of(name)
  if not tenants[name] then
    local cap, weight = config[3], config[4]
    if name ~= 'default' then cap, weight = unpack(call('HMGET', P .. 'config', 'cap:' .. name, 'weight:' .. name)) end
    cap, weight = tonumber(cap or config[2] or 'inf') or math.huge, tonumber(weight or nil) or 1
    tenants[name] = {weight = weight > 0 and weight or 1, cap = cap,
      held = cap < math.huge and tonumber(call('HGET', P .. 'running', name) or '0') or 0}
  end
  return tenants[name]
end

-- The flow being served at each priority: its score is written when another flow is served. `moved`: the virtual times that
-- were reached.
local serving, exhausted, moved = {}, {}, {}
local function stop_serving(priority)
  local s = serving[priority]
  if not s then return end
  serving[priority] = nil
  moved[priority] = s.start
  if call('EXISTS', P .. 'ready:' .. priority .. ':' .. s.tenant) == 0 then
    return retire_flow(priority, s.tenant, int(s.tag))
  end
  if tenant_of(s.tenant).held >= tenant_of(s.tenant).cap then
    capped = capped + 1
    call('ZREM', P .. 'flows:' .. priority, s.tenant)
    call('HSET', P .. 'capped', priority .. ':' .. s.tenant, int(s.tag))
  else
    call('ZADD', P .. 'flows:' .. priority, int(s.tag), s.tenant)
  end
end

-- A worker looks past jobs that it leaves to others. Those of a flow that it has looked past in one call are SKIPS_MAX at most; then the
-- flow is set aside for the rest of the call, with its tag, and hash skips keeps the sequence of the last one, by worker and flow, and
-- when that was: the worker's next calls go on behind it, for SKIP_FOR. Else jobs that one tenant has for others would stand before all
-- jobs that this worker can do, in each call.
local SKIPS_MAX, SKIP_FOR, SKIPS_KEPT = 50, 30 * 1000, 10000  -- jobs, ms, fields of the hash
local skipped, aside, behind, has_moved = {}, {}, {}, false
local function set_aside(priority, tenant)
  local tag = call('ZSCORE', P .. 'flows:' .. priority, tenant)
  if not tag then return end  -- it is at its cap, or has no other job
  call('ZREM', P .. 'flows:' .. priority, tenant)
  aside[#aside + 1] = {priority = priority, tenant = tenant, tag = tag}
end

-- Returns the sequence behind which this worker goes on in a flow; nil if it begins at its first job.
local function behind_skipped(flow)
  if behind[flow] == nil then
    local sequence, at = (call('HGET', P .. 'skips', worker .. '\n' .. flow) or ''):match('^(%d+):(%d+)$')
    behind[flow] = at and math.abs(MS - tonumber(at)) < SKIP_FOR and sequence or false
  end
  return behind[flow] or nil
end

-- Takes the next job of a flow, as ZPOPMIN does; `more` is false if the flow has jobs, and none that this worker has not looked past.
local function pop(priority, tenant)
  local key, last = P .. 'ready:' .. priority .. ':' .. tenant, behind_skipped(priority .. ':' .. tenant)
  if not last then return redis.pcall('ZPOPMIN', key), true end
  local next = redis.pcall('ZRANGEBYSCORE', key, '(' .. last, '+inf', 'LIMIT', '0', '1')
  if next[1] then call('ZREM', key, next[1]) end
  return next, next.err ~= nil or next[1] ~= nil
end

-- Returns the next job at a priority, as id and tenant; nil if there is none, or if the maximum number of flows at their caps was
-- inspected. Those flows are set aside, so the next call continues behind them.
local function next_job(priority)
  while not exhausted[priority] and capped < capped_max and passed < passed_max do
    local s = serving[priority]
    if not s then
      local head = call('ZRANGE', P .. 'flows:' .. priority, '0', '1', 'WITHSCORES')
      if not head[1] then exhausted[priority] = true return nil end
      s = {tenant = head[1], tag = tonumber(head[2]), start = tonumber(head[2]), other = tonumber(head[4] or 'inf')}
      serving[priority] = s
      virtual[priority] = s.start
    end
    local t = tenant_of(s.tenant)
    if s.tag > s.other or t.held >= t.cap then
      stop_serving(priority)
    else
      local popped, more = pop(priority, s.tenant)
      if popped.err then
        -- No zset: a damaged flow must not keep all others from being served. The doctor finds its jobs.
        call('ZREM', P .. 'flows:' .. priority, s.tenant)
        serving[priority] = nil
      else
        if popped[1] then return popped[1], s.tenant end
        stop_serving(priority)
        if not more then
          passed = passed + 1
          set_aside(priority, s.tenant)
        end
      end
    end
  end
end

-- Advances a flow by the assumed cost of its job. Returns the record of the charge that `correct` needs when the hold ends.
local function charge(priority, cost)
  local s, units, weight = serving[priority], math.ceil(cost * 1000), tenant_of(serving[priority].tenant).weight
  s.start = s.tag
  virtual[priority] = s.start
  s.tag = s.tag + math.ceil(units / weight)
  return priority .. ':' .. int(units) .. ':' .. int(weight)
end

-- The facts of a batch, read once: the reason of its cancellation, the average cost of its jobs so far, its edit.
local batches = {}
local function batch_of(name)
  if not batches[name] then
    batches[name] = {cancel = call('HGET', P .. 'batch:' .. name, 'cancel'), mean = mean_cost(P .. 'batch:' .. name),
      edit = call('GET', P .. 'batch:' .. name .. ':edit') or ''}
  end
  return batches[name]
end

-- Skips a job. That may make the next job of its asset ready, and that job may be next in the order.
local function pass_over()
  passed = passed + 1
  for _, priority in ipairs(PRIORITIES) do stop_serving(priority) end
  exhausted = {}
end

-- Jobs for newer workers, and jobs that this worker's machine cannot do while others are alive that perhaps can: they return to
-- their positions after all claims.
local later, left, kept = {}, {}, {}

local function skip(jobs, j, priority, tenant)
  jobs[#jobs + 1] = j
  pass_over()
  local flow = priority .. ':' .. tenant
  skipped[flow] = (skipped[flow] or 0) + 1
  if skipped[flow] < SKIPS_MAX or not tonumber(j.sequence or nil) then return end
  if call('HLEN', P .. 'skips') >= SKIPS_KEPT then call('UNLINK', P .. 'skips') end
  call('HSET', P .. 'skips', worker .. '\n' .. flow, int(tonumber(j.sequence)) .. ':' .. NOW)
  has_moved = true
  set_aside(priority, tenant)
end

local function give(id, tenant, priority)
  local j = load(id)
  if not j then return pass_over() end  -- Redis lost its record: there is nothing to run
  if is_later(j) then return skip(later, j, priority, tenant) end
  if not j.parent then
    local field = damage_of(j)
    if field then
      bury(j, field)
      return pass_over()
    end
  end
  if is_for_others(j, worker) then return skip(left, j, priority, tenant) end
  local task = j.parent and call('HGET', P .. 'parts:' .. j.parent, 'task')
  if j.parent and not (task and call('EXISTS', P .. 'job:' .. j.parent) == 1) then
    end_part(j)
    return pass_over()
  end
  local batch = j.batch and batch_of(j.batch)
  if batch and batch.cancel then
    j.state = 'popped'
    cancel(j, batch.cancel)
    return pass_over()
  end
  if j.deadline and tonumber(j.deadline) < believed() then
    local message = 'the job was to begin before ' .. timestamp(tonumber(j.deadline)) .. ', and no worker was '
      .. 'free. Send it again with a later deadline, or replay it, which drops the deadline.'
    leave_asset(j)
    make_dead(j, 'deadlinePassed', message, death(j, j.attempts + j.crashes, 'deadlinePassed', message))
    return pass_over()
  end
  local edit = task or batch and not j.own and batch.edit or call('GET', P .. 'edit:' .. id) or ''
  local arrival, told = arrival_of(j), int(told_of(j.asset) or 0)
  local charged = charge(priority, math.max(1, tonumber(j.cost) or batch and batch.mean or usual_cost()))
  local fence = int(math.max((tonumber(j.fence) or 0) + 1, next_time()))
  hold(id, tenant, ends)
  call('HSET', P .. 'job:' .. id, 'state', 'active', 'fence', fence, 'worker', worker, 'claimed', NOW, 'since',
    int(lived_time()), 'lease', ARGV[7], 'charge', charged)
  local t = tenant_of(tenant)
  t.held = t.held + 1
  claimed = claimed + 1
  out[#out + 1] = {id, fence, j.parent and id or j.asset, edit, j.generation, j.attempts, j.crashes, j.rebases, j.enqueued, NOW,
    j.batch or '', tenant, priority == 'alone' and '1' or '', arrival, j.parent or '',
    j.traceparent or '', j.fields or '', told}
end

-- Damage of one job must not keep the others from being claimed, or this call's deeds from being counted. Such a job ends
-- as a dead one; if not even that is possible, because its batch is damaged, it returns to its position after all claims.
local function take(id, tenant, priority)
  if not guarded(give, id, tenant, priority) then return end
  local is_read, j = pcall(load, id)
  if is_read and j then
    -- Only a job that is damaged itself is buried: whatever else `give` reads may be damaged, and then no job is at fault.
    local is_own = damage_of(j) or j.format and not tonumber(j.format)
    if type(redis.pcall('STRLEN', P .. 'edit:' .. id)) == 'table' then
      call('UNLINK', P .. 'edit:' .. id)
      is_own = true
    end
    if not is_own or j.batch and not j.own or guarded(bury, j, 'edit or format') then
      kept[#kept + 1] = j
      -- Its flow pays for the turn, or it would be the first for ever and others would have none.
      pcall(charge, priority, usual)
    end
  end
  pass_over()
end

-- Returns whether a worker has sent a heartbeat within a lease.
local function is_heard(name)
  local heard = call('ZSCORE', P .. 'workers', name)
  return heard and tonumber(heard) > MS - lease
end

-- Returns whether the time is over in which an asked worker need not be heard. A time further ahead than a lease is of another clock.
local function has_passed(ends) return ends < MS or ends > MS + lease end

-- A worker that is asked becomes idle for a job in quarantine, however long its renders take. No other worker is asked while it
-- sends heartbeats.
local what, quarantined = '', call('EXISTS', P .. 'flows:alone') == 1
local asked = quarantined and call('HMGET', P .. 'virtual', 'aloneWorker', 'aloneUntil') or {}
if quarantined and idle and asked[1] == worker then turn = 15 end
while claimed < most and passed < passed_max do
  local mine = SHARES[turn % 16]
  turn = turn + 1
  local id, tenant, priority
  if mine == 'alone' and quarantined then
    if idle and claimed == 0 then
      id, tenant = next_job('alone')
      if id then
        call('HDEL', P .. 'virtual', 'aloneWorker', 'aloneUntil')
        take(id, tenant, 'alone')
        if claimed > 0 then break end
        id = nil
      else
        quarantined = false
      end
    elseif not asked[1] or asked[1] == worker or has_passed(tonumber(asked[2])) and not is_heard(asked[1]) then
      call('HSET', P .. 'virtual', 'aloneWorker', worker, 'aloneUntil', ends)
      what = 'alone'
      break
    end
  elseif mine and mine ~= 'alone' then
    priority = mine
    id, tenant = next_job(mine)
  end
  if not id then
    for _, other in ipairs({'interactive', 'normal', 'bulk'}) do
      priority = other
      id, tenant = next_job(other)
      if id then break end
    end
  end
  if not id then
    -- No other job is ready: then it is the turn of a job in quarantine.
    if mine ~= 'alone' and quarantined then
      turn = turn + (15 - turn % 16)
    else
      break
    end
  else
    take(id, tenant, priority)
  end
end
for _, priority in ipairs(PRIORITIES) do
  if serving[priority] then
    stop_serving(priority)
    call('ZREMRANGEBYSCORE', P .. 'finished:' .. priority, '-inf', '(' .. int(virtual_time(priority)))
  end
end
for _, jobs in ipairs({later, left, kept}) do
  for _, j in ipairs(jobs) do guarded(enter_flow, j.priority, j.tenant, tonumber(j.sequence or nil) and j.sequence or '0', j.id) end
end
for _, flow in ipairs(aside) do call('ZADD', P .. 'flows:' .. flow.priority, flow.tag, flow.tenant) end
if what == '' and has_moved and claimed < most then what = 'again' end
if what == '' and later[1] then what = 'later' end
-- The caller does not claim again at once: it would find the same jobs.
if what == '' and left[1] then what = 'left' end
if what == '' and claimed == 0 and kept[1] then what = 'left' end
if what == '' and claimed < most and (capped >= capped_max or passed >= passed_max or rechecks) then what = 'again' end

local facts_now = {}
if claimed > 0 then facts_now = {'turn', int(turn % 16), 'time', int(queue_time())} end
for priority, time in pairs(moved) do
  facts_now[#facts_now + 1] = priority
  facts_now[#facts_now + 1] = int(time)
end
if facts_now[1] then call('HSET', P .. 'virtual', unpack(facts_now)) end

-- Returns the number of jobs that are left to claim, up to the number of workers that would be woken.
local function count_left()
  local left = 0
  for _, priority in ipairs(PRIORITIES) do
    for _, tenant in ipairs(call('ZRANGE', P .. 'flows:' .. priority, '0', int(WAKES_MAX - 1))) do
      left = left + (tonumber(redis.pcall('ZCARD', P .. 'ready:' .. priority .. ':' .. tenant)) or 0)
      if left >= WAKES_MAX then return left end
    end
  end
  return left
end

-- Wakes other workers for the jobs that are left, unless the caller will find no more jobs.
claimable = 0
settle()
local is_quarantined = out[1] and out[1][13] == '1'
if claimed == most or what == 'again' or what == 'alone' or is_quarantined then
  if call('LLEN', P .. 'wake') < WAKES_MAX then wake_for(count_left()) end
elseif left[1] or later[1] then
  wake_for(count_left(), true)
end
return {what, out}
