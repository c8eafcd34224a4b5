-- Harm that the permission to XADD allows and no ACL forbids: XADD MAXLEN and MINID drop unread entries, and an explicit id
-- far in the future makes every later XADD fail. The functions below detect and report both.
--
-- Hash ingress of an ingress stream: `gone`, the known number of entries that have left the stream; `lost` and `lostAt` of
-- entries that left it unread; `renewals`, `renewedAt`. For a batch stream, `admitted` of its batch is the known number.
local FUTURE_MAX = 3600 * 1000  -- the maximum lead of an id over clock and queue, in ms: clocks differ, but not by an hour
local HIGHEST = '18446744073709551615-18446744073709551615'  -- no id follows it: Redis refuses every later entry

-- Returns whether an id is beyond any clock.
local function is_ahead(id) return tonumber(id:match('^%d+')) > queue_time() / 1000 + FUTURE_MAX end

-- Returns the number of a stream's entries, of its nodes, and of the entries that have left it, and its last id;
-- nil if there is no stream. FULL COUNT 1 reads one entry, XINFO without it reads two, and a producer's entry
-- may be large.
local function stream_state(key)
  if call('EXISTS', key) == 0 then return nil end
  local info, facts = call('XINFO', 'STREAM', key, 'FULL', 'COUNT', '1'), {}
  for i = 1, #info, 2 do facts[info[i]] = info[i + 1] end
  return {length = facts.length, nodes = facts['radix-tree-keys'], gone = facts['entries-added'] - facts.length,
    last = facts['last-generated-id']}
end

local function harmed(stream, what, number, message)
  if not is_utf8(stream) then stream, message = stream:gsub('[\128-\255]', '?'), message:gsub('[\128-\255]', '?') end
  count(what, number)
  -- A batch stream without a batch may have any name.
  event('stream.harmed', 'stream/' .. stream:gsub('[^%w%._:-]', '_') .. '/' .. what .. '/' .. int(US), nil,
    '{"stream":' .. quoted(stream) .. ',"kind":"' .. what .. '","entries":' .. int(number) .. ',"message":' .. quoted(message) .. '}')
end

local function report_trimmed(stream, lost)
  harmed(stream, 'trimmed', lost, int(lost) .. ' entries of stream ' .. P .. stream .. ' were dropped before a '
    .. 'worker read them: a producer sent XTRIM, or XADD with MAXLEN or MINID. Send the jobs again for which '
    .. 'no event reports an end. With the same ids this is safe.')
end

-- Makes a stream whose last id is beyond any clock usable again: ids continue from the present time. A stream that is not empty has
-- none but the highest id that there is as its last one, and then ids continue from that of the last entry that is left.
-- The count of entries that it ever had does not change.
--
-- Redis allows no last id below one that XDEL has removed (from 7.2 on): a worker of an earlier release used XDEL, and so does
-- `admit`. The first XSETID changes nothing but what Redis remembers of that; 0-0 would be no change.
local function renew(stream, state)
  if not is_ahead(state.last) or state.length > 0 and state.last ~= HIGHEST then return false end
  local key, id = P .. stream, int(math.floor(queue_time() / 1000) + 1) .. '-0'
  local left = state.length > 0 and call('XREVRANGE', key, '+', '-', 'COUNT', '1')[1]
  if left and tonumber(left[1]:match('^%d+')) >= tonumber(id:match('^%d+')) then id = left[1] end
  if id == HIGHEST then return false end
  call('XSETID', key, state.last, 'MAXDELETEDID', '0-1')
  call('XSETID', key, id)
  harmed(stream, 'renewed', 1, 'an entry of stream ' .. P .. stream .. ' had an id in the far future, after which '
    .. 'Redis accepts no more entries: a producer sent XADD with an id instead of *. The entries that had arrived '
    .. 'were admitted, and the stream accepts entries again.')
  return true
end

