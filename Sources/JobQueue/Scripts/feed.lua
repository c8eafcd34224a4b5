-- Turns the next entries of batches' lanes into jobs, as far as their windows have room.
--
-- ARGV   P, events max, done max, entries at most, window, asset bytes max, edit bytes max, id length max,
--        batch jobs max, cost max, lanes at most, bytes at most, malformed records max
-- Returns jobs made
-- Crash  An entry is in the lane or it is a job, never both and never neither: one script does it.
local limit, window, lanes, bytes_max, malformed_max =
  tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])
local made = 0

-- Returns how many entries were taken, and whether there are more.
local function feed(batch, most)
  local key, lane = P .. 'batch:' .. batch, P .. 'lane:' .. batch
  local b = call('HMGET', key, 'tenant', 'priority', 'admitted', 'done', 'dead', 'cancelled', 'sealed', 'cap',
    'cost', 'holes')
  local admitted = tonumber(b[3] or nil)
  if not admitted then  -- Redis lost its record
    call('ZREM', P .. 'lanes', batch)
    return 0
  end
  -- Those that were cancelled in the lane are counted and not yet admitted.
  local open = admitted - (b[4] or 0) - (b[5] or 0) - (b[6] or 0) + (b[10] or 0)
  local state = stream_state(lane)
  if state then
    admitted = count_trimmed(batch, admitted, tonumber(b[10] or '0'), b[7], state)
    renew('lane:' .. batch, state)
  end
  local take = math.min(most, math.min(window, tonumber(b[8] or window)) - open,
    (b[7] and tonumber(b[7]) or BATCH_MAX) - admitted)
  if b[7] and admitted >= tonumber(b[7]) then call('ZREM', P .. 'lanes', batch) end
  if take > 0 then take = affordable(lane, take, bytes_max) end
  if take <= 0 then return 0 end
  local entries = call('XRANGE', lane, '-', '+', 'COUNT', int(take))
  local sequence = call('INCRBY', P .. 'sequence', #entries) - #entries
  for i, entry in ipairs(entries) do
    local id = batch .. ':' .. int(admitted + i - 1)
    local f, unknown = fields(entry[2], LANE_FIELDS)
    local code, message = lane_fault(f, unknown)
    local j = {id = id, asset = f.asset or '', tenant = b[1], priority = b[2], batch = batch,
      sequence = int(sequence + i), generation = '1', cost = not code and f.cost or b[9] or nil, own = f.edit,
      arrival = not code and arrived_in_lane(entry[1], f.arrived, made + i)}
    if b[10] and b[10] ~= '0' and call('GETBIT', key .. ':ended', int(admitted + i - 1)) == 1 then
      call('HINCRBY', key, 'holes', '-1')  -- was cancelled by its name before it was a job
    elseif code then
      bury_malformed(j, code, message, malformed_max)
    else
      if f.edit then
        call('SET', P .. 'edit:' .. id, f.edit)
        j.bytes = #f.edit
      end
      take_in(j)
    end
  end
  call('HSET', key, 'admitted', int(admitted + #entries))
  trim(lane, entries)
  return #entries
end

for _, batch in ipairs(call('ZRANGE', P .. 'lanes', '0', int(lanes - 1))) do
  if made >= limit then break end
  -- Looked at last: its turn comes after the others'.
  call('ZADD', P .. 'lanes', 'XX', int(US), batch)
  made = made + feed(batch, limit - made)
end
settle()
return made
