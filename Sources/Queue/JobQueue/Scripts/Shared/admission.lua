-- Jobs that were submitted: their producers received the result at once (submit.lua), and admission must honour it.
--
-- Hash reserved has `<entry> <tenant>` for each id that is not yet a job, with a leading `-` if the job was cancelled
-- meanwhile and has ended. A reservation is valid while its entry is in the ingress stream. If the entry was dropped unread, or
-- taken by a worker of an earlier release, the reservation is void, and `tend` removes it.
-- Hash backlog:<tenant> has the ids of the tenant's submitted jobs that have not ended, and `batch:<batch>` for each such batch. The
-- value is the bytes of an entry that is not yet a job (Shared/records.lua), otherwise 1.
-- Their records have the field `submitted`. The hash has ids and not a number, so that an id that is written twice counts once,
-- and the doctor can check each.
local function backlog(tenant) return P .. 'backlog:' .. tenant end

-- Uncounts the bytes of an entry that is not a reserved one any more.
local function end_entry(id, tenant)
  local entry = call('HGET', backlog(tenant), id)
  if not entry or entry == '1' then return end
  unstore(tenant, entry)
  call('HSET', backlog(tenant), id, '1')
end

-- Returns the entry and the tenant of a reservation's text, and whether the job was cancelled.
local function noted(text)
  local mark, entry, tenant = text:match('^(%-?)(%S+) (.*)$')
  return entry, tenant, mark == '-'
end

-- Returns the entry of the ingress stream with a given name, in the form of XRANGE; nil if it is gone. A client may ask for
-- any name: Redis accepts ids with numbers below 2^64 and fails for others.
local function entry_named(name)
  local door, id = door_of(name)
  if not door or id:find(string.rep('%d', 20)) then return nil end
  return call('XRANGE', P .. door.stream, id, id)[1]
end

-- Returns the fields of the entry that reserves an id, and its name; nil if there is none.
local function reserved_entry(id)
  local text = call('HGET', P .. 'reserved', id)
  local name, _, is_cancelled = noted(text or ' ')
  local entry = name and not is_cancelled and entry_named(name)
  if not entry then return nil end
  local f = {}
  for i = 1, #entry[2], 2 do f[entry[2][i]] = entry[2][i + 1] end
  return f, name
end

-- Ends a reservation whose entry is gone, and removes the id from the backlog unless an open job has it.
local function end_reservation(id, tenant)
  call('HDEL', P .. 'reserved', id)
  end_entry(id, tenant)
  local j = call('HMGET', P .. 'job:' .. id, 'submitted', 'state')
  if not j[1] or ENDED[j[2]] then call('HDEL', backlog(tenant), id) end
end

-- Returns whether a reservation is valid.
local function is_reserved(text)
  local name = noted(text)
  return name and entry_named(name) and true or false
end

-- Decides whether the id of a job that a producer sends is free.

-- Returns how the previous job of an id ended, if that forbids another run.
local function ending(state, outcome) return state == 'dead' and 'dead' or outcome == 'cancelled' and 'cancelled' or nil end

-- Returns the job that has or had an id: its `digest`, its `state` (`incoming` while the id is reserved, `dropped` if only its
-- name is left) and how it `ended`, unless it succeeded; nil if the id is free. The second and third values are the generation
-- of a new job, and whether a dead letter has the id. A dead letter never was a job; it yields the id to a job that is sent again.
local function earlier(id)
  local job = call('HMGET', P .. 'job:' .. id, 'asset', 'malformed', 'digest', 'state', 'outcome', 'fields')
  if job[1] and not job[2] then
    return {digest = job[3] or digest(job[1], call('GET', P .. 'edit:' .. id) or '', job[6]), state = job[4],
      ended = ending(job[4], job[5])}
  end
  local f = reserved_entry(id)
  if f then return {digest = digest(f.asset or '', f.edit or '', f.fields), state = 'incoming'} end
  if job[2] then return nil, '2', true end
  local before = seen(id)
  if not before then return nil end
  local hash, ended = remembered(before)
  if ended == 'malformed' then return nil, '2' end
  return {digest = hash, state = 'dropped', ended = ended}
end

-- Removes a dead letter whose id is needed.
local function remove_malformed(id)
  local o = call('HMGET', P .. 'job:' .. id, 'group', 'batch', 'stored')
  unstore('default', o[3])
  call('ZREM', P .. 'dead', id)
  leave_group(o[1])
  call('UNLINK', P .. 'job:' .. id)
  if o[2] then member_gone(o[2]) end
end

-- The limit of jobs that are admitted ahead of the workers. A record needs ten times the memory of an entry, so a flood stays in
-- its stream. The limit of the urgent stream is twice as high.
local AHEAD_MAX, AHEAD_BYTES_MAX = tonumber(ARGV[12]), tonumber(ARGV[13])
local CAPPED_STEP = '100'  -- approximate number of flows at their caps that are counted

-- Returns the number of jobs that wait for a cap. As many further jobs may be admitted, so that a paused tenant does not keep
-- out all others.
local function ready_at_caps()
  local ready, flows = 0, call('HSCAN', P .. 'capped', '0', 'COUNT', CAPPED_STEP)[2]
  for i = 1, #flows, 2 do ready = ready + (tonumber(redis.pcall('ZCARD', P .. 'ready:' .. flows[i])) or 0) end
  return math.min(ready, AHEAD_MAX)
end

-- Returns the number of jobs that may still be admitted from a stream.
local function room_ahead(door)
  local before = call('HMGET', P .. 'virtual', 'aheadJobs', 'aheadBytes')
  if number_in(before[2], 0) + ahead.bytes >= door.share * AHEAD_BYTES_MAX then return 0 end
  -- Jobs of the previous version were not counted at their admission.
  local room = door.share * AHEAD_MAX - math.max(0, number_in(before[1], 0) + ahead.jobs)
  return room > 0 and room or room + ready_at_caps()
end

-- Workers whose machines cannot do a job: the record's field `unable` has their names, one a line, with a line feed at both ends.

--
-- A worker lives until `reap` removes it, after ten leases without a beat. Its last beat may be older than a lease: Redis was away, or its
-- clock leapt, and the caller is the first that is back.

-- The most workers that are looked at: beyond them one is believed to be able.
local LIVE_MAX = 1000
local live_workers

-- Returns whether a worker that lives is not among these.
local function able_worker(unable)
  live_workers = live_workers or call('ZREVRANGEBYSCORE', P .. 'workers', '+inf', '-inf', 'LIMIT', '0', int(LIVE_MAX))
  for _, name in ipairs(live_workers) do
    if not unable:find('\n' .. name .. '\n', 1, true) then return true end
  end
  return #live_workers >= LIVE_MAX
end
