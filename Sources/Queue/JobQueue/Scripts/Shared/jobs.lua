-- The transitions of a job that several scripts share.

-- Returns the delay of the attempt that a job waits for, in ms, as its record states it.
local function stated_delay(id)
  local text = redis.pcall('HGET', P .. 'job:' .. id, 'delay')
  return type(text) == 'string' and tonumber(text) or 0
end

-- Returns a whole record, or nil for one that is lost or damaged in its type.
local function load_any(id)
  local is_read, j = pcall(load, id)
  return is_read and j or nil
end

-- Whether any job is parked; checked once per script.
local any_parked

-- Returns the arrival of a job. A record of the previous version has only the time of admission.
local function arrival_of(j) return j.arrival or int(j.enqueued * 1000) end

-- Returns the field that a record lacks, or has no number in, and without which no script can move its job; nil if it is whole. A script
-- asks before its first write: what fails amid a job's writes leaves the job in no place.
local NUMBERS = {'sequence', 'generation', 'attempts', 'crashes', 'rebases', 'carries', 'voids'}
local OPTIONAL_NUMBERS = {'fence', 'cost', 'deadline', 'stored', 'bytes'}
local function is_whole(text) return text and #text <= 17 and text:find('^%-?%d+$') ~= nil end
local function damage_of(j)
  if not j.asset then return 'asset' end
  for _, name in ipairs(NUMBERS) do
    if not is_whole(j[name]) then return name end
  end
  if not tonumber(j.arrival or j.enqueued) then return 'arrival' end
  for _, name in ipairs(OPTIONAL_NUMBERS) do
    if j[name] and not is_whole(j[name]) then return name end
  end
end

-- Fails one job's part of a call (`guarded`) before its first write.
local function require_whole(j)
  local field = damage_of(j)
  if field then error({err = 'the record of job ' .. j.id .. ' has no valid ' .. field}) end
end

-- A job in quarantine has no urgency: its priority is not raised, and it raises no other job's.
local URGENCY = {interactive = 3, normal = 2, bulk = 1}

-- The maximum number of jobs parked ahead of an urgent one whose priority is raised.
local LIFTED_MAX = 1000

-- Raises the priority of all jobs that are parked ahead of a job to its own. Those jobs were raised in the same way by the jobs
-- behind them, so ahead of the first job that is urgent enough all jobs are. A job that takes its place late, because it was
-- delayed, is first raised to the priority of the next job behind it.
local function lift_parked(j)
  local arrival = arrival_of(j)
  local behind = call('ZRANGEBYSCORE', P .. 'parked:' .. j.asset, '(' .. arrival, '+inf', 'LIMIT', '0', '1')[1]
  local wanted = behind and (load_any(behind) or {}).priority
  if wanted and (URGENCY[wanted] or 0) > (URGENCY[j.priority] or 9) then
    j.priority = wanted
    call('HSET', P .. 'job:' .. j.id, 'priority', wanted)
  end
  local urgency = URGENCY[j.priority] or 0
  if urgency <= URGENCY.bulk then return end
  -- Only a few of the jobs ahead are read at a time: usually the first one is urgent enough.
  local from, most = 0, 4
  while from < LIFTED_MAX do
    local ahead = call('ZREVRANGEBYSCORE', P .. 'parked:' .. j.asset, '(' .. arrival, '-inf', 'LIMIT', int(from),
      int(most))
    for _, id in ipairs(ahead) do
      local other = load_any(id)
      if other and (URGENCY[other.priority] or 9) >= urgency then return end
      if other then call('HSET', P .. 'job:' .. id, 'priority', j.priority) end
    end
    if #ahead < most then return end
    from, most = from + most, math.min(most * 2, LIFTED_MAX - from - most)
  end
end

-- Ends a job's wait for its `notBefore`.
local function end_wait(j)
  if not j.notBefore then return end
  call('ZREM', P .. 'later:' .. j.asset, j.id)
  call('HDEL', P .. 'job:' .. j.id, 'notBefore')
  weigh(j, 1)
end

