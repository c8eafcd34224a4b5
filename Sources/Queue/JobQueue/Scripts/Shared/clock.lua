-- The server's time, read once per script: microseconds, milliseconds, and milliseconds as text.
local TIME = call('TIME')
local US = TIME[1] * 1000000 + TIME[2]
local MS = math.floor(US / 1000)
local NOW = int(MS)

-- The queue's time, in µs since 1970: fences, arrivals and the turns of batch streams come from it, because they must rise.
--
-- The server's clock may be set back, and a replica that takes over has a clock of its own. So hash virtual keeps in `time` the latest
-- time that one of them had, and none is below it.
--
-- A replica, or a server that lost the end of its file, does not know the times that were given last, and the library does. So when
-- another server answers (`server`: its replication id), times begin LOST_MAX after the last one that is known, unless its clock is
-- beyond that. `floor` is the time at which that server began.
local LOST_MAX = 10 * 1000 * 1000  -- µs; the default of Redis' min-replicas-max-lag
local SILENCE = 100 * 1000  -- µs without a script that takes time, after which the server may be another one
local reached, floor
local function queue_time()
  if reached then return reached end
  local v = call('HMGET', P .. 'virtual', 'time', 'server', 'floor')
  local last = tonumber(v[1] or '0')
  reached, floor = math.max(US, last), tonumber(v[3] or '0')
  if US < last or US > last + SILENCE then
    local server = call('INFO', 'replication'):match('master_replid:(%x+)')
    if server and server ~= v[2] then
      if v[2] then
        reached = math.max(reached, last + LOST_MAX)
        floor = reached
      end
      call('HSET', P .. 'virtual', 'server', server, 'time', int(reached), 'floor', int(floor))
    end
  end
  return reached
end

-- Returns a time that is above every time so far.
local function next_time()
  reached = queue_time() + 1
  return reached
end

-- Whether the server's clock is behind the queue's time.
local function is_behind() return US < queue_time() end

-- Records the time that this script has reached.
local function keep_time() call('HSET', P .. 'virtual', 'time', int(queue_time())) end

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

-- Waits whose end is an absolute time. After a step of the server's clock back, such a time lies further ahead than the wait can be
-- long: no present clock can have given it, and it must not be awaited.

-- Returns the members of a zset beyond a time in ms, with their scores, at most `most`. If there are more, each call returns others.
local function beyond(zset, limit, most)
  local bound = '(' .. int(limit)
  local number = call('ZCOUNT', P .. zset, bound, '+inf')
  if number == 0 then return {} end
  local from = number > most and MS % (number - most + 1) or 0
  return call('ZRANGEBYSCORE', P .. zset, bound, '+inf', 'WITHSCORES', 'LIMIT', int(from), int(most))
end
