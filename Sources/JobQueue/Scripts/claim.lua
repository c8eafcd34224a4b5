-- Gives jobs to a worker under a lease and a new fence.
--
-- First lets flows go on that a changed cap may have held. Then serves the flows: by priority, but each has a share of the turns that it gets whatever the more urgent ones want. A job in
-- quarantine is given only to a worker that holds nothing else, and alone.
--
-- ARGV   P, events max, done max, worker, jobs at most, whether it holds none (1), lease ms,
--        passed over at most, usual cost, flows at their caps that are looked at at most
-- Returns {what else there is: `paused`, `alone`, `later` (jobs whose records are of a later format), `again` (not
--          all was looked at: the caller calls again at once) or ``,
--          {id, fence, asset, edit, generation, attempts, crashes, rebases, enqueued, now, batch, tenant,
--           alone (1) or ``, arrival in µs, the job that it is a part of or ``}*}; a part's edit is its task
-- Crash  Afterwards the lease runs out and reap finds the job. A fence is the server's time in µs and
--        grows, so a token never comes again, not even after a failover that lost the last writes.
local worker, most, idle, lease, passed_max, usual, capped_max =
  ARGV[4], tonumber(ARGV[5]), ARGV[6] == '1', tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local ends = int(MS + lease)
local out, passed, claimed, capped = {}, 0, 0, 0

local config = call('HMGET', P .. 'config', 'paused', 'cap', 'cap:default', 'weight:default')
if config[1] then
  settle()
  return {'paused', out}
end

-- Of 16 turns, which are whose even if something more urgent waits: 3, 2 and 1.
local SHARES = {[2] = 'normal', [7] = 'normal', [12] = 'normal', [5] = 'bulk', [13] = 'bulk', [15] = 'alone'}
local facts = call('HMGET', P .. 'virtual', 'turn', 'recheck')
local turn = tonumber(facts[1] or '0')
local rechecks = facts[2] and recheck_capped(facts[2])

-- What a job costs if nobody says: what jobs have cost so far, in ms of a worker's slot.
local mean
local function usual_cost()
  if not mean then
    local c = call('HMGET', P .. 'counters', 'milliseconds', 'completed')
    mean = c[1] and c[2] and math.max(1, tonumber(c[1]) / tonumber(c[2])) or usual
  end
  return mean
end

local tenants = {}
local function tenant_of(name)
  if not tenants[name] then
    local cap, weight = config[3], config[4]
    if name ~= 'default' then cap, weight = unpack(call('HMGET', P .. 'config', 'cap:' .. name, 'weight:' .. name)) end
    cap = tonumber(cap or config[2] or 'inf')
    tenants[name] = {weight = tonumber(weight or '1'), cap = cap,
      held = cap < math.huge and tonumber(call('HGET', P .. 'running', name) or '0') or 0}
  end
  return tenants[name]
end

-- The flow that is being served at each priority: its tag is written when another is served. `moved`: the virtual times
-- that were come to.
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

-- The next job at a priority: id and tenant; nil when there is none, or when enough flows at their caps were looked
-- at. Those are out of the way when the caller calls again.
local function next_job(priority)
  while not exhausted[priority] and capped < capped_max do
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
      local popped = call('ZPOPMIN', P .. 'ready:' .. priority .. ':' .. s.tenant)
      if popped[1] then return popped[1], s.tenant end
      stop_serving(priority)
    end
  end
end

-- Moves a flow on by what its job is thought to cost. Returns what `correct` needs to know of it when the hold ends.
local function charge(priority, cost)
  local s, units, weight = serving[priority], math.ceil(cost * 1000), tenant_of(serving[priority].tenant).weight
  s.start = s.tag
  virtual[priority] = s.start
  s.tag = s.tag + math.ceil(units / weight)
  return priority .. ':' .. int(units) .. ':' .. int(weight)
end

-- What is asked of a batch, once: why it was cancelled, what its jobs cost so far, its edit.
local batches = {}
local function batch_of(name)
  if not batches[name] then
    local b = call('HMGET', P .. 'batch:' .. name, 'cancel', 'milliseconds', 'done')
    batches[name] = {cancel = b[1], mean = b[2] and b[3] and tonumber(b[2]) / tonumber(b[3]),
      edit = call('GET', P .. 'batch:' .. name .. ':edit') or ''}
  end
  return batches[name]
end

