-- Turns the next entries of batches' streams into jobs, as far as their windows allow.
--
-- ARGV     P, events max, done max, maximum entries, window, asset bytes max, edit bytes max, id length max,
--          batch jobs max, cost max, maximum batch streams, maximum bytes, malformed records max, maximum batch stream checks,
--          pace of batch stream checks in µs per batch stream
-- Returns  {jobs created, whether another call now would find more batch streams to check or to feed (1 or 0), a sentence for
--          each batch stream that cannot be fed*}
-- Crash    An entry is either in the stream or a job, never both and never neither: one script does both steps.
local limit, window, streams_max, bytes_max, malformed_max, checks, pace = tonumber(ARGV[4]), tonumber(ARGV[5]),
  tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14]), tonumber(ARGV[15])
-- The free share of a window at which a full batch stream is fed again; with a cap of the batch, a single free place suffices.
local REFILL_SHARE = 1 / 8
local made = 0

local function schedule_feeding(batch, score) call('ZADD', P .. 'lanes', 'XX', score, batch) end

-- Records the number of open members at which a batch stream with a full window is fed again.
local function wait_for_room(batch, most, cap)
  local step = cap and 1 or math.max(1, math.floor(window * REFILL_SHARE))
  call('HSET', P .. 'batch:' .. batch, 'refill', int(most - step))
  schedule_feeding(batch, FULL)
end

-- Reports a member whose id another job has, such as one that was restored from a file after an earlier batch of this name was
-- dropped. That job stays as it is, and the batch counts the member as cancelled.
local function refuse_member(j, entry)
  count('conflicts')
  emit('conflict', j, 'conflict/' .. entry, '{"asset":' .. quoted(j.asset) .. ',"entry":"' .. entry .. '","job":"' .. j.id
    .. '","message":' .. quoted('job ' .. j.id .. ' exists and is not of this batch, which counts its member of that name as '
    .. 'cancelled. Send the asset again in another batch.') .. '}')
  member_ended({id = j.id, batch = j.batch}, 'cancelled', 0)
end

-- Makes a member of an entry. Returns whether it counts as open.
local function make_member(batch, b, number, entry, sequence)
  local key, id = P .. 'batch:' .. batch, batch .. ':' .. int(number)
  if call('GETBIT', key .. ':ended', int(number)) == 1 then
    -- It was cancelled by its name before it became a job.
    if b[10] and b[10] ~= '0' then call('HINCRBY', key, 'holes', '-1') end
    return false
  end
  local f, unknown = read_fields(entry[2], LANE_FIELDS)
  local code, message = stream_fault(f, unknown)
  local j = {id = id, asset = f.asset or '', tenant = b[1] or 'default', priority = URGENCY[b[2]] and b[2] or 'bulk', batch = batch,
    sequence = sequence, generation = '1', cost = not code and f.cost or b[9] or nil, own = f.edit,
    fields = not code and f.fields or nil,
    arrival = not code and arrived_in_stream(entry[1], f.arrived, tonumber(b[13] or '0'))}
  if call('EXISTS', P .. 'job:' .. id) == 1 then
    local there = call('HMGET', P .. 'job:' .. id, 'batch', 'enqueued')
    -- A call that failed amid the entry has made the record: the doctor finds what it lacks.
    if there[1] == batch and tonumber(there[2] or '0') >= tonumber(b[11] or '0') then return true end
    if code then j.asset = '' end
    refuse_member(j, entry[1])
    return false
  end
  if code then
    make_malformed_dead(j, code, message, malformed_max)
    return false
  end
  if f.edit then
    call('SET', P .. 'edit:' .. id, f.edit)
    j.bytes = #f.edit
  end
  create_job(j)
  return true
end

-- Uncounts the bytes of entries that have left a batch's stream; of all that `append` added, if it is empty. `admitted`: the number of
-- members before them.
local function leave_stream(key, b, admitted, entries, taken, is_empty)
  local bytes, whole = tonumber(b[12]), math.min(tonumber(b[8] or nil) or MEMBERS_WHOLE, MEMBERS_WHOLE)
  if not is_empty then
    local left = 0
    for i = 1, taken do
      local f = read_fields(entries[i][2], LANE_FIELDS)
      left = left + (admitted + i <= whole and RECORD_BYTES or MEMBER_BYTES) + #(f.asset or '') + #(f.edit or '') + #(f.fields or '')
    end
    bytes = math.min(bytes, left)
  end
  if call('HINCRBY', key, 'laneBytes', int(-bytes)) == 0 then call('HDEL', key, 'laneBytes') end
  store(b[1] or 'default', -bytes)
