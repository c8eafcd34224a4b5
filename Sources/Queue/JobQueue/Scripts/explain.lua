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
local mean = mean_cost(P .. 'virtual')
if mean then add('mean', int(math.ceil(mean))) end

local function add_tenant(tenant)
  add('cap', call('HGET', P .. 'config', 'cap:' .. tenant) or call('HGET', P .. 'config', 'cap'))
  add('running', call('HGET', P .. 'running', tenant) or '0')
end

-- Returns the number of jobs that are likely to be claimed before a job at a rank of its flow: those before it there, as many of
-- each other flow of its priority, and all more urgent ones. If there are very many flows, only the first are counted.
local function jobs_before(priority, tenant, rank)
  local before, left = rank, flows_max
  for _, p in ipairs(PRIORITIES) do
    local flows = left > 0 and call('ZRANGE', P .. 'flows:' .. p, '0', int(left - 1)) or {}
    left = left - #flows
    for _, t in ipairs(flows) do
      local length = redis.pcall('ZCARD', P .. 'ready:' .. p .. ':' .. t)
      if type(length) ~= 'number' then length = 0 end  -- damaged; the doctor names it
      if p ~= priority then before = before + length
      elseif t ~= tenant then before = before + math.min(length, rank) end
    end
    if p == priority then return before end
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
  add('before', int(capped and rank or jobs_before(j.priority, j.tenant, rank)))
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
local b = batch and call('HMGET', P .. 'batch:' .. batch, 'admitted', 'tenant', 'cancel', 'cap', 'sealed', 'inLane', 'folder')

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
