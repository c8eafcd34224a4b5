-- Turns entries of the ingress streams into jobs, batches, or dead letters when they are wrong.
--
-- ARGV   P, events max, done max, entries at most of each stream, bytes at most, asset bytes max, edit bytes max,
--        id length max, batch jobs max, cost max, malformed records max, jobs ahead of the workers max, bytes of
--        their large edits max, pace of looks in µs for each lane
-- Returns {entries taken, whether lanes are to be fed (1 or 0), whether entries of the stream `in` were left because
--         enough jobs wait (1), ms after which there may be something to do that no stream tells, or -1: delayed jobs
--         are due (0: now), or idle lanes are to be looked at}
-- Crash  An entry is in the stream or it is a job, never both and never neither: one script does it.
local limit, bytes_max, malformed_max = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[11])
local sequence

local function dead_letter(entry, f, code, message)
  -- Under the producer's own id where that is free, so that the producer finds it again.
  local id = f.id
  if not id or not is_id(id) or call('EXISTS', P .. 'job:' .. id) == 1 or seen(id) then id = entry end
  bury_malformed({id = id, asset = f.asset or '', generation = '1'}, code, message, malformed_max)
end

local function conflict(entry, j, message)
  count('conflicts')
  emit('conflict', j, 'conflict/' .. entry, '{"asset":' .. quoted(j.asset) .. ',"entry":"' .. entry
    .. '","job":"' .. j.id .. '","message":' .. quoted(message) .. '}')
end

-- `dropped`, if given, is how many entries were removed from the batch's lane.
local function batch_conflict(entry, batch, message, dropped)
  count('conflicts')
  event('batch.conflict', 'batch/' .. batch .. '/conflict/' .. entry, nil, '{"batch":"' .. batch
    .. (dropped and '","dropped":' .. int(dropped) .. ',"entry":"' or '","entry":"')
    .. entry .. '","message":' .. quoted(message) .. '}')
end

-- The digest of the job that has or had this id, nil when the id is free; the generation of a new one; and how the job
-- ended, if not well. A dead letter that never was a job gives its id to the job that is sent in its stead.
local function known(id)
  local job = call('HMGET', P .. 'job:' .. id, 'asset', 'malformed', 'digest', 'state', 'outcome')
  if job[2] then
    call('ZREM', P .. 'dead', id)
    call('UNLINK', P .. 'job:' .. id)
    return nil, '2'
  end
  if job[1] then
    return job[3] or digest(job[1], call('GET', P .. 'edit:' .. id) or ''), nil,
      job[4] == 'dead' and 'dead' or job[5] == 'cancelled' and 'cancelled' or nil
  end
  local before = seen(id)
  if not before then return nil end
  local hash, ended = remembered(before)
  if ended == 'malformed' then return nil, '2' end
  return hash, nil, ended
end

-- The end of a sentence about a job whose id is sent again: how it ended, and the way to run it.
local NOT_AGAIN = {
  dead = 'has failed; this one was not taken. Replay the job, or use a new id.',
  cancelled = 'was cancelled; this one was not taken. Use a new id.',
  dropped = 'has failed, and its record was dropped; this one was not taken. Use a new id.',
}

local function admit_job(entry, f, arrival)
  local id = f.id or entry
  -- An entry's id is free, unless a producer gave it to another job as a name.
  local before, generation, ended
  if f.id or call('EXISTS', P .. 'job:' .. id) == 1 then before, generation, ended = known(id) end
  if before then
    if before == digest(f.asset, f.edit) then
      if not ended then return count('duplicates') end
      return conflict(entry, {id = id, asset = f.asset}, 'job ' .. id .. ' ' .. NOT_AGAIN[ended])
    end
    return conflict(entry, {id = id, asset = f.asset}, 'job ' .. id .. ' exists with another asset or '
      .. 'edit; this one was not taken. Use a new id for a new edit.')
  end
  if f.replace then replace(f.asset, f.replace, arrival, 'replaced by job ' .. id) end
  sequence = sequence + 1
  call('SET', P .. 'edit:' .. id, f.edit)
  take_in({id = id, asset = f.asset, tenant = f.tenant or 'default', priority = f.priority or 'normal',
    sequence = int(sequence), arrival = arrival, generation = generation or '1', cost = f.cost, bytes = #f.edit, named = f.id and '1',
    due = f.notBefore and milliseconds(f.notBefore), deadline = f.deadline and milliseconds(f.deadline)})
end

-- Refuses an entry under the name of a batch that ended and was dropped. Members of a second batch would have the
-- ids of the first one's: readers would drop their events, and the library would not publish them.
local function refuse_used(entry, f)
  local dropped, ends = end_lane(f.batch), remembered_until('batch:' .. f.batch)
  -- A batch that is sealed twice has nothing to lose.
  if not f.edit and dropped == 0 then return count('duplicates') end
  batch_conflict(entry, f.batch, 'batch ' .. f.batch .. ' has ended, and its name is remembered'
    .. (ends and ' until ' .. timestamp(ends) .. ' at the latest' or '') .. '; this entry was not taken, and '
    .. int(dropped) .. ' entries of lane ' .. P .. 'lane:' .. f.batch .. ' were removed. Send the batch again under '
    .. 'a new name.', dropped)