end

-- Returns the number of entries that became jobs.
local function feed(batch, most)
  local key, stream = P .. 'batch:' .. batch, P .. 'lane:' .. batch
  local b = call('HMGET', key, 'tenant', 'priority', 'admitted', 'done', 'dead', 'cancelled', 'sealed', 'cap',
    'cost', 'holes', 'opened', 'laneBytes', 'after', 'apart')
  local admitted, sealed, cap = tonumber(b[3] or nil), tonumber(b[7] or nil), tonumber(b[8] or nil)
  if not admitted then  -- Redis lost its record
    call('ZREM', P .. 'lanes', batch)
    return 0
  end
  -- Members that were cancelled in the stream are counted as ended and are not admitted yet.
  local open = admitted - (b[4] or 0) - (b[5] or 0) - (b[6] or 0) + (b[10] or 0)
  if not cap then open = open - math.min(number_in(b[14], 0), APART_SHARE * window) end
  local state = stream_state(stream)
  if state then
    admitted = count_trimmed(batch, admitted, tonumber(b[10] or '0'), b[7], state)
    renew('lane:' .. batch, state)
  end
  local left, room_max = (sealed or BATCH_MAX) - admitted, math.min(window, cap or window)
  if left <= 0 then
    call('ZREM', P .. 'lanes', batch)
    return 0
  end
  if not state or state.length == 0 then
    schedule_feeding(batch, IDLE)
    return 0
  end
  if open >= room_max then
    wait_for_room(batch, room_max, cap)
    return 0
  end
  local count_max = affordable(stream, state, math.min(most, room_max - open, left), bytes_max)
  local entries = call('XRANGE', stream, '-', '+', 'COUNT', int(count_max))
  local sequence, opened, taken, failed = call('INCRBY', P .. 'sequence', #entries) - #entries, 0, 0, nil
  for i, entry in ipairs(entries) do
    local is_open = guarded(make_member, batch, b, admitted + i - 1, entry, int(sequence + i))
    if type(is_open) == 'string' then
      failed = is_open
      break
    end
    if is_open then opened = opened + 1 end
    taken = i
  end
  -- The entries before one that cannot be taken have left the stream, or they would become jobs a second time.
  if taken > 0 then
    call('HSET', key, 'admitted', int(admitted + taken), 'fed', NOW)
    state.length = state.length - taken
    trim(stream, state.length)
    if b[12] then leave_stream(key, b, admitted, entries, taken, state.length == 0) end
    renew('lane:' .. batch, state)
  end
  if failed then error({err = failed}) end
  if left == #entries then call('ZREM', P .. 'lanes', batch)
  elseif state.length == 0 then schedule_feeding(batch, IDLE)
  elseif open + opened >= room_max then wait_for_room(batch, room_max, cap) end
  return #entries
end

local again = check_idle(checks, pace)
local next = call('ZRANGEBYSCORE', P .. 'lanes', '-inf', '(' .. IDLE, 'WITHSCORES', 'LIMIT', '0', int(checks))
if #next == 2 * checks then again = true end
local fed, problems, turn = 0, {}, int(next_time())
for i = 1, #next, 2 do
  local batch = next[i]
  if made >= limit or fed >= streams_max then
    again = true
    break
  end
  if tonumber(next[i + 1]) >= 0 and redis.pcall('XLEN', P .. 'lane:' .. batch) == 0
    and redis.pcall('HGET', P .. 'batch:' .. batch, 'sealed') == false then
    schedule_feeding(batch, IDLE)
  else
    -- The stream was fed last, so its next turn comes after the others'.
    schedule_feeding(batch, turn)
    local fed_count = guarded(feed, batch, limit - made)
    if tonumber(fed_count) then
      made = made + fed_count
    else
      schedule_feeding(batch, FULL)
      problems[#problems + 1] = 'lane ' .. P .. 'lane:' .. batch .. ' cannot be fed: ' .. fed_count
    end
    fed = fed + 1
  end
end
keep_time()
settle()
return {made, again and 1 or 0, unpack(problems)}
