-- Turns entries of the ingress streams into jobs and batches, or into dead letters if they are malformed.
--
-- ARGV     P, events max, done max, maximum entries of each stream, maximum bytes, asset bytes max, edit bytes max,
--          id length max, batch jobs max, cost max, malformed records max, jobs ahead of the workers max, bytes of
--          their large edits max, pace of batch stream checks in µs per batch stream, longest delay of an attempt in ms
-- Returns  {entries admitted, whether batch streams must be fed (1 or 0), whether entries of the stream `in` were left because
--          enough jobs wait (1), ms after which there may be work that no stream announces, or -1: delayed jobs
--          are due (0: now), or idle batch streams must be checked}
-- Crash    An entry is either in the stream or a job, never both and never neither: one script does both steps.
local limit, bytes_max, malformed_max, delay_max = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[11]), tonumber(ARGV[15])
local sequence
local any_reserved = call('EXISTS', P .. 'reserved') == 1

-- Ends the reservation of an entry that is admitted. Returns whether there was one, and whether the job was cancelled meanwhile.
local function close_reservation(id, name)
  local text = any_reserved and call('HGET', P .. 'reserved', id)
  if not text then return false end
  local entry, tenant, is_cancelled = noted(text)
  if entry ~= name then return false end
  call('HDEL', P .. 'reserved', id)
  guarded(end_entry, id, tenant)  -- a damaged backlog is the doctor's
  return true, is_cancelled
end

local function is_taken(id) return call('EXISTS', P .. 'job:' .. id) == 1 or seen(id) end

-- Makes an entry dead. It is of the tenant that it names: whoever may send to an ingress stream may send jobs of every tenant. One whose
-- tenant is no name is of the tenant of those that name none.
local function dead_letter(entry, f, code, message)
  -- Under the producer's own id if it is free, so that the producer can find the record. A producer may also have named
  -- another job like this entry.
  local id = f.id
  if not id or not is_job_id(id) or is_taken(id) then id = entry end
  if is_taken(id) then id = entry .. '.' .. int(US) end
  local tenant = f.tenant and is_id(f.tenant) and f.tenant or 'default'
  make_malformed_dead({id = id, asset = f.asset or '', tenant = tenant, generation = '1'}, code, message, malformed_max)
end

local function conflict(entry, j, message)
  count('conflicts')
  emit('conflict', j, 'conflict/' .. entry, '{"asset":' .. quoted(j.asset) .. ',"entry":"' .. entry
    .. '","job":"' .. j.id .. '","message":' .. quoted(message) .. '}')
end

-- `dropped`, if any, is the number of entries that were removed from the batch's stream.
local function batch_conflict(entry, batch, tenant, message, dropped)
  count('conflicts')
  local b = call('HMGET', P .. 'batch:' .. batch, 'tenant', 'folder')
  event('batch.conflict', 'batch/' .. batch .. '/conflict/' .. entry, nil, '{"batch":"' .. batch
    .. (dropped and '","dropped":' .. int(dropped) .. ',"entry":"' or '","entry":"')
    .. entry .. '","message":' .. quoted(message) .. '}', nil, nil, b[1] or tenant or 'default', b[2])
end

-- The end of a sentence about a job whose id is sent again: how it ended, and how to run it.
local NOT_AGAIN = {
  dead = 'has failed; this one was not admitted. Replay the job, or use a new id.',
  cancelled = 'was cancelled; this one was not admitted. Use a new id.',
  dropped = 'has failed, and its record was dropped; this one was not admitted. Use a new id.',
}