end

-- Opens a batch, or seals it, or both.
local function admit_batch(entry, f)
  local key = P .. 'batch:' .. f.batch
  local b = call('HMGET', key, 'generation', 'sealed', 'admitted')
  local edit = call('GET', key .. ':edit')
  if not b[1] and not edit and seen('batch:' .. f.batch) then return refuse_used(entry, f) end
  if edit and f.edit then
    if edit ~= f.edit then
      return batch_conflict(entry, f.batch, 'batch ' .. f.batch .. ' exists with another edit; this entry '
        .. 'was not taken. Use a new name for a new batch.')
    end
    count('duplicates')
  elseif f.edit then
    call('HSET', key, 'tenant', f.tenant or 'default', 'priority', f.priority or 'bulk', 'generation', '1',
      'finished', '0', 'admitted', '0', 'opened', NOW)
    if f.cost then call('HSET', key, 'cost', f.cost) end
    if f.cap then call('HSET', key, 'cap', f.cap) end
    call('SET', key .. ':edit', f.edit)
    call('ZADD', P .. 'batches', NOW, f.batch)
    call('ZADD', P .. 'lanes', '0', f.batch)
  elseif not edit then
    return dead_letter(entry, {}, 'noSuchBatch', 'batch ' .. f.batch .. ' cannot be sealed: nobody has opened '
      .. 'it. Open it first: XADD … batch ' .. f.batch .. ' edit ….')
  end
  if not f.seal then return end
  -- Redis lost the record of the batch, but not its edit.
  local lost = edit and not b[1]
  if lost or b[2] == f.seal then return count('duplicates') end
  if b[2] then
    return batch_conflict(entry, f.batch, 'batch ' .. f.batch .. ' is sealed at ' .. b[2]
      .. ' jobs; it cannot be sealed at ' .. f.seal .. '.')
  end
  -- What is above the seal would be counted without being waited for.
  local given = (b[3] or 0) + call('XLEN', P .. 'lane:' .. f.batch)
  if given > tonumber(f.seal) then
    return batch_conflict(entry, f.batch, 'batch ' .. f.batch .. ' was given ' .. int(given)
      .. ' jobs already; it cannot be sealed at ' .. f.seal .. '. Seal it at what it has.')
  end
  call('HSET', key, 'sealed', f.seal)
  wake_lane(f.batch)
  if f.total then call('HSET', key, 'costTotal', f.total) end
  complete_batch(f.batch)
end

-- Of a call that fails something else is wrong than the entry: nothing was taken in, or a part.
local function admit_entry(door, entry)
  local name = entry[1] .. door.suffix
  local f, unknown = fields(entry[2], ENTRY_FIELDS)
  f.priority = f.priority or door.priority
  local code, message = entry_fault(f, unknown)
  if code then return dead_letter(name, f, code, message) end
  local failed = guarded(f.batch and admit_batch or admit_job, name, f, not f.batch and arrived(entry[1]) or nil)
  if type(failed) == 'string' then
    dead_letter(name, {asset = f.asset}, 'internalError', 'the entry could not be taken in, because what Redis has '
      .. (f.batch and 'of batch ' .. f.batch or 'of its id or asset') .. ' is damaged (' .. failed
      .. '). minilab doctor says more; send it again under another name.')
  end
end

local function admit_from(door, most)
  local key, state = P .. door.stream, ingress_state(door.stream)
  local take = most > 0 and affordable(key, state, most, bytes_max / #DOORS) or 0
  if take == 0 then
    keep_ingress(door.stream, state, 0)
    return 0
  end
  local entries = call('XRANGE', key, '-', '+', 'COUNT', int(take))
  -- Numbers for all of them at once; those of entries that become no job are not used.
  sequence = call('INCRBY', P .. 'sequence', #entries) - #entries
  for _, entry in ipairs(entries) do admit_entry(door, entry) end
  trim(key, entries)
  keep_ingress(door.stream, state, #entries)
  return #entries
end

local taken = 0
for _, door in ipairs(DOORS) do
  taken = taken + admit_from(door, math.min(limit, room_ahead(door)))
end
local pace, is_held = tonumber(ARGV[14]), room_ahead(DOORS[#DOORS]) <= 0 and call('XLEN', P .. 'in') > 0
local due = call('ZRANGE', P .. 'delayed', '0', '0', 'WITHSCORES')[2]
settle()
-- For people: the next call may come late, and what it says then is as true.
if is_held ~= (call('HGET', P .. 'virtual', 'held') == '1') then
  if is_held then call('HSET', P .. 'virtual', 'held', '1') else call('HDEL', P .. 'virtual', 'held') end
end
local next = math.min(due and math.max(0, due - MS) or math.huge, look_due(pace) or math.huge)
return {taken, lanes_due(pace) and 1 or 0, is_held and '1' or '', next < math.huge and int(next) or '-1'}
