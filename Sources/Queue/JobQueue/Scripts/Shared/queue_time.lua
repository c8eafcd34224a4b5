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
