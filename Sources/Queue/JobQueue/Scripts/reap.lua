-- Finds jobs whose lease expired: their worker died, hung or lost Redis. Any worker may call it that has itself
-- reached Redis for a whole lease; it needs no lock because a script runs alone.
--
-- An `active` job becomes ready again at its old position, and the crash is counted: after the second one the job is in
-- quarantine, after the last one it is dead. The fence of the hold is kept in `blamed`, so that pardon can uncount the crash if
-- the worker proves to be alive. A death cannot be undone, so the last crash waits until the worker has been silent for long, or was
-- started again under its name.
-- A claim that no heartbeat has confirmed is void: its reply was lost, and no crash is counted. The same holds for a job whose
-- render had not started: its files were being transferred, or it waited for memory. The number of void claims per job is
-- bounded, because a job may kill its worker before the next heartbeat. A `committing` job is given to the caller under a new
-- fence, which continues with step 2: the version may be published already, so the job can be neither rendered again nor failed.
-- After a maximum number of carries the job is stuck.
--
-- A lease that lies further ahead than it can (field `lease` of the job) was given before the server's clock was set back. It begins anew:
-- its worker may live.
--
-- The script also drops the records of jobs and batches that ended long ago, and of workers that are gone.
--
-- ARGV   P, events max, done max, worker, lease ms, jobs at most, crashes to quarantine, crashes max,
--        keep done ms, records at most, batches max, seen max, carries max, voids max, silence before death ms, ms since the caller's last
--        tick or ``
-- Returns {jobs made ready, jobs dead, {id, fence, asset, version, generation, carries, traceparent or ``, arrival in µs}* to carry on, why a job
--         cannot be requeued*}
-- Crash  Afterwards a job to carry on has a new lease, which runs out in turn.
local worker, lease, most, crashes_to_quarantine, crashes_max, keep, records_max, batches_max, seen_max, carries_max, voids_max,
  silence =
  ARGV[4], tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]),
  tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14]),
  tonumber(ARGV[15])
local ready, dead, carry, broken = 0, 0, {}, {}
tick(ARGV[16])

-- Gives a job to the caller, which continues with step 2 of publishing, or makes the job stuck.
local function carry_on(j)
  local k, handed_on, lacking = P .. 'job:' .. j.id, j.handedOn, lacks_of(j)
  if not handed_on then count('crashed') end
  -- The previous holder's writes are refused from now on, whatever happens to the job.
  j.fence = int(math.max(tonumber(j.fence or '0') + 1, next_time()))
  keep_time()
  call('HSET', k, 'fence', j.fence)
  lacking = lacking or not is_whole(j.carries) and 'valid carries'
  if lacking then return get_stuck_lacking(j, lacking) end
  if tonumber(j.carries) >= carries_max then
    return get_stuck(j, 'workerLost', 'worker ' .. (j.worker or '?') .. ' let its lease run out while it published version '
      .. j.version .. '; that was carried on ' .. j.carries .. ' times already.')
  end
  hold(j.id, j.tenant, int(MS + lease))
  call('HSET', k, 'worker', worker, 'carries', int(j.carries + 1), 'lease', int(lease))
  if handed_on then call('HDEL', k, 'handedOn') end
  carry[#carry + 1] = {j.id, j.fence, j.asset, j.version, j.generation, j.carries + 1, j.traceparent or '',
    arrival_of(j)}
end

-- Records in the history of a job how its worker lost it.
local function remember_loss(j, message)
  remember(j.id, '{"at":"' .. stamp() .. '","code":"workerLost","fence":"' .. j.fence .. '","message":'
    .. quoted(message) .. (j.stage and ',"stage":' .. quoted(j.stage) or '') .. ',"worker":' .. quoted(j.worker) .. '}')
end

-- Returns whether a dead worker knew of a job but had not started its render.
local function not_begun(j) return j.stage == 'fetching' or j.stage == 'waiting' end

-- Returns whether the worker that held a job was started again since, under its name: then it does not know of the job.
local function was_restarted(j)
  local start = report_of(j.worker).startedAt
  return j.start and j.confirmed == j.fence and type(start) == 'string' and start ~= j.start
