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
  local o = call('HMGET', P .. 'job:' .. id, 'group', 'batch', 'stored', 'tenant')
  unstore(o[4], o[3])
  call('ZREM', P .. 'dead', id)
  leave_group(o[1])
  call('UNLINK', P .. 'job:' .. id)
  if o[2] then member_gone(o[2]) end
end

-- The limit of jobs that are admitted ahead of the workers. A record needs ten times the memory of an entry, so a flood stays in
-- its stream. The limit of the urgent stream is twice as high.
local AHEAD_MAX, AHEAD_BYTES_MAX = tonumber(ARGV[12]), tonumber(ARGV[13])
local CAPPED_STEP, CAPPED_BYTES_STEP = 500, 100  -- approximate number of flows at their caps whose jobs, or bytes, are counted

local BYTES_SAMPLE = 10  -- jobs of a zset whose bytes are read

-- Jobs that no worker could do now, however many are free: those of tenants that are paused or at their caps, and those behind another
-- job of their photo; and those that were passed on, which wait for some of the workers. They make room for as many others, so that one tenant keeps out nobody else; up to HELD_SHARE times the limits,
-- because Redis' memory is all tenants'. A large edit takes the same memory in a record as in its stream.
local HELD_SHARE = 10

-- Returns their number; or the bytes of their large edits, as some jobs of each zset tell, once a call. These are spread over the whole of it,
-- at other places in each call, because a producer may send small edits first. Of very many flows at their caps, some stand for all, others
-- in each call: one of them may have nearly all of the jobs.
local function held_back(in_bytes)
  local kept = in_bytes and 'held' or 'heldJobs'
  if ahead[kept] then return ahead[kept] end
  local sum, zsets, seen = 0, {P .. 'parked'}, {}
  local all, most = call('HLEN', P .. 'capped'), in_bytes and CAPPED_BYTES_STEP or CAPPED_STEP
  -- A scan that begins anywhere may end before it has seen enough.
  for _, from in ipairs({int(US % 1048576), '0'}) do
    local scan = call('HSCAN', P .. 'capped', from, 'COUNT', int(most))
    for i = 1, #scan[2], 2 do
      local flow = scan[2][i]
      if not seen[flow] then zsets[#zsets + 1] = P .. 'ready:' .. flow end
      seen[flow] = true
    end
    if scan[1] ~= '0' or #zsets > all then break end
  end
  local share = #zsets > 1 and math.max(1, all / (#zsets - 1)) or 1
  for number, zset in ipairs(zsets) do
    local jobs, each = tonumber(redis.pcall('ZCARD', zset)) or 0, 1
    if in_bytes and jobs > 0 then
      local sample, bytes = math.min(jobs, BYTES_SAMPLE), 0
      for i = 0, sample - 1 do
        local rank = int(math.floor((i + US % 997 / 997) * jobs / sample))
        local id = call('ZRANGE', zset, rank, rank)[1] or ''
        bytes = bytes + (tonumber(redis.pcall('HGET', P .. 'job:' .. id, 'bytes') or nil) or 0)
      end
      each = bytes / sample
    end
    sum = sum + jobs * each * (number > 1 and share or 1)
  end
  local apart = in_bytes and 'apartBytes' or 'apartJobs'
  sum = math.floor(sum + number_in(call('HGET', P .. 'virtual', apart), 0) + ahead[apart])
  sum = math.min(sum, HELD_SHARE * (in_bytes and AHEAD_BYTES_MAX or AHEAD_MAX))
  -- A few flows are counted anew after each entry stream.
  if in_bytes or share > 1 then ahead[kept] = sum end
  return sum
end

-- Returns the number of jobs that may still be admitted from a stream.
local function room_ahead(door)
  local before = call('HMGET', P .. 'virtual', 'aheadJobs', 'aheadBytes')
  local room = door.share * AHEAD_BYTES_MAX - number_in(before[2], 0) - ahead.aheadBytes
  if room <= 0 and room + held_back(true) <= 0 then return 0 end
  -- Jobs of the previous version were not counted at their admission.
  room = door.share * AHEAD_MAX - math.max(0, number_in(before[1], 0) + ahead.aheadJobs)
  return room > 0 and room or room + held_back()
end