local function admit_job(entry, f, arrival)
  local id = f.id or entry
  f.traceparent = f.traceparent and traceparent_of(f.traceparent)
  -- An entry's id is free, unless a producer gave it to another job as a name, or the job was cancelled before its entry was
  -- taken from the stream.
  local before, generation, is_letter
  if f.id or is_taken(id) then before, generation, is_letter = earlier(id) end
  if before then
    local sent = {id = id, asset = f.asset, tenant = f.tenant, traceparent = f.traceparent}
    if before.digest == digest(f.asset, f.edit, f.fields) then
      if not before.ended then return count('duplicates') end
      return conflict(entry, sent, 'job ' .. id .. ' ' .. NOT_AGAIN[before.ended])
    end
    return conflict(entry, sent, 'job ' .. id .. ' exists with another asset, '
      .. 'edit or fields; this one was not admitted. Use a new id for a new edit.')
  end
  if is_letter then remove_malformed(id) end
  if f.replace then replace(f.asset, f.replace, arrival, 'replaced by job ' .. id) end
  sequence = sequence + 1
  call('SET', P .. 'edit:' .. id, f.edit)
  create_job({id = id, asset = f.asset, tenant = f.tenant or 'default', priority = f.priority or 'normal',
    sequence = int(sequence), arrival = arrival, generation = generation or '1', cost = f.cost, bytes = #f.edit, named = f.id and '1',
    due = f.notBefore and milliseconds(f.notBefore), deadline = f.deadline and milliseconds(f.deadline),
    submitted = f.submitted, traceparent = f.traceparent, fields = f.fields})
  f.submitted = nil  -- from now on its record states it
end

-- Refuses an entry under the name of a batch that ended and was dropped. Members of a second batch would have the same
-- ids as the first one's: readers would drop their events, and the library would not publish them.
local function refuse_used(entry, f)
  local dropped, ends = end_stream(f.batch), remembered_until('batch:' .. f.batch)
  -- A batch that is sealed twice loses nothing.
  if not f.edit and dropped == 0 then return count('duplicates') end
  batch_conflict(entry, f.batch, f.tenant, 'batch ' .. f.batch .. ' has ended, and its name is remembered'
    .. (ends and ' until ' .. timestamp(ends) .. ' at the latest' or '') .. '; this entry was not admitted, and '
    .. int(dropped) .. ' entries of batch stream ' .. P .. 'lane:' .. f.batch .. ' were removed. Send the batch again under '
    .. 'a new name.', dropped)
end

-- Opens a batch, or seals it, or both.
local function admit_batch(entry, f)
  local opened = f.edit and open_batch(f)
  if opened == 'USED' then return refuse_used(entry, f) end
  if opened == 'OTHER' then
    return batch_conflict(entry, f.batch, f.tenant, 'batch ' .. f.batch .. ' exists with another edit; this entry '
      .. 'was not admitted. Use a new name for a new batch.')
  end
  if opened == 'SAME' then count('duplicates') end
  if not f.seal then return end
  local sealed, jobs = seal_batch(f.batch, f.seal, f.total)
  if sealed == 'SAME' then return count('duplicates') end
  if sealed == 'USED' then return refuse_used(entry, f) end
  if sealed == 'NONE' then
    return dead_letter(entry, {tenant = f.tenant}, 'noSuchBatch', 'batch ' .. f.batch .. ' cannot be sealed: nobody has opened '
      .. 'it. Open it first: XADD … batch ' .. f.batch .. ' edit ….')
  end
  if sealed == 'AT' then
    return batch_conflict(entry, f.batch, f.tenant, 'batch ' .. f.batch .. ' is sealed at ' .. int(jobs)
      .. ' jobs; it cannot be sealed at ' .. f.seal .. '.')
  end
  if sealed == 'GIVEN' then
    return batch_conflict(entry, f.batch, f.tenant, 'batch ' .. f.batch .. ' was given ' .. int(jobs)
      .. ' jobs already; it cannot be sealed at ' .. f.seal .. '. Seal it at what it has.')
  end
end

-- If the call fails, the entry is not at fault: nothing was admitted, or a part of it.
local function admit_fields(name, id, f, unknown, after)
  local code, message = entry_fault(f, unknown)
  if code then return dead_letter(name, f, code, message) end
  local failed = guarded(f.batch and admit_batch or admit_job, name, f, not f.batch and arrived(id, after) or nil)
  if type(failed) == 'string' then
    dead_letter(name, {asset = f.asset, tenant = f.tenant}, 'internalError', 'the entry could not be admitted, because what Redis has '
      .. (f.batch and 'of batch ' .. f.batch or 'of its id or asset') .. ' is damaged (' .. failed
      .. '). minilab doctor says more; send it again under another name.')
  end