-- A job that is not given lets the next one of its asset wait for a worker, whose turn may be now.
local function pass_over()
  passed = passed + 1
  for _, priority in ipairs(PRIORITIES) do stop_serving(priority) end
  exhausted = {}
end

-- Jobs for newer workers: they go back to their places when all is given.
local later = {}

local function give(id, tenant, priority)
  local j = load(id)
  if not j then return pass_over() end  -- Redis lost its record: there is nothing to run
  if is_later(j) then
    later[#later + 1] = j
    return pass_over()
  end
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
  if j.deadline and tonumber(j.deadline) < MS then
    local message = 'the job was to begin before ' .. timestamp(tonumber(j.deadline)) .. ', and no worker was '
      .. 'free. Send it again with a later deadline, or replay it, which drops the deadline.'
    leave_asset(j)
    bury(j, 'deadlinePassed', message, death(j, j.attempts + j.crashes, 'deadlinePassed', message))
    return pass_over()
  end
  local charged = charge(priority, math.max(1, tonumber(j.cost) or batch and batch.mean or usual_cost()))
  local fence = int(math.max((tonumber(j.fence) or 0) + 1, US))
  call('ZADD', P .. 'lease', ends, id)
  call('HSET', P .. 'job:' .. id, 'state', 'active', 'fence', fence, 'worker', worker, 'claimed', NOW, 'charge',
    charged)
  run(tenant, 1)
  local t = tenant_of(tenant)
  t.held = t.held + 1
  claimed = claimed + 1
  local edit = task or batch and not j.own and batch.edit or call('GET', P .. 'edit:' .. id) or ''
  out[#out + 1] = {id, fence, j.asset, edit, j.generation, j.attempts, j.crashes, j.rebases, j.enqueued, NOW,
    j.batch or '', tenant, priority == 'alone' and '1' or '', arrival_of(j), j.parent or ''}
end

-- Whether a worker was heard of within a lease.
local function is_heard(name)
  local heard = call('ZSCORE', P .. 'workers', name)
  return heard and tonumber(heard) > MS - lease
end

-- A worker that is asked to becomes idle for what is in quarantine, however long its renders take: no other is asked
-- while it is heard of.
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
        give(id, tenant, 'alone')
        if claimed > 0 then break end
        id = nil
      else
        quarantined = false
      end
    elseif not asked[1] or asked[1] == worker or tonumber(asked[2]) < MS and not is_heard(asked[1]) then
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
    -- Nothing else is there: then it is the turn of what has to be alone.
    if mine ~= 'alone' and quarantined then
      turn = turn + (15 - turn % 16)
    else
      break
    end
  else
    give(id, tenant, priority)
  end
end
for _, priority in ipairs(PRIORITIES) do
  if serving[priority] then
    stop_serving(priority)
    call('ZREMRANGEBYSCORE', P .. 'finished:' .. priority, '-inf', '(' .. int(virtual_time(priority)))
  end
end
for _, j in ipairs(later) do enter_flow(j.priority, j.tenant, j.sequence, j.id) end
if what == '' and later[1] then what = 'later' end
if what == '' and claimed < most and (capped >= capped_max or passed >= passed_max or rechecks) then what = 'again' end

local facts_now = {}
if claimed > 0 then facts_now = {'turn', int(turn % 16)} end
for priority, time in pairs(moved) do
  facts_now[#facts_now + 1] = priority
  facts_now[#facts_now + 1] = int(time)
end
if facts_now[1] then call('HSET', P .. 'virtual', unpack(facts_now)) end

-- How many jobs are left to be claimed, counted up to as many as workers would be woken for.
local function count_left()
  local left = 0
  for _, priority in ipairs(PRIORITIES) do
    for _, tenant in ipairs(call('ZRANGE', P .. 'flows:' .. priority, '0', int(WAKES_MAX - 1))) do
      left = left + call('ZCARD', P .. 'ready:' .. priority .. ':' .. tenant)
      if left >= WAKES_MAX then return left end
    end
  end
  return left
end

-- Others are woken for what is left, unless the caller claims again or will find nothing more.
claimable = 0
settle()
local is_alone = out[1] and out[1][13] == '1'
if claimed == most or what == 'again' or what == 'alone' or is_alone then
  if call('LLEN', P .. 'wake') < WAKES_MAX then wake_for(count_left()) end
end
return {what, out}