-- Makes a job wait for a worker: ready if its asset is free or held by the job itself, otherwise parked behind the job that
-- holds the asset. A job that is parked behind less urgent ones raises them to its own priority.
local function make_ready(j)
  if not URGENCY[j.priority] and j.priority ~= 'alone' then  -- no worker would look for it
    j.priority = 'normal'
    call('HSET', P .. 'job:' .. j.id, 'priority', 'normal')
  end
  end_wait(j)
  local holder = j.id
  if call('HSETNX', P .. 'assets', j.asset, j.id) == 0 then holder = call('HGET', P .. 'assets', j.asset) end
  if holder == j.id then
    enter_flow(j.priority, j.tenant, j.sequence, j.id)
    if j.state ~= 'ready' then call('HSET', P .. 'job:' .. j.id, 'state', 'ready') end
    return
  end
  any_parked = true
  call('ZADD', P .. 'parked', arrival_of(j), j.id)
  call('ZADD', P .. 'parked:' .. j.asset, arrival_of(j), j.id)
  call('HSET', P .. 'job:' .. j.id, 'state', 'parked')
  lift_parked(j)
  local h = load_any(holder)
  if h and (URGENCY[j.priority] or 0) > (URGENCY[h.priority] or 9) then
    call('HSET', P .. 'job:' .. holder, 'priority', j.priority)
    if h.state == 'ready' then
      leave_flow(h.priority, h.tenant, holder)
      enter_flow(j.priority, h.tenant, h.sequence, holder)
    end
  end
end

-- Ends a job's hold of its asset and makes the next job that was parked behind it ready.
local function leave_asset(j)
  if any_parked == nil then any_parked = call('EXISTS', P .. 'parked') == 1 end
  while any_parked do
    local next = call('ZPOPMIN', P .. 'parked:' .. j.asset)[1]
    if not next then break end
    call('ZREM', P .. 'parked', next)
    local n = load_any(next)
    if n then  -- otherwise Redis lost its record: the job behind it is next
      call('HSET', P .. 'assets', j.asset, next)
      -- A damaged one is claimed, too, and then ends as a dead job with a reason.
      if not n.asset then call('HSET', P .. 'job:' .. next, 'asset', j.asset) end
      n.asset = j.asset
      if not is_whole(n.sequence) then n.sequence = '0' end
      return make_ready(n)
    end
  end
  call('HDEL', P .. 'assets', j.asset)
end

-- Workers whose machines cannot do a job: the record's field `unable` has their names and, after a tab, the times of their starts, one worker
-- a line, with a line feed at both ends. One that was started again under its name may have what it lacked, so it is asked again. Field `needs` has
-- what a worker must have for the job, as its heartbeats tell: `memory <bytes>`, `release <version>` for another one than that, or
-- `editors <version> <editors>` for another release than that, or other settings of the formats of edits (`MachineNeed.swift`).
--
-- A worker lives until `reap` removes it, after ten leases without a beat. Its last beat may be older than a lease: Redis was away, or its
-- clock leapt, and the caller is the first that is back.

-- The most workers that are looked at: beyond them one is believed to be able.
local LIVE_MAX = 1000
local live_workers, met, reports

-- Returns what a worker tells of itself; an empty table if that cannot be read. `report`: that of a worker that stopped.
local function report_of(name, report)
  reports = reports or {}
  local key = name .. (report and ' left' or '')
  if not reports[key] then
    local read, info = pcall(cjson.decode, report or call('HGET', P .. 'workers:info', name) or '')
    reports[key] = read and type(info) == 'table' and info or {}
  end
  return reports[key]
end

-- Returns whether a worker has what a job needs. One that does not tell may have it.
local function meets(name, needs, report)
  if not needs then return true end
  met = met or {}
  local key = name .. (report and ' left ' or ' ') .. needs
  if met[key] == nil then
    local info, kind, value = report_of(name, report), needs:match('^(%l+) (.*)$')
    local budget = type(info.memory) == 'table' and tonumber(info.memory.budgetBytes)
    met[key] = true
    if kind == 'memory' and budget then met[key] = budget >= (tonumber(value) or 0) end
    if kind == 'release' and info.version then met[key] = info.version ~= value end
    if kind == 'editors' and info.version then
      local machine = type(info.machine) == 'table' and info.machine or {}
      local version, editors = value:match('^(%S+) ?(.*)$')
      met[key] = info.version ~= version or (machine.editors or '') ~= editors
    end
  end
  return met[key]