end

-- Voids a claim whose render had not started, or of which the worker may not know.
local function void(j, message)
  lose_hold(j)
  correct(j, 0)
  local voids = call('HINCRBY', P .. 'job:' .. j.id, 'voids', '1')
  count('voided')
  remember_loss(j, message .. '; that was void claim ' .. voids .. ' of at most ' .. int(voids_max) .. '.')
  make_ready(j)
  ready = ready + 1
end

local function requeue(id)
  local j = load(id)
  if j then j.worker = j.worker or '?' end
  -- Redis lost its record; or it is a part, and this call has ended its job.
  if not j then
    if call('ZREM', P .. 'lease', id) == 1 then count('crashed') end
    return
  end
  -- Left to a newer worker. Its lease begins anew, so that such jobs do not keep the others from being found.
  if is_later(j) then return call('ZADD', P .. 'lease', 'XX', int(MS + lease), id) end
  if j.state ~= 'committing' and bury_damaged(j) then
    dead = dead + 1
    return
  end
  if j.state == 'committing' then return carry_on(j) end
  if j.cancel then return cancel(j, j.cancel) end
  if tonumber(j.voids) < voids_max then
    if j.confirmed ~= j.fence then
      return void(j, 'no heartbeat of worker ' .. j.worker
        .. ' confirmed the claim: its reply was lost, or the worker ended at once')
    end
    if not_begun(j) then
      return void(j, 'worker ' .. j.worker .. ' let its lease run out before it began with the job (' .. j.stage .. ')')
    end
  end
  local k, crashes = P .. 'job:' .. id, j.crashes + 1
  if crashes >= crashes_max then
    local heard = call('ZSCORE', P .. 'workers', j.worker)
    if heard and heard + silence > believed() and not was_restarted(j) then
      call('HSET', k, 'lease', int(silence))
      return call('ZADD', P .. 'lease', int(heard + silence), id)
    end
  end
  count('crashed')
  lose_hold(j)
  call('HSET', k, 'crashes', int(crashes), 'blamed', (j.blamed and j.blamed .. ' ' or '') .. j.fence)
  local message = 'worker ' .. j.worker .. ' let its lease run out while it held the job'
    .. (j.stage and ' (' .. j.stage .. ')' or '') .. '; that was crash ' .. int(crashes) .. ' of at most '
    .. int(crashes_max) .. '.'
  remember_loss(j, message)
  if crashes >= crashes_max then
    leave_asset(j)
    make_dead(j, 'workerLost', message, death(j, j.attempts + crashes, 'workerLost', message, j.worker))
    dead = dead + 1
  else
    if crashes >= crashes_to_quarantine then quarantine(j, 'crashes') end
    make_ready(j)
    ready = ready + 1
  end
end

local impossible = beyond('lease', MS + lease, tonumber(most))
for i = 1, #impossible, 2 do
  local id, term = impossible[i], lease
  local stated = redis.pcall('HGET', P .. 'job:' .. id, 'lease')
  if type(stated) == 'string' then term = tonumber(stated) or lease end
  if tonumber(impossible[i + 1]) > MS + term then call('ZADD', P .. 'lease', 'XX', int(MS + term), id) end
end
-- The same for heartbeats: a worker that lives sends another one.
impossible = beyond('workers', MS, tonumber(most))
for i = 1, #impossible, 2 do call('ZADD', P .. 'workers', 'XX', NOW, impossible[i]) end

