-- The streams that producers write: their harm, reading and trimming, the arrival of an entry, and the two ingress streams. What only the
-- streams of batches have is in batch_streams.lua.

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