end

-- Returns the line of a worker in `unable`, as far as its start is known.
local function line_of(name, report)
  local start = report_of(name, report).startedAt
  return name .. '\t' .. (type(start) == 'string' and start:gsub('%c', '') or '') .. '\n'
end

-- Returns whether a worker is among those that cannot do a job.
local function is_unable(unable, name, report)
  return unable:find('\n' .. name .. '\t', 1, true) and unable:find('\n' .. line_of(name, report), 1, true) and true or false
end

-- Returns `unable` with a worker, whose line of an earlier start goes.
local function with_unable(unable, name)
  unable = unable or '\n'
  local from, to = unable:find('\n' .. name .. '\t', 1, true)
  if not from then return unable .. line_of(name) end
  return unable:sub(1, from) .. line_of(name) .. unable:sub(unable:find('\n', to, true) + 1)
end

-- How long a worker that stopped in good order counts as alive, in ms: another one takes its place in an update or a restart, under
-- another name. Jobs that came more than SUCCESSION ms after it stopped have not waited for it, and wrong ones are told at once. Hash
-- workers:left has when each stopped, and its last report.
local LEFT_GRACE, SUCCESSION = 5 * 60 * 1000, 60 * 1000
local left_workers

-- Returns whether a worker that lives, or stopped in good order while the job waited, is not among these, and has what the job needs.
local function able_worker(unable, needs, arrival)
  live_workers = live_workers or call('ZREVRANGEBYSCORE', P .. 'workers', '+inf', '-inf', 'LIMIT', '0', int(LIVE_MAX))
  for _, name in ipairs(live_workers) do
    if not is_unable(unable, name) and meets(name, needs) then return true end
  end
  left_workers = left_workers or call('HGETALL', P .. 'workers:left')
  for i = 1, #left_workers, 2 do
    local name, at, report = left_workers[i], left_workers[i + 1]:match('^(%d+) (.*)$')
    at = tonumber(at or nil)
    if at and math.abs(MS - at) < LEFT_GRACE and number_in(arrival, 0) <= (at + SUCCESSION) * 1000 and not is_unable(unable, name, report)
      and meets(name, needs, report) and not call('ZSCORE', P .. 'workers', name) then return true end  -- it may live again
  end
  return #live_workers >= LIVE_MAX
end

-- Returns whether a job is left to others: this worker cannot do it, and another one that lives perhaps can.
local function is_for_others(j, worker)
  if not j.unable then return false end
  return (is_unable(j.unable, worker) or not meets(worker, j.needs)) and able_worker(j.unable, j.needs, j.arrival)
end

-- Ends the hold of a worker that did not end it itself.
local function lose_hold(j) unhold(j.id, j.tenant) end

-- Ends a worker's hold of a job. Returns the duration of the hold, in ms, without the time in which its version waited to be published.
-- A job of the previous release has no `since`.
local function end_hold(j)
  lose_hold(j)
  local since, claimed = tonumber(j.since or nil), tonumber(j.claimed or nil)
  local ms = tonumber(j.worked or nil) or since and lived_time() - since or claimed and MS - claimed or 0
  ms = math.max(0, ms)
  guarded(correct, j, ms)  -- a damaged charge is not corrected
  return ms
end

-- Records the failure of an attempt; the newest 20 are kept.
local function remember(id, entry)
  call('LPUSH', P .. 'attempts:' .. id, entry)
  call('LTRIM', P .. 'attempts:' .. id, '0', '19')
end

-- The digest that two requests with one id must share to be the same job. `fields` is nil or false for a job without any.
local function digest(asset, edit, fields)
  return redis.sha1hex(asset .. '\0' .. edit .. (fields and '\0' .. fields or ''))
end

-- The size in bytes above which an edit is large: fewer dead jobs with one stay (zset dead:large).
local LARGE_EDIT = 4096
-- The size in bytes above which a done job does not keep its edit: 100,000 done jobs have 100 MB of edits at most, which no quota
-- counts.
local DONE_EDIT = 1024
-- The size in bytes above which the result of a done job is long, and the bytes of long ones that are kept, for each of DONE_MAX jobs: 64 MB.
-- One with 16 renditions of a photo with a long name has 23 KB, and its event has all of it. `resultBytes` of hash virtual and of each record
-- count those that are kept.
local LONG_RESULT, LONG_RESULTS = 1024, 640

