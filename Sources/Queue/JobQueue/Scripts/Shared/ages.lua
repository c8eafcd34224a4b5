-- How long something has lasted, whatever the server's clock did meanwhile.
--
-- Hash virtual has `lived`, a time in ms that neither falls nor leaps. It starts as the server's time (`ticked`: at the last tick) and
-- grows with it, but by no more than the caller of `tick` measured by a clock of its own. Ages are counted in it: a clock that is a day
-- ahead for some seconds must not end what may last a day.
--
-- `shift` is the lead of the server's time over `lived`, as far as it is believed: a step back at once, a leap forward when it has
-- lasted for BELIEVED_AFTER (`leapt`: since when, in `lived`). Appointments and leases are compared with the believed time.
local STEP_MAX = 10 * 1000  -- ms that one step counts at most if nobody has measured it
local TICK_SLACK = 5000  -- ms by which a call may arrive late
local BELIEVED_AFTER = 60 * 1000  -- ms; every living worker has renewed its leases by then
local lived, shift
local function read_ages()
  if lived then return end
  local v = call('HMGET', P .. 'virtual', 'ticked', 'lived', 'shift')
  if v[1] then
    lived, shift = v[2] + math.max(0, math.min(MS - v[1], STEP_MAX)), tonumber(v[3])
  else
    lived, shift = MS, 0
  end
end

-- Returns the present `lived`, in ms.
local function lived_time()
  read_ages()
  return lived
end

-- Returns the server's time in ms, without a leap forward that is not believed yet.
local function believed()
  read_ages()
  return math.min(MS, lived + shift)
end

-- Advances `lived`. `elapsed` is the time in ms since the caller's last tick by its own clock; `` if this is its first.
local function tick(elapsed)
  local v, measured = call('HMGET', P .. 'virtual', 'ticked', 'lived', 'shift', 'leapt'), tonumber(elapsed)
  lived, shift = MS, 0
  local leapt
  if v[1] then
    lived = v[2] + math.min(math.max(0, MS - v[1]), measured and math.max(0, measured) + TICK_SLACK or STEP_MAX)
    local lead = MS - lived
    shift, leapt = tonumber(v[3]), tonumber(v[4] or nil)
    if lead <= shift or not measured or leapt and lived - leapt >= BELIEVED_AFTER then
      shift, leapt = lead, nil
    else
      leapt = leapt or lived
    end
  end
  call('HSET', P .. 'virtual', 'ticked', NOW, 'lived', int(lived), 'shift', int(shift))
  if leapt then call('HSET', P .. 'virtual', 'leapt', int(leapt))
  elseif v[4] then call('HDEL', P .. 'virtual', 'leapt') end
end
