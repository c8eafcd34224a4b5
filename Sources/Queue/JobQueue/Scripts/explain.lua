-- Returns all facts that explain a job's state, at one moment. Changes nothing.
--
-- ARGV     P, events max, done max, id, maximum flows
-- Returns  (name, value)*; `state` is a job's state, or `incoming`, `lane` (not yet a job), `dropped` (it ended so long
--          ago that only its name is left; `endedAs`, unless it succeeded) or `unknown`
local id, flows_max = ARGV[4], tonumber(ARGV[5])
local out = {'now', NOW}
local function add(name, value)
  if value then out[#out + 1] = name out[#out + 1] = tostring(value) end
end

add('paused', call('HGET', P .. 'config', 'paused'))

-- The average cost of the jobs that a time is reckoned by: renders of one queue take from milliseconds to hours.
local mean = mean_cost(P .. 'virtual')

local function add_mean(name, cost)
  if cost then add(name, int(math.ceil(cost))) end
end

-- Returns the average cost of a render of a batch, or of the queue, and the ratio of real to stated costs; nil while they are unknown.
local known = {}
local function costs_of(key)
  if not known[key] then
    local sums = redis.pcall('HMGET', key, 'costMs', 'costJobs', 'costStated')
    local ms, jobs, stated = tonumber(sums[1] or nil), tonumber(sums[2] or nil), tonumber(sums[3] or nil)
    known[key] = {mean = ms and jobs and jobs > 0 and ms / jobs or nil, ratio = ms and stated and stated > 0 and ms / stated or nil}
  end
  return known[key].mean, known[key].ratio
end

-- Returns the expected cost of a job: its stated cost, corrected by what such jobs took; else the average of its batch, or of all. Nil
-- while the queue has rendered nothing.
local function cost_of(id)
  local j = redis.pcall('HMGET', P .. 'job:' .. id, 'batch', 'cost')
  local of_batch, ratio
  if j[1] then of_batch, ratio = costs_of(P .. 'batch:' .. j[1]) end
  local of_all, usual = costs_of(P .. 'virtual')
  local stated = of_all and tonumber(j[2] or nil)
  return stated and stated * (ratio or usual or 1) or of_all and of_batch or of_all
end

local SAMPLE = 10  -- jobs of a flow whose costs are looked at
-- Returns the expected cost of the first jobs of a flow, by some that are spread evenly over them.
local function cost_of_first(flow, jobs)
  local sum, found = 0, 0
  for i = 1, math.min(jobs, SAMPLE) do
    local rank = int(math.floor((i - 1) * jobs / math.min(jobs, SAMPLE)))
    local id = redis.pcall('ZRANGE', P .. 'ready:' .. flow, rank, rank)[1]
    local cost = id and cost_of(id)
    if cost then sum, found = sum + cost, found + 1 end
  end
  return found > 0 and sum / found * jobs or jobs * (mean or 0)
end

local function add_tenant(tenant)
  add('cap', call('HGET', P .. 'config', 'cap:' .. tenant) or call('HGET', P .. 'config', 'cap'))
  add('running', call('HGET', P .. 'running', tenant) or '0')
end

local FLOWS_SAMPLED = 50
-- Returns the number of jobs that are likely to be claimed before a job at a rank of its flow: those before it there, as many of
-- each other flow of its priority, and all more urgent ones; and the expected cost of those of other flows. If there are very many
-- flows, only the first are counted.
local function jobs_before(priority, tenant, rank)
  local before, left, cost, sampled = rank, flows_max, 0, 0
  for _, p in ipairs(PRIORITIES) do
    local flows = left > 0 and call('ZRANGE', P .. 'flows:' .. p, '0', int(left - 1)) or {}
    left = left - #flows
    for _, t in ipairs(flows) do
      local length = redis.pcall('ZCARD', P .. 'ready:' .. p .. ':' .. t)
      if type(length) ~= 'number' then length = 0 end  -- damaged; the doctor names it
      if p == priority then length = t ~= tenant and math.min(length, rank) or 0 end
      before = before + length
      if length > 0 then
        sampled = sampled + 1
        cost = cost + (sampled <= FLOWS_SAMPLED and cost_of_first(p .. ':' .. t, length) or length * (mean or 0))
      end
    end
    if p == priority then return before, cost end
  end
end

local function add_ready(j)
  add_tenant(j.tenant)
  local rank = call('ZRANK', P .. 'ready:' .. j.priority .. ':' .. j.tenant, id) or 0
  local capped = call('HEXISTS', P .. 'capped', j.priority .. ':' .. j.tenant) == 1
  local tag = call('ZSCORE', P .. 'flows:' .. j.priority, j.tenant)
  add('rank', int(rank))
  if j.unable then
    local _, lines = j.unable:gsub('\n', '')
    add('unable', int(lines - 1))  -- a line feed at both ends
    add('unableWorkers', j.unable)
    add('needs', j.needs)
  end
  if capped then add('capped', '1') end
  if tag then add('flowsAhead', int(call('ZCOUNT', P .. 'flows:' .. j.priority, '-inf', '(' .. tag))) end
  local before, cost = rank, 0
  if not capped then before, cost = jobs_before(j.priority, j.tenant, rank) end
  add('before', int(before))
  local each = cost_of(id)
  if not each then return end
  local own = cost_of_first(j.priority .. ':' .. j.tenant, rank) + each
  add_mean('ownMean', own / (rank + 1))
  add_mean('mean', (own + cost) / (before + 1))
end

local j = load(id)
if j then
  for _, name in ipairs({'state', 'format', 'asset', 'tenant', 'priority', 'was', 'batch', 'generation', 'attempts', 'crashes', 'parent',
    'carries', 'handedOn', 'worker', 'claimed', 'stage', 'framesDone', 'frames', 'cancel', 'enqueued', 'deadline', 'ended', 'outcome', 'version', 'code', 'message',
    'malformed'}) do add(name, j[name]) end
  if j.batch then add('batchCancel', call('HGET', P .. 'batch:' .. j.batch, 'cancel')) end
  if j.state == 'ready' then add_ready(j)
  elseif j.state == 'delayed' then add('due', call('ZSCORE', P .. 'delayed', id))
  elseif HELD[j.state] then add('leaseEnds', call('ZSCORE', P .. 'lease', id))
  elseif j.state == 'parked' then
    local holder = call('HGET', P .. 'assets', j.asset)
    if holder then
      add('holder', holder)
      add('holderState', call('HGET', P .. 'job:' .. holder, 'state'))
    end
    add('rank', int(call('ZRANK', P .. 'parked:' .. j.asset, id) or 0))
  elseif j.state == 'done' and (j.outcome == 'cancelled' or j.outcome == 'unchanged') then
    local read, result = pcall(cjson.decode, call('GET', P .. 'result:' .. id) or '')
    if read and type(result) == 'table' then add('reason', result.reason) end
  elseif LISTED[j.state] and not ENDED[j.state] then add('since', call('ZSCORE', P .. j.state, id)) end
  return out
end

-- Not yet a job: an entry of the ingress stream, found by its name or by an id that `submit` has reserved, or an entry of a batch.
local incoming = 0
for _, door in ipairs(DOORS) do incoming = incoming + call('XLEN', P .. door.stream) end
local f, name = reserved_entry(id)
if not f and entry_named(id) then f, name = {}, id end
if f then
  add('state', 'incoming')
  add('asset', f.asset)
  add('tenant', f.tenant or f.asset and 'default')
  add('priority', f.priority or f.asset and (door_of(name).priority or 'normal'))
  add('incoming', int(incoming))
  return out
end
-- Adds how a job ended of which only the name is left.
local function add_end(mark)
  if not mark then return end
  local _, ended = remembered(mark)
  add('endedAs', ended)
end

local batch, number = member_of(id)
local b = batch and call('HMGET', P .. 'batch:' .. batch, 'admitted', 'tenant', 'cancel', 'cap', 'sealed', 'inLane', 'folder', 'done', 'dead',
  'cancelled', 'holes')

-- Returns the state of a member without a record, and why the batch has no such job, if that is so.
local function member_state()
  local admitted, sealed = tonumber(b[1]), tonumber(b[5] or 'inf')
  local has_ended = call('GETBIT', P .. 'batch:' .. batch .. ':ended', int(number)) == 1
  if number >= sealed then return 'unknown', 'beyondSeal' end
  if number < admitted then return has_ended and 'dropped' or 'unknown', not has_ended and 'lost' or nil end
  -- A cancelled batch has counted the entries that its stream had.
  if b[6] or has_ended then return 'done' end
  local head = stream_head(batch, admitted)
  if number < head then return 'unknown', 'trimmed' end
  if number >= head + call('XLEN', P .. 'lane:' .. batch) then return 'unknown', 'notSent' end
  add('rank', int(number - head))
  -- The members that left the stream and have not ended come before it, too.
  add('open', int(math.max(0, admitted - number_in(b[8], 0) - number_in(b[9], 0) - number_in(b[10], 0) + number_in(b[11], 0))))
  add_mean('mean', mean_cost(P .. 'batch:' .. batch) or mean)
  return 'lane'
end

if b and b[1] then
  local state, absent = member_state()
  add('batch', batch)
  add('batchFolder', b[7])
  add('state', state)
  if state == 'dropped' then add_end(seen(id)) end
  add('absent', absent)
  add('sealed', b[5])
  add('batchCancel', b[3])
  if state == 'done' then
    add('outcome', 'cancelled')
    add('reason', b[6] and b[3])
  end
  add('tenant', b[2])
  add('batchCap', b[4])
  add_tenant(b[2])
  return out
end
local is_seen = seen(id)
add('incoming', int(incoming))
add('state', is_seen and 'dropped' or 'unknown')
add_end(is_seen)
if batch and not is_seen then
  if seen('batch:' .. batch) then
    add('batch', batch)
    add('absent', 'batchDropped')
  elseif number < stream_head(batch, 0) + call('XLEN', P .. 'lane:' .. batch) then
    add('batch', batch)
    add('absent', 'unopened')
  end
end
return out