-- Removes the record of a job that has ended. Hashes seen:new and seen:old remember the id of a job that its producer named,
-- with a digest, so that the same name still refers to the same job. The digest of a job that did not succeed is preceded by
-- `cancelled::` or `dropped:<generation>:`. The id of a dead job is always remembered, because the job may be restored from a file,
-- and so is that of a job that was replayed, because the file may still have it.
local function remove_record(id)
  local j = call('HMGET', P .. 'job:' .. id, 'named', 'asset', 'digest', 'state', 'outcome', 'generation', 'malformed',
    'stored', 'tenant', 'fields', 'resultBytes')
  unstore(j[9], j[8])
  if j[11] and is_whole(j[11]) then call('HINCRBY', P .. 'virtual', 'resultBytes', int(-j[11])) end
  if j[7] then
    call('HSET', P .. 'seen:new', id, 'malformed:1:')
  elseif j[1] or j[4] == 'dead' or j[6] then
    local mark = j[4] == 'dead' and 'dropped:' .. (j[6] or '1') .. ':' or j[5] == 'cancelled' and 'cancelled::' or ''
    -- A damaged record is removed, too: it must not stay where nothing finds it.
    local edit = redis.pcall('GET', P .. 'edit:' .. id)
    call('HSET', P .. 'seen:new', id, mark .. (j[3] or digest(j[2] or '', type(edit) == 'string' and edit or '', j[10])))
  end
  call('UNLINK', P .. 'job:' .. id, P .. 'edit:' .. id, P .. 'result:' .. id, P .. 'attempts:' .. id)
end

-- Takes a done job off the bytes of its tenant: its record is bounded by the number and age of all done jobs, so a tenant whose jobs
-- are all done is refused no other. Its edit is replaced by the digest if it is long: that suffices to recognize a repeat. So are its
-- fields, which are people's names and are not kept longer than they are needed.
local function shed(j)
  local stored = tonumber(j.stored or nil)
  local own = stored and stored - RECORD_BYTES - #j.asset or tonumber(j.bytes or nil) or 0
  if own > DONE_EDIT or j.fields then
    local k = P .. 'job:' .. j.id
    call('HSET', k, 'digest', digest(j.asset, call('GET', P .. 'edit:' .. j.id) or '', j.fields))
    if own > DONE_EDIT then call('UNLINK', P .. 'edit:' .. j.id) end
    if j.fields then call('HDEL', k, 'fields') end
  end
  if not j.stored then return end
  unstore(j.tenant, j.stored)
  call('HDEL', P .. 'job:' .. j.id, 'stored')
end

-- Removes a job that has ended from its tenant's backlog: see Shared/admission.lua.
local function leave_backlog(j)
  if j.submitted then call('HDEL', P .. 'backlog:' .. j.tenant, j.id) end
end

