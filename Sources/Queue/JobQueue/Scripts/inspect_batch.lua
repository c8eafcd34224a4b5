-- Checks whether a batch's counts match its members, and whether the batch is in the right structures.
--
-- ARGV     P, events max, done max, whether to repair (1), batch, number of the first member to inspect,
--          maximum members, ms for which a batch stream without a batch may be untouched
-- Returns  {number to continue from or -1, {kind, batch or job, detail, repaired (1) or ``}*}
-- Crash    All of a call or nothing; a repeated call finds the rest.
local batch, first, most, grace = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local key, stream = P .. 'batch:' .. batch, P .. 'lane:' .. batch
local b = {}
local names = {'tenant', 'priority', 'generation', 'finished', 'opened', 'admitted', 'done', 'dead', 'cancelled',
  'sealed', 'cancel', 'inLane', 'holes', 'ended', 'gone'}
local function number(name) return tonumber(b[name] or '0') end

local function listed(zset) return call('ZSCORE', P .. zset, batch) end

local function inspect_nothing()
  for _, zset in ipairs({'batches', 'batches:ended', 'lanes'}) do
    if listed(zset) then
      fault('memberWithoutRecord', batch, zset, function() call('ZREM', P .. zset, batch) end)
    end
  end
  local untouched = unopened_for(batch)
  if untouched and (untouched >= grace or seen('batch:' .. batch)) then
    fault('laneUnopened', batch, int(call('XLEN', stream)), function() end_unopened(batch) end)
  end
  -- All three keys of a batch are removed together, so no client needs a remaining one.
  for _, part in ipairs({':edit', ':ended'}) do
    if call('EXISTS', key .. part) == 1 then
      fault('partWithoutRecord', batch, 'batch' .. part, function() call('UNLINK', key .. part) end)
    end
  end
end

local function inspect_counts()
  local bits = call('BITCOUNT', key .. ':ended')
  local ended = number('done') + number('dead') + number('cancelled')
  -- It is impossible to tell which count is wrong: records of members are dropped, and bits do not state how a member ended.
  if ended - number('inLane') ~= bits then
    fault('batchMiscounted', batch, int(ended - number('inLane')) .. '/' .. int(bits))
  end
  if not b.inLane then
    local beyond = bits - (number('admitted') > 0
      and call('BITCOUNT', key .. ':ended', '0', int(number('admitted') - 1), 'BIT') or 0)
    if beyond ~= number('holes') then
      fault('batchHolesMiscounted', batch, int(number('holes')) .. '/' .. int(beyond),
        function() call('HSET', key, 'holes', int(beyond)) end)
    end
  end
end

local function inspect_lists()
  if not listed('batches') then
    fault('batchUnlisted', batch, 'batches', function() call('ZADD', P .. 'batches', b.opened, batch) end)
  end
  local drained = b.cancel or b.inLane or b.sealed and number('admitted') >= number('sealed')
  if not drained and not listed('lanes') then
    fault('batchUnlisted', batch, 'lanes', function() call('ZADD', P .. 'lanes', '0', batch) end)
  end
  -- feed skips a batch that has all its jobs; from a cancelled batch it must not create any.
  if (b.cancel or b.inLane) and listed('lanes') then
    fault('inWrongPlace', batch, 'lanes', function() call('ZREM', P .. 'lanes', batch) end)
  end
  if drained and call('XLEN', stream) > 0 then fault('laneSurplus', batch, int(call('XLEN', stream))) end
  local finished = b.finished == b.generation
  if finished and not listed('batches:ended') and number('dead') <= number('gone') then
    fault('batchUnlisted', batch, 'batches:ended',
      function() call('ZADD', P .. 'batches:ended', b.ended or NOW, batch) end)
  elseif not finished and listed('batches:ended') then
    fault('inWrongPlace', batch, 'batches:ended', function() call('ZREM', P .. 'batches:ended', batch) end)
  end
end

local function inspect_end()
  local ended = number('done') + number('dead') + number('cancelled')
  local all = b.sealed and ended >= number('sealed')
  if all and b.finished ~= b.generation then
    -- The event's id consists of batch and generation, so a reader that has received it drops the repeat.
    fault('batchNotCompleted', batch, '', function() complete_batch(batch) end)
  elseif not all and b.finished == b.generation then
    fault('batchCompletedEarly', batch, int(ended) .. '/' .. (b.sealed or '?'))
  end
end

-- Clear bits below `admitted` are members that have not ended.
local function inspect_members()
  local admitted, at, checked = number('admitted'), first, 0
  while at < admitted and checked < most do
    at = math.max(at, call('BITPOS', key .. ':ended', '0', int(math.floor(at / 8))))
    if at >= admitted then break end
    if call('GETBIT', key .. ':ended', int(at)) == 0 then
      checked = checked + 1
      local id = batch .. ':' .. int(at)
      local j = load_any(id)
      if not j then
        fault('memberLost', id, batch)
      elseif ENDED[j.state] and j.batch == batch then
        -- Its bit shows that it is not counted yet, and counting it sets the bit.
        fault('memberUncounted', id, batch, function()
          member_ended(j, j.state == 'dead' and 'dead' or j.outcome == 'cancelled' and 'cancelled' or 'done', 0)
        end)
      end
    end
    at = at + 1
  end
  return at < admitted and at or -1
end

local function inspect()
  for i, value in ipairs(call('HMGET', key, unpack(names))) do b[names[i]] = value or nil end
  if not b.generation then
    if call('EXISTS', key) == 1 then fault('recordIncomplete', batch, 'generation') else inspect_nothing() end
    return -1
  end
  if first == 0 then
    if call('EXISTS', key .. ':edit') == 0 then fault('recordIncomplete', batch, 'edit') end
    inspect_counts()
    inspect_lists()
    inspect_end()
  end
  return inspect_members()
end

local next = guarded(inspect)
if not tonumber(next) then
  fault('recordIncomplete', batch, 'count or structure')
  next = -1
end
settle()
return {next, faults}
