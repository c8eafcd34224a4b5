-- Harm that the permission to XADD allows and no ACL forbids: XADD MAXLEN and MINID drop unread entries, and an explicit id
-- far in the future makes every later XADD fail. The functions below detect and report both.
--
-- Hash ingress of an ingress stream: `gone`, the known number of entries that have left the stream; `lost` and `lostAt` of
-- entries that left it unread; `renewals`, `renewedAt`. For a batch stream, `admitted` of its batch is the known number.
local FUTURE_MAX = 3600 * 1000  -- the maximum lead of an id over clock and queue, in ms: clocks differ, but not by an hour

-- Returns the number of a stream's entries, of its nodes, and of the entries that have left it, and whether its last id is
-- beyond any clock; nil if there is no stream. FULL COUNT 1 reads one entry, XINFO without it reads two, and a producer's entry
-- may be large.
local function stream_state(key)
  if call('EXISTS', key) == 0 then return nil end
  local info, facts = call('XINFO', 'STREAM', key, 'FULL', 'COUNT', '1'), {}
  for i = 1, #info, 2 do facts[info[i]] = info[i + 1] end
  return {length = facts.length, nodes = facts['radix-tree-keys'], gone = facts['entries-added'] - facts.length,
    ahead = tonumber(facts['last-generated-id']:match('^%d+')) > queue_time() / 1000 + FUTURE_MAX}
end

local function harmed(stream, what, number, message)
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

-- Makes an empty stream whose last id is beyond any clock usable again: ids continue from the present time.
-- The count of entries that it ever had does not change.
local function renew(stream, state)
  if not state.ahead or state.length > 0 then return false end
  call('XSETID', P .. stream, int(MS + 1) .. '-0')
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

-- Names of jobs and batches whose records were dropped. They are remembered in two hashes that reap rotates:
-- seen:new and seen:old. The ids of a batch's members, and of events, contain such a name.
-- Returns the digest of the dropped record of a name, perhaps with a mark (`remove_record`); false if the name is free.
local function seen(name) return call('HGET', P .. 'seen:new', name) or call('HGET', P .. 'seen:old', name) end

-- Returns the digest in a remembered value, the end of the job unless it succeeded, and its generation then.
local function remembered(value)
  local ended, generation, hash = value:match('^(%l+):(%d*):(.*)$')
  return hash or value, ended, generation
end

-- `seenSince`, the time of the last rotation, is a `lived` (Shared/clock.lua).
-- Returns the time until which a name is remembered at the latest, ms since 1970; nil if no worker has recorded it yet. A name in
-- seen:new is kept for two rotations, a name in seen:old for one.
local function remembered_until(name)
  local turn = call('HMGET', P .. 'virtual', 'seenSince', 'seenKeep')
  if not turn[1] or not turn[2] then return nil end
  return turn[1] + turn[2] * (call('HEXISTS', P .. 'seen:new', name) == 1 and 2 or 1) + MS - lived_time()
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
-- arrive now (`after`: see Shared/admission.lua).
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
  local next, began = tonumber(turn[1] or '0'), tonumber(turn[2] or '0')
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
  local began = tonumber(call('HGET', P .. 'virtual', 'laneTurn') or '0')
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
    if call('XLEN', P .. 'lane:' .. batch) > 0 then
      feed_next(batch)
      woken = woken + 1
    end
  end
  next = #names < most and 0 or next + #names - woken
  call('HSET', P .. 'virtual', 'laneNext', int(next), 'laneTurn', int(began))
  return next > 0
end
