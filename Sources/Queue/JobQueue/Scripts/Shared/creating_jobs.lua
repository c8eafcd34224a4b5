-- From a checked entry of a stream to a job.
-- Creates a job from valid fields. `j` has id, asset, tenant, priority, sequence, arrival, generation, and perhaps
-- batch, cost, named, own (an edit of its own in a batch), bytes of that or of a single job's edit, due and deadline
-- in ms, submitted, traceparent.
local function create_job(j)
  local record = {'state', 'ready', 'format', FORMAT, 'asset', j.asset, 'sequence', j.sequence,
    'arrival', j.arrival, 'enqueued', NOW}
  local function add(name, value) record[#record + 1] = name record[#record + 1] = value end
  if j.tenant ~= 'default' then add('tenant', j.tenant) end
  if j.priority ~= 'normal' then add('priority', j.priority) end
  if j.batch then add('batch', j.batch) end
  if j.cost then add('cost', j.cost) end
  if j.named then add('named', '1') end
  if j.own then add('own', '1') end
  if j.traceparent then add('traceparent', j.traceparent) end
  if j.submitted then add('submitted', '1') end
  if j.generation ~= '1' then add('generation', j.generation) end
  if j.deadline then add('deadline', int(j.deadline)) end
  local stored = RECORD_BYTES + #j.asset + (j.bytes or 0)
  add('stored', int(stored))
  store(j.tenant, stored)
  if j.bytes and j.bytes > LARGE_EDIT then
    add('bytes', int(j.bytes))
  else
    j.bytes = nil
  end
  count('admitted')
  if j.due and j.due > believed() then
    record[2] = 'delayed'
    add('notBefore', int(j.due))
    call('HSET', P .. 'job:' .. j.id, unpack(record))
    call('ZADD', P .. 'delayed', int(j.due), j.id)
    call('ZADD', P .. 'later:' .. j.asset, j.arrival, j.id)
  else
    weigh(j, 1)
    call('HSET', P .. 'job:' .. j.id, unpack(record))
    j.state = 'ready'
    make_ready(j)
  end
end

-- Ends the jobs of an asset that wait in one of its zsets and arrived earlier. In a longer chain the later ones are claimed
-- nevertheless, and then the library knows that a newer edit was published.
local REPLACED_MAX = '1000'
local function replace_waiting(zset, state, arrival, reason)
  for _, id in ipairs(call('ZRANGEBYSCORE', zset, '-inf', '(' .. arrival, 'LIMIT', '0', REPLACED_MAX)) do
    local j = load(id)
    if j and j.state == state then cancel(j, reason) else call('ZREM', zset, id) end
  end
end

-- Ends the jobs of an asset that a new job replaces: those that arrived earlier.
local function replace(asset, which, arrival, reason)
  replace_waiting(P .. 'parked:' .. asset, 'parked', arrival, reason)
  replace_waiting(P .. 'later:' .. asset, 'delayed', arrival, reason)
  local holder = call('HGET', P .. 'assets', asset)
  local h = holder and load(holder)
  if not h or tonumber(arrival_of(h)) >= tonumber(arrival) then return end
  if h.state == 'ready' or h.state == 'delayed' or h.state == 'stuck' then
    cancel(h, reason)
  elseif h.state == 'active' and which == 'running' then
    call('HSET', P .. 'job:' .. holder, 'cancel', reason)
    notify_workers('job', holder)
  end
end

-- Makes an entry that never was a job dead. It has nothing to run, so the oldest such records may be dropped; jobs that died
-- are never dropped here.
local function make_malformed_dead(j, code, message, most)
  if #j.asset > ASSET_MAX or not is_utf8(j.asset) then
    j.asset = j.asset:sub(1, ASSET_MAX):gsub('[\128-\255]', '?')
  end
  call('HSET', P .. 'job:' .. j.id, 'asset', j.asset, 'enqueued', NOW, 'malformed', '1',
    'format', FORMAT, 'stored', int(RECORD_BYTES + #j.asset))
  store('default', RECORD_BYTES + #j.asset)
  if j.batch then call('HSET', P .. 'job:' .. j.id, 'batch', j.batch) end
  j.malformed = '1'
  weigh(j, 1)  -- make_dead subtracts it again
  make_dead(j, code, message, death(j, 0, code, message))
  if call('RPUSH', P .. 'malformed', j.id) <= most then return end
  local old = call('LPOP', P .. 'malformed')
  local o = call('HMGET', P .. 'job:' .. old, 'malformed', 'batch', 'group', 'stored')
  if o[1] then
    unstore('default', o[4])
    call('ZREM', P .. 'dead', old)
    call('ZREM', P .. 'dead:large', old)
    leave_group(o[3])
    call('UNLINK', P .. 'job:' .. old)
    if o[2] then member_gone(o[2]) end
    count('malformedDropped')
  end
end