-- A job with a broken record must not prevent the others from being found; the doctor reports the missing field.
for _, id in ipairs(call('ZRANGEBYSCORE', P .. 'lease', '-inf', int(believed()), 'LIMIT', '0', most)) do
  local answer = guarded(requeue, id)
  if type(answer) == 'string' then
    broken[#broken + 1] = 'job ' .. id .. ': ' .. answer
    -- Its lease begins anew, as that of a job of a later format.
    call('ZADD', P .. 'lease', 'XX', int(MS + lease), id)
  end
end

for _ = 1, records_max do
  local oldest = call('LINDEX', P .. 'done', '0')
  if not oldest then break end
  local ended = redis.pcall('HGET', P .. 'job:' .. oldest, 'ended')
  if (tonumber(type(ended) == 'string' and ended) or 0) > believed() - keep then break end
  call('LPOP', P .. 'done')  -- also of a record that is damaged or lost: it must not stay before the others
  guarded(remove_record, oldest)
end

local function drop_batch(batch)
  local key = P .. 'batch:' .. batch
  call('ZREM', P .. 'batches:ended', batch)
  -- Dead jobs need the batch's edit for a replay, so it stays while some of them have not been dropped.
  local b = call('HMGET', key, 'dead', 'gone', 'tenant', 'stored', 'laneBytes')
  if (b[1] or 0) - (b[2] or 0) > 0 then return end
  -- Members of a new batch of that name would have the same ids, so the name is remembered like a job's.
  call('HSET', P .. 'seen:new', 'batch:' .. batch, digest('', call('GET', key .. ':edit') or ''))
  call('UNLINK', key, key .. ':edit', key .. ':ended')
  for field = 4, 5 do unstore(b[3], b[field]) end
  end_stream(batch)
  for _, name in ipairs({'batches', 'lanes'}) do call('ZREM', P .. name, batch) end
end

-- Batches that ended are dropped after the same time.
for _, batch in ipairs(call('ZRANGE', P .. 'batches:ended', '0', '9')) do
  if tonumber(call('ZSCORE', P .. 'batches:ended', batch)) > believed() - keep then break end
  guarded(drop_batch, batch)  -- the first thing it does takes the batch off the list
end

-- If there are too many of them, the oldest of the tenant that has most is dropped: nobody's batches push out those of others. Each
-- call drops BATCHES_DROPPED at most, and looks at the BATCHES_SEEN oldest (1 ms).
local BATCHES_DROPPED, BATCHES_SEEN = 100, 2000
local extra = math.min(call('ZCARD', P .. 'batches:ended') - batches_max, BATCHES_DROPPED)
local owners, of = {}, {}
for _, batch in ipairs(extra > 0 and call('ZRANGE', P .. 'batches:ended', '0', int(BATCHES_SEEN - 1)) or {}) do
  local tenant = redis.pcall('HGET', P .. 'batch:' .. batch, 'tenant')
  if type(tenant) ~= 'string' then tenant = 'default' end
  if not of[tenant] then
    of[tenant] = {first = 1}
    owners[#owners + 1] = of[tenant]
  end
  table.insert(of[tenant], batch)
end
for _ = 1, extra do
  local most
  for _, owner in ipairs(owners) do
    if not most or #owner - owner.first > #most - most.first then most = owner end
  end
  if not most or not most[most.first] then break end
  guarded(drop_batch, most[most.first])
  most.first = most.first + 1
end

-- Names of dropped jobs and batches, in two generations: the older one is removed when the newer one is full or old.
local turn = call('HMGET', P .. 'virtual', 'seenSince', 'seenKeep')
local since = number_in(turn[1], 0)
if turn[2] ~= int(keep) then call('HSET', P .. 'virtual', 'seenKeep', int(keep)) end
if call('HLEN', P .. 'seen:new') >= seen_max / 2 or since < lived_time() - keep then
  if call('EXISTS', P .. 'seen:new') == 1 then call('RENAME', P .. 'seen:new', P .. 'seen:old')
  elseif call('EXISTS', P .. 'seen:old') == 1 then call('UNLINK', P .. 'seen:old') end
  call('HSET', P .. 'virtual', 'seenSince', int(lived_time()))
end

local gone = call('ZRANGEBYSCORE', P .. 'workers', '-inf', int(believed() - 10 * math.max(lease, 1000)), 'LIMIT', '0', '100')
for _, name in ipairs(gone) do
  call('ZREM', P .. 'workers', name)
  call('HDEL', P .. 'workers:info', name)
  call('HDEL', P .. 'workers:shared', name)
  call('UNLINK', P .. 'skips:' .. name)
end
if gone[1] then
  -- Jobs that were left to these may be those of workers that sleep: they look at all again.
  call('HINCRBY', P .. 'virtual', 'fleet', '1')
  claimable = claimable + WAKES_MAX
end
settle()
return {ready, dead, carry, broken}
