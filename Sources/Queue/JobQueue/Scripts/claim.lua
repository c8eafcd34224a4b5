-- Claims jobs for a worker under a lease and a new fence.
--
-- First makes flows eligible that a changed cap may have released. Then serves the flows by priority, but each priority has a
-- share of the turns that more urgent ones cannot take. A job in quarantine is given only to a worker that holds no other job,
-- and alone.
--
-- ARGV     P, events max, done max, worker, maximum jobs, whether it holds none (1), lease ms,
--          maximum skipped jobs, default cost, maximum flows at their caps to inspect, ms since the caller's last tick or ``
-- Returns  {further state: `paused`, `alone`, `later` (jobs whose records have a later format), `left` (jobs that this worker's
--          machine cannot do), `again` (not all jobs were looked at: the caller calls again at once) or ``,
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
local facts = call('HMGET', P .. 'virtual', 'turn', 'recheck', 'fleet')
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

-- A worker looks past jobs that it leaves to others. Where it stops, its next call goes on: else some hundred jobs that others have to do
-- would stand before all that this worker can do, in each call. It looks at the flows of a priority in their order, past SKIPS_MAX jobs
-- of one flow and the maximum number in a call, and begins with the first flow again when it has seen the last one. A worker sleeps
-- only after such a round in which it stopped in no flow. Hash skips:<worker> has
--   <priority>:<tenant>  `<fleet> <sequence> <ms> <jobs>`: the last job of that flow that was looked past, when the worker began with
--                        the flow's first one, and the number of jobs up to that. It begins with the first one again after SKIP_FOR,
--                        longer by SKIP_EACH for each of these jobs, so that it sees the end of any flow; at once, if a job came
--                        back among these
--   <priority>           `<fleet> <ms> <score> <more> <tenant>`: the last flow that was looked at, when the round began, and whether
--                        another round follows this one at once. A round that is older than ROUND_MAX is over
--   (empty)              when the hash was begun
-- `fleet` is a field of hash virtual, which changes when a worker is gone: what was left to it may be this worker's own.
local SKIPS_MAX = 50  -- jobs
local SKIP_FOR, SKIP_EACH, ROUND_MAX = 20000, 5, 10000  -- ms
local SKIPS_KEPT, SKIPS_RENEWED = 2000, 300000  -- fields of the hash, ms after which a full one is begun again
-- `skipped`: the flows of which this call has looked past jobs; `behind`: the positions in flows, as far as they are known; `first`: the
-- number of flows at each priority before the first one that this call looks at; `rounds`: when they began, and whether others follow;
-- `seen`: the last flow of which nothing is left to look at; `aside`: the flows that stand aside for the rest of the call; `ended`: whether
-- all flows were looked at.
local looks = {key = P .. 'skips:' .. worker, fleet = facts[3] or '0', skipped = {}, behind = {}, first = {}, rounds = {}, seen = {},
  aside = {}}
local fields = redis.pcall('HLEN', looks.key)
if type(fields) ~= 'number' then call('UNLINK', looks.key) end  -- damaged: the worker looks at all again
looks.any = type(fields) == 'number' and fields > 0

-- Records that this call has nothing more to look at in a flow. One that was charged before in this call is not the first by its score.
local function have_seen(priority, s)
  if s.tag == s.start then looks.seen[priority] = {tag = int(s.tag), tenant = s.tenant} end
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
    if looks.skipped[priority .. ':' .. s.tenant] then have_seen(priority, s) end
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

-- Sets a flow aside for the rest of the call, with its score. Returns whether it was there: it may be at its cap, or have no other job.
local function set_aside(priority, s)
  local tag = call('ZSCORE', P .. 'flows:' .. priority, s.tenant)
  if not tag then return false end
  have_seen(priority, s)
  call('ZREM', P .. 'flows:' .. priority, s.tenant)
  looks.aside[#looks.aside + 1] = {priority = priority, tenant = s.tenant, tag = tag}
  return true
end

-- Returns whether a name comes after another one in a zset, as bytes: Lua would compare by the server's locale.
local function comes_after(name, other)
  for i = 1, math.min(#name, #other) do
    if name:byte(i) ~= other:byte(i) then return name:byte(i) > other:byte(i) end
  end
  return #name > #other
end

-- Returns the number of flows of a priority before those that this call looks at. The last flow that was looked at may have moved on, so
-- its place among those of its score at that time is searched by its name.
local function first_flow(priority)
  if looks.first[priority] then return looks.first[priority] end
  looks.first[priority] = 0
  if not looks.any then return 0 end
  local fleet, began, tag, more, tenant = (call('HGET', looks.key, priority) or ''):match('^(%d+) (%d+) (%d+) (%d) (.*)$')
  if fleet ~= looks.fleet or math.abs(MS - began) >= ROUND_MAX then return 0 end
  looks.rounds[priority] = {began = began, more = more == '1'}
  local key = P .. 'flows:' .. priority
  local from = call('ZCOUNT', key, '-inf', '(' .. tag)
  local to = from + call('ZCOUNT', key, tag, tag)
  while from < to do
    local middle = math.floor((from + to) / 2)
    if comes_after(call('ZRANGE', key, int(middle), int(middle))[1], tenant) then to = middle else from = middle + 1 end
  end
  looks.first[priority] = from
  return from
end

-- Returns the sequence behind which this worker goes on in a flow; nil if it begins at its first job.
local function behind_skipped(flow)
  if looks.any and looks.behind[flow] == nil then
    local fleet, last, began, jobs = (call('HGET', looks.key, flow) or ''):match('^(%d+) (%d+) (%d+) (%d+)$')
    local before = fleet == looks.fleet and math.abs(MS - began) < SKIP_FOR + SKIP_EACH * jobs
      and redis.pcall('ZCOUNT', P .. 'ready:' .. flow, '-inf', last)
    looks.behind[flow] = type(before) == 'number' and before <= tonumber(jobs) and {last = last, began = began}
    -- Others have taken some of these. One that comes back is noticed all the same.
    if looks.behind[flow] and before < tonumber(jobs) then
      call('HSET', looks.key, flow, table.concat({fleet, last, began, int(before)}, ' '))
    end
  end
  return looks.behind[flow] and looks.behind[flow].last or nil
end

-- Takes the next job of a flow, as ZPOPMIN does; `more` is false if this worker has looked past all of the flow.
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
      local from = first_flow(priority)
      local head = call('ZRANGE', P .. 'flows:' .. priority, int(from), int(from + 1), 'WITHSCORES')
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
        if not more and set_aside(priority, s) then passed = passed + 1 end
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
  local flow, s = priority .. ':' .. tenant, serving[priority] or {tenant = tenant, tag = 1, start = 0}
  local l = looks.skipped[flow] or {jobs = 0}
  looks.skipped[flow] = l
  l.jobs, l.last = l.jobs + 1, tonumber(j.sequence or nil) or l.last
  pass_over()
  if l.jobs >= SKIPS_MAX then set_aside(priority, s) end
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
      -- Its flow pays for the turn, or it would be the first for ever and others would have none.
      pcall(charge, priority, usual)
      return skip(kept, j, priority, tenant)
    end
  end
  pass_over()
end

-- Returns whether a worker has sent a heartbeat within a lease, and none of a library or children that it cannot use: then it claims nothing.
local function is_heard(name)
  local heard = call('ZSCORE', P .. 'workers', name)
  return heard and tonumber(heard) > MS - lease and not report_of(name).trouble
end

-- Returns whether the time is over in which an asked worker need not be heard. A time further ahead than a lease is of another clock.
local function has_passed(ends) return ends < MS or ends > MS + lease end

-- A worker that is asked becomes idle for a job in quarantine, however long its renders take. No other worker is asked while it
-- sends heartbeats.
local what, quarantined = '', call('EXISTS', P .. 'flows:alone') == 1
local asked = quarantined and call('HMGET', P .. 'virtual', 'aloneWorker', 'aloneUntil') or {}

-- Returns whether this worker may get one of the first jobs in quarantine, or there are more than it looks at. It becomes idle for
-- none that it would leave to others, or whose tenant is at its cap.
local ALONE_LOOKED = 10
local function may_get_alone()
  local tenants = call('ZRANGE', P .. 'flows:alone', '0', int(ALONE_LOOKED - 1))
  for _, tenant in ipairs(tenants) do
    local t = tenant_of(tenant)
    local ids = t.held < t.cap and redis.pcall('ZRANGE', P .. 'ready:alone:' .. tenant, '0', int(ALONE_LOOKED - 1)) or {}
    for _, id in ipairs(ids) do
      local j = load_any(id)
      if not j or not is_later(j) and not is_for_others(j, worker) then return true end
    end
    if #ids >= ALONE_LOOKED then return true end
  end
  return #tenants >= ALONE_LOOKED
end

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
    elseif not may_get_alone() then
      quarantined = false
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
      looks.ended = capped < capped_max and passed < passed_max
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
for _, flow in ipairs(looks.aside) do call('ZADD', P .. 'flows:' .. flow.priority, flow.tag, flow.tenant) end

local stopped = claimed < most and (passed >= passed_max or capped >= capped_max)

-- Keeps the positions in the flows of which this call has looked past jobs and not to their ends. Returns whether it has kept one of a flow
-- that was set aside. A hash that is full of those of other flows takes no more, so their first jobs are looked at again.
local function keep_positions_in_flows()
  local kept_one = false
  for flow, l in pairs(looks.skipped) do
    local before = l.last and (stopped or l.jobs >= SKIPS_MAX) and redis.pcall('ZCOUNT', P .. 'ready:' .. flow, '-inf', int(l.last))
    if type(before) == 'number' then
      if call('HLEN', looks.key) >= SKIPS_KEPT and math.abs(MS - number_in(call('HGET', looks.key, ''), 0)) >= SKIPS_RENEWED then
        call('UNLINK', looks.key)
      end
      if call('HLEN', looks.key) < SKIPS_KEPT or call('HEXISTS', looks.key, flow) == 1 then
        local began = looks.behind[flow] and looks.behind[flow].began or NOW
        call('HSETNX', looks.key, '', NOW)
        call('HSET', looks.key, flow, table.concat({looks.fleet, int(l.last), began, int(before)}, ' '))
        kept_one = kept_one or l.jobs >= SKIPS_MAX
      end
    end
  end
  return kept_one
end

-- Keeps where this worker goes on. Returns whether it has to, because it has not looked at everything.
local function keep_positions()
  local deeper = keep_positions_in_flows()
  local has_more = deeper
  for _, priority in ipairs(PRIORITIES) do
    local round, last = looks.rounds[priority], looks.seen[priority]
    local more = deeper or not stopped or round ~= nil and round.more
    if looks.ended then
      has_more = has_more or round ~= nil and round.more
      if round then call('HDEL', looks.key, priority) end
    elseif last and (stopped or round) then
      call('HSETNX', looks.key, '', NOW)
      call('HSET', looks.key, priority,
        table.concat({looks.fleet, round and round.began or NOW, last.tag, more and '1' or '0', last.tenant}, ' '))
    elseif round and more and not round.more then
      call('HSET', looks.key, priority, (call('HGET', looks.key, priority):gsub('^(%d+ %d+ %d+) 0', '%1 1')))
    end
  end
  return has_more
end
local has_more = guarded(keep_positions) == true
if what == '' and (stopped or (has_more or rechecks) and claimed < most) then what = 'again' end
if what == '' and later[1] then what = 'later' end
-- The caller does not claim again at once: it would find the same jobs.
local is_left = left[1] or looks.aside[1] or next(looks.rounds)
if what == '' and is_left then what = 'left' end
if what == '' and claimed == 0 and kept[1] then what = 'left' end

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
  -- Flows that wait to be checked again may have jobs, too.
  if call('LLEN', P .. 'wake') < WAKES_MAX then wake_for(math.max(count_left(), rechecks and 1 or 0)) end
elseif is_left or later[1] then
  wake_for(count_left(), true)
end
return {what, out}
