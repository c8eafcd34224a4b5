-- The order and time of the checks of batch streams. Zset `lanes` has the batches that may still get jobs; the score
-- states what a batch waits for:
--   below IDLE   The stream is fed next: as far as is known, it has entries, and its window is not full. The score is the time of
--                its last feeding, in the queue's time. 0 comes first, and a batch below 0 is fed even if it has no entries
--   IDLE         The stream had no entries. A plain XADD notifies no worker, so these batch streams are checked in turn
--   FULL         The window is full: the end of a member makes the stream eligible again (`complete_batch`)
local IDLE, FULL = '9000000000000000', 'inf'

-- Makes a batch stream the next to be fed, if it is fed at all. An idle one had no entries when it was checked last, so its entries
-- arrive now (`after`: see Shared/arrival.lua).
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