-- Ends a job as done: counts it and sends the event of its outcome. `ms` is the duration of the hold;
-- `revision` is as in `event`.
local function finish(j, outcome, data, ms, revision)
  if j.parent then return end_part(j) end
  if j.split then end_parts(j.id) end
  call('HSET', P .. 'job:' .. j.id, 'state', 'done', 'ended', NOW)
  shed(j)
  weigh(j, -1)
  leave_backlog(j)
  count(outcome)
  count('milliseconds', ms)
  -- A version that was carried on, perhaps days later, says nothing of the cost of a render.
  local is_render = (outcome == 'completed' or outcome == 'drafted') and j.carries == '0'
  if is_render then add_cost(P .. 'virtual', ms, j.cost) end
  member_ended(j, outcome == 'cancelled' and 'cancelled' or 'done', ms, is_render)
  emit(outcome, j, j.generation .. '/' .. outcome, data, revision)
  if #data > LONG_RESULT then
    local kept = number_in(call('HGET', P .. 'virtual', 'resultBytes'), 0) + #data
    if kept > LONG_RESULTS * DONE_MAX then
      call('UNLINK', P .. 'result:' .. j.id)
    else
      call('HSET', P .. 'virtual', 'resultBytes', int(kept))
      call('HSET', P .. 'job:' .. j.id, 'resultBytes', int(#data))
    end
  end
  -- The number is bounded here, and the age by reap. Keys with a time to live would cost a write each.
  if call('RPUSH', P .. 'done', j.id) > DONE_MAX then
    for _, old in ipairs(call('LPOP', P .. 'done', '2')) do guarded(remove_record, old) end
  end
end

-- Returns the data of the event of a cancelled job.
local function cancelled_data(j, reason)
  return '{"asset":' .. quoted(j.asset) .. ',"generation":' .. j.generation .. ',"job":"' .. j.id
    .. '","reason":' .. quoted(reason) .. '}'
end

-- Cancels a job that is not being published. Its state names the structures that contain it. The version of a stuck job may be
-- current nevertheless; its asset's history shows that.
local function cancel(j, reason)
  local ms = 0
  if LISTED[j.state] then call('ZREM', P .. j.state, j.id) end
  if j.state == 'active' then
    ms = end_hold(j)
  elseif j.state == 'ready' then
    leave_flow(j.priority, j.tenant, j.id)
  elseif j.state == 'parked' then
    call('ZREM', P .. 'parked:' .. j.asset, j.id)
  elseif j.state == 'delayed' then
    call('ZREM', P .. 'retrying', j.id)
    end_wait(j)
  elseif j.state == 'stuck' then
    reason = reason .. '; its version ' .. (j.version or '?') .. ' could not be published: ' .. (j.code or '?')
  end
  if call('HGET', P .. 'assets', j.asset) == j.id then leave_asset(j) end
  local data = cancelled_data(j, reason)
  call('HSET', P .. 'job:' .. j.id, 'outcome', 'cancelled')
  call('SET', P .. 'result:' .. j.id, data)
  finish(j, 'cancelled', data, ms)
end

-- Returns the key of a job's edit.
local function edit_key(j) return j.batch and not j.own and 'batch:' .. j.batch .. ':edit' or 'edit:' .. j.id end

-- Makes a job dead. `data` is that of its event.
local function make_dead(j, code, message, data)
  if j.parent then return end_part(j) end
  if j.split then end_parts(j.id) end
  local edit, ended = call('GET', P .. edit_key(j)), NOW
  if j.batch then
    -- A batch that was opened while the clock was ahead must not seem to be opened since: see restore.lua.
    local opened = call('HGET', P .. 'batch:' .. j.batch, 'opened')
    if opened and tonumber(opened) > MS then ended = opened end
  end
  call('HSET', P .. 'job:' .. j.id, 'state', 'dead', 'ended', ended, 'code', code, 'message', message,
    'group', join_group(j.id, code, j.tenant or 'default', not j.malformed and edit, NOW))
  call('ZADD', P .. 'dead', NOW, j.id)
  if edit and #edit > LARGE_EDIT then call('ZADD', P .. 'dead:large', NOW, j.id) end
  weigh(j, -1)
  leave_backlog(j)
  count('failed')
  member_ended(j, 'dead', 0)
  emit('failed', j, j.generation .. '/failed', data)
end

-- Returns the data of the event of a job that died without a report of its worker.
local function death(j, attempt, code, message, worker)
  return '{"asset":' .. quoted(j.asset) .. ',"attempt":' .. int(attempt) .. ',"error":{"code":"' .. code
    .. '","message":' .. quoted(message) .. ',"permanent":true},"generation":' .. j.generation
    .. ',"job":"' .. j.id .. (worker and '","worker":' .. quoted(worker) or '"') .. '}'
end

-- Ends a job whose record lacks a field without which it cannot run: it becomes a dead job with a reason.
local function bury(j, field)
  local message = 'the record of job ' .. j.id .. ' in Redis is damaged: it has no valid ' .. field .. '. Send the edit again under '
    .. 'another id.'
  j.asset = j.asset or ''
  -- Sums that read such a field count as if the record did not have it.
  for _, names in ipairs({NUMBERS, OPTIONAL_NUMBERS}) do
    for _, name in ipairs(names) do
      if not tonumber(j[name]) then j[name] = nil end
    end
  end
  if HELD[j.state] then lose_hold(j) end
  if j.split then guarded(end_parts, j.id) end
  j.split = nil
  if call('HGET', P .. 'assets', j.asset) == j.id then leave_asset(j) end
  make_dead(j, 'internalError', message, death(j, 0, 'internalError', message))
end

-- Ends a job that a worker holds if its record is damaged, before the first write of its end. A part of one is ended: its job
-- renders it itself. Returns whether it did.
local function bury_damaged(j)
  local field = damage_of(j)
  if not field then return false end
  if j.parent then end_part(j) else bury(j, field) end
  return true
end

-- Puts a job into quarantine: only a worker that holds no other job may claim it. `why` is the counter that caused it:
-- `crashes`, which may be uncounted later, or `attempts`.
local function quarantine(j, why)
  if j.priority == 'alone' then return end
  call('HSET', P .. 'job:' .. j.id, 'priority', 'alone', 'was', j.priority)
  if why == 'crashes' then call('HSET', P .. 'job:' .. j.id, 'aloneFor', why) end
  j.priority = 'alone'
  count('quarantined')
end

-- Returns whether a UTF-8 text contains a control character (Unicode's Cc: U+0000 to U+001F and U+007F to U+009F), which the name
-- of a photo must not. `AssetPath` has the same rule, and a test compares the two for every code point.
local function has_controls(text) return text:find('%c') ~= nil or text:find('\194[\128-\159]') ~= nil end

-- Jobs whose version cannot be published: how they become stuck, and how their publication continues.

-- Gives up the publication of a job's version until a client replays or cancels the job. The job keeps its asset: later edits
-- wait behind it in their order, and would most likely fail as well. `told` is the message of its event, if the record's has what not
-- everybody may read.
local function get_stuck(j, code, message, told)
  lose_hold(j)
  call('HSET', P .. 'job:' .. j.id, 'state', 'stuck', 'code', code, 'message', message)
  call('HDEL', P .. 'job:' .. j.id, 'handedOn')
  call('ZADD', P .. 'stuck', NOW, j.id)
  count('stuck')
  emit('stuck', j, j.generation .. '/stuck/' .. j.fence, '{"asset":' .. quoted(j.asset) .. ',"carries":'
    .. j.carries .. ',"error":{"code":"' .. code .. '","message":' .. quoted(told or message) .. ',"permanent":false},"generation":'
    .. j.generation .. ',"job":"' .. j.id .. '"' .. (j.version and ',"version":' .. quoted(j.version) or '')
    .. (j.worker and ',"worker":' .. quoted(j.worker) or '') .. '}')
end

-- Returns the field that a committing job lacks and without which its version can be neither published nor reported; nil if the
-- record is complete. `data` is that of its event, if any.
local function lacks(j, data)
  if not j.asset then
    j.asset = ''
    return 'asset'
  end
  if not j.version then return 'version' end
  if not j.outcome then return 'outcome' end
  if not j.claimed then return 'claimed' end
  if not data then return 'result' end
end

-- The same for a caller that has not read the data.
local function lacks_of(j) return lacks(j, call('EXISTS', P .. 'result:' .. j.id) == 1) end

-- Makes a job stuck because its record lacks a field.
local function get_stuck_lacking(j, lacking)
  get_stuck(j, 'internalError', 'the record of job ' .. j.id .. ' has no ' .. lacking
    .. ', so its version can be neither published nor reported. Replay the job, and it is made again.')
end

-- Publishes the version of a stuck job once more, with the initial number of carries.
local function resume(j)
  local k, lacking = P .. 'job:' .. j.id, lacks_of(j)
  call('ZREM', P .. 'stuck', j.id)
  call('HDEL', k, 'carries', 'code', 'message')
  if lacking then
    call('HDEL', k, 'version', 'outcome', 'worked')
    call('UNLINK', P .. 'result:' .. j.id)
    make_ready(j)  -- it is rendered again, in its generation
  else
    -- No worker holds it, so that reap finds it at once and counts no crash.
    call('HSET', k, 'state', 'committing', 'handedOn', '1')
    hold(j.id, j.tenant, NOW)
  end
  count('replayed')
  return 'OK'
end