-- The key of the facts about an ingress stream: hash ingress, or ingress:interactive.
local function ingress_facts(stream) return P .. 'ingress' .. stream:sub(#'in' + 1) end

-- Returns the state of an ingress stream, with the known number of entries that have left it.
local function ingress_state(stream)
  local state = stream_state(P .. stream)
  if not state then return nil end
  local known = call('HGET', ingress_facts(stream), 'gone')
  -- Unknown: the stream is new, or a version with one stream and without this record has emptied it so far.
  state.known = known and tonumber(known)
    or stream == 'in' and call('EXISTS', P .. 'sequence') == 1 and state.gone or 0
  return state
end

-- Records that entries were admitted, reports entries that vanished otherwise, and makes the stream usable again.
-- A stream that a person deleted and created anew counts from its own beginning.
local function keep_ingress(stream, state, admitted)
  if not state then return end
  local facts, lost = ingress_facts(stream), state.gone - state.known
  if lost > 0 then
    call('HINCRBY', facts, 'lost', int(lost))
    call('HSET', facts, 'lostAt', NOW)
    report_trimmed(stream, lost)
  end
  if lost ~= 0 or admitted > 0 then call('HSET', facts, 'gone', int(state.gone + admitted)) end
  state.length = state.length - admitted
  if renew(stream, state) then
    call('HINCRBY', facts, 'renewals', '1')
    call('HSET', facts, 'renewedAt', NOW)
  end
end

local LOST_AT_ONCE_MAX = 10000

-- Counts members of a batch as cancelled whose entries left its stream unread, so that the batch can be completed. The number per
-- call is bounded, and the next call continues. Returns the number of entries that have left the stream according to the new count.
local function count_trimmed(batch, admitted, holes, sealed, state)
  local lost = math.min(state.gone - admitted, LOST_AT_ONCE_MAX)
  if sealed then lost = math.min(lost, tonumber(sealed) - admitted) end
  if lost <= 0 then return admitted end
  local key = P .. 'batch:' .. batch
  for at = admitted, admitted + lost - 1 do
    if holes > 0 and call('GETBIT', key .. ':ended', int(at)) == 1 then
      holes = holes - 1  -- was cancelled by its name before it became a job
    else
      member_ended({id = batch .. ':' .. int(at), batch = batch}, 'cancelled', 0)
    end
  end
  call('HSET', key, 'admitted', int(admitted + lost), 'holes', int(holes))
  report_trimmed('lane:' .. batch, lost)
  return admitted + lost
end

-- Removes a batch stream that has no batch: its entries cannot become jobs any more, and a later batch of that name would
-- run them with its own edit. Returns the number of entries that were removed.
local function end_stream(batch)
  local entries = call('XLEN', P .. 'lane:' .. batch)
  call('UNLINK', P .. 'lane:' .. batch)
  call('HDEL', P .. 'unopened', batch)
  if entries > 0 then count('membersDropped', entries) end
  return entries
end

-- Members of a batch that are still entries of its stream.
-- Returns the batch and the number of a member's id; nil if it is not one. Numbers have at most 15 digits, which Lua holds.
local function member_of(id)
  local batch, number = id:match('^(.*):(%d+)$')
  if batch and #number <= 15 then return batch, tonumber(number) end
end

-- Returns the number of the first entry of a batch's stream. Entries before it may have left the stream unread: they never become
-- jobs, and the next feeding counts them as cancelled.
local function stream_head(batch, admitted)
  local state = stream_state(P .. 'lane:' .. batch)
  return state and math.max(admitted, state.gone) or admitted
end

local NAME_MAX = 1024  -- the maximum length of an asset, in bytes
local LOOKUP_MAX = 100  -- the maximum number of entries that are read to find one

-- Returns the asset of the entry with a number; an empty text if it has none, or if it is not found in a bounded time. Producers
-- number entries 1-1, 1-2, …: then its id is known. In a stream of other ids, only the first ones are searched.
local function asset_in_stream(batch, number, head)
  local stream, found = P .. 'lane:' .. batch, nil
  local first = call('XRANGE', stream, '-', '+', 'COUNT', '1')[1]
  local last = call('XREVRANGE', stream, '+', '-', 'COUNT', '1')[1]
  local from, to = first and first[1]:match('^1%-(%d+)$'), last and last[1]:match('^1%-(%d+)$')
  if from and to and #to <= 15 and to - from + 1 == call('XLEN', stream) then
    local id = '1-' .. int(from + number - head)
    found = call('XRANGE', stream, id, id)[1]
  elseif number - head < LOOKUP_MAX then
    found = call('XRANGE', stream, '-', '+', 'COUNT', int(number - head + 1))[number - head + 1]
  end
  for i = 1, found and #found[2] or 0, 2 do
    local value = found[2][i + 1]
    if found[2][i] == 'asset' and #value <= NAME_MAX and is_utf8(value) and not value:find('%c') then return value end
  end
  return ''
end

-- The order and time of the checks of batch streams. Zset `lanes` has the batches that may still get jobs; the score
-- states what a batch waits for:
--   below IDLE   The stream is fed next: as far as is known, it has entries, and its window is not full. The score is the time of
--                its last feeding, in the queue's time. 0 comes first, and a batch below 0 is fed even if it has no entries
--   IDLE         The stream had no entries. A plain XADD notifies no worker, so these batch streams are checked in turn
--   FULL         The window is full: the end of a member makes the stream eligible again (`complete_batch`)
local IDLE, FULL = '9000000000000000', 'inf'

-- Makes a batch stream the next to be fed, if it is fed at all. An idle one had no entries when it was checked last, so its entries
-- arrive now (`after`: see `arrival_from`).
local function feed_next(batch)
  if is_behind() and tonumber(call('ZSCORE', P .. 'lanes', batch)) == tonumber(IDLE) then
    call('HSET', P .. 'batch:' .. batch, 'after', int(queue_time()))
  end
  call('ZADD', P .. 'lanes', 'XX', '0', batch)
end

-- Returns the position of the current round of checks, or nil if none is due. A round begins `pace` µs per idle batch stream after
-- the previous one, whichever worker calls, so checks use the same share of Redis' time whatever the number of batch streams and
-- of workers.
local function check_turn(pace)
  local idle = call('ZCOUNT', P .. 'lanes', IDLE, IDLE)
  if idle == 0 then return nil end
  local turn = call('HMGET', P .. 'virtual', 'laneNext', 'laneTurn')
  local next, began = number_in(turn[1], 0), number_in(turn[2], 0)
  if next > 0 then return next, began end
  -- A round that began in the future began before a step of the clock.
  if began <= US and US - began < idle * pace then return nil end
  return 0, US
end

local CHECK_MIN = 20  -- the minimum time between two rounds, in ms

-- Returns the ms until the next round of checks begins; nil if no batch stream is idle.
local function check_due(pace)
  local idle = call('ZCOUNT', P .. 'lanes', IDLE, IDLE)
  if idle == 0 then return nil end
  local began = number_in(call('HGET', P .. 'virtual', 'laneTurn'), 0)
  return math.max(CHECK_MIN, math.ceil((math.min(began, US) + idle * pace - US) / 1000))
end

-- Returns whether a call of feed would have work.
local function feed_due(pace)
  if call('ZCARD', P .. 'lanes') == 0 then return false end
  return call('ZCOUNT', P .. 'lanes', '-inf', '(' .. IDLE) > 0 or check_turn(pace) ~= nil
end

-- Checks the next idle batch streams of the round and makes those with entries eligible for feeding. Returns whether the round
-- continues.
local function check_idle(most, pace)
  local next, began = check_turn(pace)
  if not next then return false end
  local names, woken = call('ZRANGEBYSCORE', P .. 'lanes', IDLE, IDLE, 'LIMIT', int(next), int(most)), 0
  for _, batch in ipairs(names) do
    if redis.pcall('XLEN', P .. 'lane:' .. batch) ~= 0 then
      guarded(feed_next, batch)
      woken = woken + 1
    end
  end
  next = #names < most and 0 or next + #names - woken
  call('HSET', P .. 'virtual', 'laneNext', int(next), 'laneTurn', int(began))
  return next > 0
end

-- Opening and sealing a batch: admit.lua reports faults by events, submit_batch.lua by its reply.

-- Opens a batch of fields batch, edit, and perhaps tenant, priority, cost, cap, submitted, folder. Returns CREATED; SAME: it was opened
-- before with this edit; OTHER: with another edit; or USED: a batch of this name has ended, and the name is remembered.
local function open_batch(f)
  local key = P .. 'batch:' .. f.batch
  local edit = call('GET', key .. ':edit')
  if edit then return edit == f.edit and 'SAME' or 'OTHER' end
  -- Redis lost the edit, and the record counts members of it.
  if call('HEXISTS', key, 'generation') == 1 then return 'OTHER' end
  if seen('batch:' .. f.batch) then return 'USED' end
  call('HSET', key, 'tenant', f.tenant or 'default', 'priority', f.priority or 'bulk', 'generation', '1',
    'finished', '0', 'admitted', '0', 'opened', NOW, 'stored', int(BATCH_BYTES + #f.edit))
  store(f.tenant or 'default', BATCH_BYTES + #f.edit)
  if f.cost then call('HSET', key, 'cost', f.cost) end
  if f.cap then call('HSET', key, 'cap', f.cap) end
  if f.submitted then call('HSET', key, 'submitted', '1') end
  if f.folder then call('HSET', key, 'folder', f.folder) end
  call('SET', key .. ':edit', f.edit)
  call('ZADD', P .. 'batches', NOW, f.batch)
  call('ZADD', P .. 'lanes', '0', f.batch)
  call('HDEL', P .. 'unopened', f.batch)
  return 'CREATED'
end

-- Seals a batch. Returns SEALED; SAME: it is sealed already; NONE: no such batch was opened; USED: as above; AT, number of jobs:
-- it is sealed at another number; or GIVEN, number of jobs: it has more jobs already.
local function seal_batch(batch, seal, total)
  local key = P .. 'batch:' .. batch
  local b = call('HMGET', key, 'generation', 'sealed', 'admitted')
  if call('EXISTS', key .. ':edit') == 0 then return not b[1] and seen('batch:' .. batch) and 'USED' or 'NONE' end
  -- For a batch without a generation, Redis lost the record, but not the edit.
  if not b[1] or b[2] == seal then return 'SAME' end
  if b[2] then return 'AT', tonumber(b[2]) end
  -- Jobs beyond the seal would be counted, but completion would not wait for them.
  local given = (b[3] or 0) + call('XLEN', P .. 'lane:' .. batch)
  if given > tonumber(seal) then return 'GIVEN', given end
  call('HSET', key, 'sealed', seal)
  feed_next(batch)
  if total then call('HSET', key, 'costTotal', total) end
  complete_batch(batch)
  return 'SEALED'
end

-- Batch streams without a batch: a producer added entries, but no batch of this name was opened.
--
-- Hash unopened has for each that `tend` has seen `<entries that it ever had> <lived>`: since when it is unchanged. Redis' own idle
-- time of a key (OBJECT IDLETIME) is that of a clock that may step; a step back makes it 194 days.

-- Returns the time for which a batch stream without a batch is known to be unchanged, in ms, and the entries that it ever had; nil if
-- it has a batch, or if an entry of the ingress stream may open one.
local function unopened_for(batch)
  local stream = P .. 'lane:' .. batch
  if call('EXISTS', stream) == 0 or call('EXISTS', P .. 'batch:' .. batch) == 1 or call('XLEN', P .. 'in') > 0 then
    return nil
  end
  local state = stream_state(stream)
  local had = int(state.gone + state.length)
  local known, since = (call('HGET', P .. 'unopened', batch) or ''):match('^(%d+) (%d+)$')
  return known == had and lived_time() - since or 0, had
end

-- Removes such a batch stream and reports it.
local function end_unopened(batch)
  local entries = end_stream(batch)
  if entries == 0 then return end
  harmed('lane:' .. batch, 'unopened', entries, int(entries) .. ' entries of batch stream ' .. P .. 'lane:' .. batch
    .. ' were removed: nobody opened a batch of this name. Open the batch first, then send them again.')
end

-- Reopens the batch of a dead member. The batch will be completed once more, with another event. Returns false if the batch was
-- dropped, or does not count this member.
local function reopen_batch(id, batch, cost)
  local b = P .. 'batch:' .. batch
  if call('EXISTS', b) == 0 or call('SETBIT', b .. ':ended', id:match(':(%d+)$'), '0') == 0 then return false end
  guarded(call, 'HINCRBY', b, 'dead', '-1')  -- a damaged count is the doctor's
  if cost then guarded(call, 'HINCRBY', b, 'costEnded', int(-cost)) end
  local at = call('HMGET', b, 'generation', 'finished', 'submitted', 'tenant')
  if at[1] == at[2] then
    call('HINCRBY', b, 'generation', '1')
    call('HDEL', b, 'ended', 'cancel')
    call('ZREM', P .. 'batches:ended', batch)
    if at[3] then call('HSET', P .. 'backlog:' .. at[4], 'batch:' .. batch, '1') end
  end
  return true
end

-- Reading and trimming entries of a stream.

-- Returns how many of the first entries of a stream may be read at once: as many as fit into `bytes_max`, and at least one. A
-- producer may send fields of 100 MB, and Lua holds everything that it reads.
--
-- Redis reports no entry's size, but the size of nodes, each of which has one or more entries: MEMORY USAGE uses the mean of
-- the first nodes, as many as requested, for all but the last. So the first n nodes, and with them the first n entries, have at
-- most the bytes computed below. These are the real sizes of the entries to be read, not a sample of others.
local function affordable(key, state, most, bytes_max)
  if not state or state.length == 0 then return 0 end
  local n = math.min(most, state.length)
  while n > 1 do
    local usage = call('MEMORY', 'USAGE', key, 'SAMPLES', int(n))
    local bytes = state.nodes > n and usage / (state.nodes - 1) * n or usage
    if bytes <= bytes_max then break end
    n = math.floor(n / 2)
  end
  return n
end

-- Removes entries that were read from the beginning of a stream, so that `left` remain. XDEL of an id beyond any clock would keep
-- the stream from being renewed by an earlier release.
local function trim(key, left) call('XTRIM', key, 'MAXLEN', '=', int(left)) end

-- The arrival of a job's entry, in µs since 1970. It determines the order of edits of one asset, whatever stream an entry used and
-- whenever it was admitted.
--
-- The id of an entry is a time in ms and a number within that ms, which is counted as µs. An XADD takes more than one µs, so
-- even a burst in one ms ends before the id of the next command begins. An id that is too far ahead of clock and queue was chosen by a
-- producer: such an entry counts as arriving now, after those before it.
--
-- While the server's clock is behind the queue's time, ids do not tell the order of arrival: the edits before may have had ids of a clock
-- that was ahead. But whatever was not in its stream when the stream was empty (`after`, in the queue's time) has arrived since, so it
-- counts as arriving now.
local ARRIVAL_AHEAD_MAX = 5 * 1000 * 1000  -- µs
local function arrival_from(us, after)
  local now = queue_time()
  local least = math.max(after, floor)
  if us > math.max(US + ARRIVAL_AHEAD_MAX, now) or US < least and us <= least then return int(next_time()) end
  reached = math.max(now, us)
  return int(us)
end

local function arrived(entry, after)
  local ms, number = entry:match('^(%d+)%-(%d+)$')
  return arrival_from(ms * 1000 + number, after)
end

-- Returns the same for an entry of a batch stream. Its field `arrived`, which `append` writes, has the arrival. The ids 1-1, 1-2, …
-- contain no time: an entry that a plain XADD added with such an id arrives when it is fed.
local function arrived_in_stream(entry, field, after)
  if field then return arrival_from(tonumber(field), after) end
  if entry:find('^1%-') then return int(next_time()) end
  return arrived(entry, after)
end

-- The ingress streams ("doors"), in the order of admission. A job that a person waits for does not queue behind a million entries
-- of another tenant.
--
-- An entry's name is its id with the suffix of its stream, because two streams may use the same id. The name is the id of the
-- job if the producer chose none.
local DOORS = {
  {stream = 'in:interactive', suffix = '-i', priority = 'interactive', share = 2},
  {stream = 'in', suffix = '', share = 1},
}

-- Returns the stream of an entry's name, and the entry's id in it; nil if the name has another form.
local function door_of(name)
  local id, suffix = name:match('^(%d+%-%d+)(.*)$')
  for _, door in ipairs(DOORS) do
    if id and door.suffix == suffix then return door, id end
  end
end

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
