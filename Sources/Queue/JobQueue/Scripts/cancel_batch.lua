-- Cancels a batch: its stream is removed at once, whatever its length, and workers are notified. Each further call ends a
-- bounded number of the batch's waiting jobs.
--
-- ARGV     P, events max, done max, batch, reason, maximum jobs, number of the first member to look at (without it: 0)
-- Returns  {OK or GONE (no such batch) or ENDED, jobs that have not ended, one more if as many as allowed were ended; number of the
--          member to continue from or -1, jobs that were seen and have not ended}
-- Crash    Jobs that were not swept end when a worker would claim them, and no commit of them is accepted.
local batch, reason, most = ARGV[4], ARGV[5], tonumber(ARGV[6])
local key = P .. 'batch:' .. batch
local b = call('HMGET', key, 'admitted', 'cancel', 'sealed', 'generation', 'finished', 'holes', 'inLane', 'laneBytes', 'tenant')
if not b[1] then return {'GONE', 0, -1, 0} end
if b[4] == b[5] then return {'ENDED', 0, -1, 0} end
local admitted = tonumber(b[1])
if not b[2] then
  call('HSET', key, 'cancel', reason)
  -- A cancelled batch that a replay has reopened has no batch stream any more.
  if not b[7] then
    -- The batch ends with the entries that have arrived, but with no more than its seal.
    local waiting = call('XLEN', P .. 'lane:' .. batch)
    if b[3] then waiting = math.min(waiting, math.max(0, tonumber(b[3]) - admitted)) end
    -- Members that were cancelled by their names are counted already and have their bits.
    local uncounted = waiting - tonumber(b[6] or '0')
    call('HSET', key, 'sealed', int(admitted + waiting), 'inLane', int(uncounted), 'holes', '0')
    call('HINCRBY', key, 'cancelled', int(uncounted))
    count('cancelled', uncounted)
  end
  call('UNLINK', P .. 'lane:' .. batch)
  call('ZREM', P .. 'lanes', batch)
  call('HDEL', key, 'refill', 'laneBytes')
  unstore(b[9], b[8])
  notify_workers('batch', batch)
end

-- Clear bits below `admitted` are members that have not ended.
local ended, swept, open = key .. ':ended', 0, 0
local at = tonumber(ARGV[7] or '0')
while at < admitted and swept + open < most do
  local byte = call('BITPOS', ended, '0', int(math.floor(at / 8)))
  if byte < 0 then byte = call('STRLEN', ended) * 8 end
  at = math.max(at, byte)
  if at >= admitted then break end
  if call('GETBIT', ended, int(at)) == 0 then
    local j = load_any(batch .. ':' .. int(at))
    if j and WAITS[j.state] and not guarded(cancel, j, reason) then
      swept = swept + 1
    else
      open = open + 1
    end
  end
  at = at + 1
end
tally(batch, 'cancelled', 0)
settle()
return {'OK', open + (swept == most and 1 or 0), at < admitted and at or -1, open}