end

local function admit_entry(door, entry)
  local name = entry[1] .. door.suffix
  local f, unknown = read_fields(entry[2], ENTRY_FIELDS)
  local id = f.id or name
  local is_submitted, is_cancelled = close_reservation(id, name)
  if is_cancelled then return end
  f.priority, f.submitted = f.priority or door.priority, is_submitted and '1' or nil
  admit_fields(name, entry[1], f, unknown, door.after)
  -- The entry did not become a job.
  if f.submitted then guarded(call, 'HDEL', backlog(f.tenant or 'default'), id) end
end

-- Admits the last entries of a stream before their turn, in their order and at most 200, as far as their ids are beyond any clock: the last one has the
-- highest id that there is, so Redis accepts no other entry while it is in the stream, and enough jobs may wait for hours. Those below it
-- go, too, because a stream that continues from one of them would give ids that jobs have already. Returns their number.
local function admit_topmost(door, key)
  local last, ids = call('XREVRANGE', key, '+', '-', 'COUNT', '200'), {}
  while last[1] and not is_ahead(last[#last][1]) do last[#last] = nil end
  sequence = call('INCRBY', P .. 'sequence', int(#last)) - #last
  for i = #last, 1, -1 do
    ids[#ids + 1] = last[i][1]
    admit_entry(door, last[i])
  end
  if ids[1] then call('XDEL', key, unpack(ids)) end
  return #ids
end

local function admit_from(door, most)
  local key, state = P .. door.stream, ingress_state(door.stream)
  door.after = number_in(call('HGET', P .. 'virtual', 'after:' .. door.stream), 0)
  door.is_empty = not state or state.length == 0
  local count_max = most > 0 and affordable(key, state, most, bytes_max / #DOORS) or 0
  local number = 0
  if count_max > 0 then
    local entries = call('XRANGE', key, '-', '+', 'COUNT', int(count_max))
    number = #entries
    -- Reserves the numbers for all entries at once; those of entries that become no job are not used.
    sequence = call('INCRBY', P .. 'sequence', int(number)) - number
    for _, entry in ipairs(entries) do admit_entry(door, entry) end
    door.is_empty = state.length == number
    trim(key, state.length - number)
  end
  if not door.is_empty and state.last == HIGHEST then number = number + admit_topmost(door, key) end
  keep_ingress(door.stream, state, number)
  return number
end

local admitted = 0
for _, door in ipairs(DOORS) do
  admitted = admitted + admit_from(door, math.min(limit, room_ahead(door)))
end
local pace, is_held = tonumber(ARGV[14]), room_ahead(DOORS[#DOORS]) <= 0 and call('XLEN', P .. 'in') > 0
local due = call('ZRANGE', P .. 'delayed', '0', '0', 'WITHSCORES')[2]
local late = beyond('retrying', MS + delay_max, 1)
if late[1] and tonumber(late[2]) > MS + stated_delay(late[1]) then due = 0 end
-- The streams that are empty now, in the queue's time.
local facts = {'time', int(queue_time())}
for _, door in ipairs(DOORS) do
  if door.is_empty then
    facts[#facts + 1] = 'after:' .. door.stream
    facts[#facts + 1] = int(queue_time())
  end
end
call('HSET', P .. 'virtual', unpack(facts))
settle()
-- For display: the next call may be late, but the value stays correct until then.
if is_held ~= (call('HGET', P .. 'virtual', 'held') == '1') then
  if is_held then call('HSET', P .. 'virtual', 'held', '1') else call('HDEL', P .. 'virtual', 'held') end
end
local next = math.min(due and math.max(0, due - believed()) or math.huge, check_due(pace) or math.huge)
return {admitted, feed_due(pace) and 1 or 0, is_held and '1' or '', next < math.huge and int(next) or '-1'}
