-- Which lanes are looked at, and when. Zset lanes has the batches that may still get jobs; the score says what a lane
-- waits for:
--   below IDLE   it is fed next: it has entries and room, as far as is known. When it was fed last, µs; 0 comes first,
--                and what is below 0 is fed even if it has no entries
--   IDLE         it had no entries. A plain XADD tells nobody, so these lanes are looked at in turn
--   FULL         its window is full: a member that ends brings it back (`complete_batch`)
local IDLE, FULL = '9000000000000000', 'inf'

-- Has a lane fed next, if it is fed at all.
local function wake_lane(batch) call('ZADD', P .. 'lanes', 'XX', '0', batch) end

-- Where the turn of looks is, or nil when none is due. A turn begins `pace` µs for each idle lane after the one
-- before, whoever asks: so looks take the same share of Redis' time whatever the number of lanes and of workers.
local function look_turn(pace)
  local idle = call('ZCOUNT', P .. 'lanes', IDLE, IDLE)
  if idle == 0 then return nil end
  local turn = call('HMGET', P .. 'virtual', 'laneNext', 'laneTurn')
  local next, began = tonumber(turn[1] or '0'), tonumber(turn[2] or '0')
  if next > 0 then return next, began end
  if US - began < idle * pace then return nil end
  return 0, US
end

local LOOK_MIN = 20  -- ms between two turns at least

-- ms until the next turn of looks begins; nil when no lane is idle.
local function look_due(pace)
  local idle = call('ZCOUNT', P .. 'lanes', IDLE, IDLE)
  if idle == 0 then return nil end
  local began = tonumber(call('HGET', P .. 'virtual', 'laneTurn') or '0')
  return math.max(LOOK_MIN, math.ceil((began + idle * pace - US) / 1000))
end

-- Whether a call of feed would find something to do.
local function lanes_due(pace)
  if call('ZCARD', P .. 'lanes') == 0 then return false end
  return call('ZCOUNT', P .. 'lanes', '-inf', '(' .. IDLE) > 0 or look_turn(pace) ~= nil
end

-- Looks at the next idle lanes of the turn, and has those fed that have entries. Returns whether the turn goes on.
local function look(most, pace)
  local next, began = look_turn(pace)
  if not next then return false end
  local names, woken = call('ZRANGEBYSCORE', P .. 'lanes', IDLE, IDLE, 'LIMIT', int(next), int(most)), 0
  for _, batch in ipairs(names) do
    if call('XLEN', P .. 'lane:' .. batch) > 0 then
      wake_lane(batch)
      woken = woken + 1
    end
  end
  next = #names < most and 0 or next + #names - woken
  call('HSET', P .. 'virtual', 'laneNext', int(next), 'laneTurn', int(began))
  return next > 0
end
