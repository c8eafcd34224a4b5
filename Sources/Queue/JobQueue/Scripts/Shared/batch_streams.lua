-- The streams of batches, whose entries become members: their turns, how a batch is opened, sealed and opened again, and what is done with
-- streams that lost entries or have no batch. Counts of members are in batches.lua.

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

-- Reopens the batch of a member that ended as `how`: dead or done. The batch will be completed once more, with another event. Returns
-- false if the batch was dropped, or does not count this member.
local function reopen_batch(id, batch, cost, how)
  local b = P .. 'batch:' .. batch
  if call('EXISTS', b) == 0 or call('SETBIT', b .. ':ended', id:match(':(%d+)$'), '0') == 0 then return false end
  guarded(call, 'HINCRBY', b, how, '-1')  -- a damaged count is the doctor's
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

-- Batch streams without a batch: a producer added entries, but no batch of this name was opened.
--
-- Hash unopened has for each that `tend` has seen `<entries that it ever had> <lived>`: since when it is unchanged. Redis' own idle
-- time of a key (OBJECT IDLETIME) is that of a clock that may step; a step back makes it 194 days.

-- Removes a batch stream that has no batch: its entries cannot become jobs any more, and a later batch of that name would
-- run them with its own edit. Returns the number of entries that were removed.
local function end_stream(batch)
  local entries = call('XLEN', P .. 'lane:' .. batch)
  call('UNLINK', P .. 'lane:' .. batch)
  call('HDEL', P .. 'unopened', batch)
  if entries > 0 then count('membersDropped', entries) end
  return entries
end

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

-- The most bytes of a stream's name in an event: a producer may give a stream a name of any length, and an event that is longer than a
-- reply may be ends the reading of all later ones. No id is longer.
local SHOWN_NAME_MAX = 200

-- Removes such a batch stream and reports it.
local function end_unopened(batch)
  local entries = end_stream(batch)
  if entries == 0 then return end
  local name = 'lane:' .. batch:sub(1, SHOWN_NAME_MAX)
  if #batch > SHOWN_NAME_MAX then name = name .. '... (' .. int(#batch) .. ' bytes)' end
  harmed(name, 'unopened', entries, int(entries) .. ' entries of batch stream ' .. P .. name
    .. ' were removed: nobody opened a batch of this name. Open the batch first, then send them again.')
end
