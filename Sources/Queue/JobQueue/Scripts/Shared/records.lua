-- Shared by every script. In a script's text, the tables of JobState.swift come first, then declarations of this file, then those of
-- the others. No file in Shared/ runs by itself.
--
-- Conventions. KEYS[1] is any key of the queue, so that a cluster can route the call. ARGV[1] is the
-- queue's key prefix P, `minilab:{<queue>}:`; every other key is P .. name, so all keys share one slot.
-- The only clock is the server's TIME, which may step: the part on time below has what must rise, what lasts,
-- and what is awaited. Redis does not roll back a failed script, so each script
-- checks all its inputs first and writes afterwards. Sums over several jobs of one call are tallied
-- and written once, by `settle`, which every script that ends jobs calls last.
--
-- The structure of a job follows from the `state` of job:<job>: JobState.swift, which also makes the tables WAITS, HELD, HOLDS, LISTED,
-- ENDED and RECORDED, by state.
-- A job's parts, which other workers may run, are in the same structures: see Shared/parts.lua.
--
-- A field of a job that has its default value is left out: tenant `default`, priority `normal`,
-- generation 1; attempts, crashes, rebases, carries, voids 0.
local P, EVENTS_MAX, DONE_MAX = ARGV[1], ARGV[2], tonumber(ARGV[3])
local call = redis.call

-- Lua's own number format loses digits above 1e14. Also, numbers reach redis.call through printf's slow
-- floating-point path, and strings do not. So numbers are converted to strings once, here, and constants are strings.
local function int(n) return string.format('%d', n) end

-- The format of a job's record, written into each record at admission. A record without it has format 1, which has neither
-- `stuck` nor `carries` and is read like format 2. Format 3 is that of a job's part, format 4 that of a job with `fields`. A later
-- format was written by a newer minilab, whose workers have started beside the present ones. This version does not know its contents,
-- so it leaves such a job to them.
local FORMAT, WITH_FIELDS, KNOWN = '2', '4', 4
local function is_later(j) return j.format and tonumber(j.format) > KNOWN end

local DEFAULTS = {__index = {tenant = 'default', priority = 'normal', generation = '1', attempts = '0',
  crashes = '0', rebases = '0', carries = '0', voids = '0'}}

-- Returns the whole record of a job; nil if there is none. One HGETALL reads the record once; HMGET would search it once per
-- field.
local function load(id)
  local record = call('HGETALL', P .. 'job:' .. id)
  if not record[1] then return nil end
  local j = setmetatable({id = id}, DEFAULTS)
  for i = 1, #record, 2 do j[record[i]] = record[i + 1] end
  return j
end

-- The guard of every write by a worker. Returns nil if the write is allowed, otherwise the reply for the worker.
local function refusal(j, fence)
  if not j then return 'GONE' end
  if j.fence ~= fence then return 'FENCED' end
end

-- Runs one job's part of a call about several jobs. An error in one part must stop neither the other parts nor `settle`, which
-- writes their tallies.
local function guarded(part, ...)
  local done, answer = pcall(part, ...)
  if done then return answer end
  return 'ERROR ' .. (type(answer) == 'table' and answer.err or tostring(answer))
end

-- Returns a field as a number; `default` if it is missing or damaged.
local function number_in(text, default) return tonumber(text or nil) or default end

local counted, running = {}, {}

-- Increments a counter; the names are those that `minilab status` shows.
local function count(name, by) counted[name] = (counted[name] or 0) + (by or 1) end

-- `hold` adds a job to zset lease, or changes the end of its lease; `unhold` removes it, and returns whether it was there. Hash running
-- counts the members of the zset by tenant, so it changes exactly when the zset does.
local function hold(id, tenant, ends)
  if call('ZADD', P .. 'lease', ends, id) == 1 then running[tenant] = (running[tenant] or 0) + 1 end
end
local function unhold(id, tenant)
  if call('ZREM', P .. 'lease', id) == 0 then return false end
  running[tenant] = (running[tenant] or 0) - 1
  return true
end

-- Returns JSON text. Most strings need no escaping; and cjson writes / as \/, which is correct but hard to read in paths.
local function quoted(text)
  if not text:find('[^%w%._%-/ :,]') then return '"' .. text .. '"' end
  return (cjson.encode(text):gsub('\\/', '/'))
end

-- The bytes of Redis that each tenant takes: hash stored, by tenant, and their sum in `storedBytes` of hash virtual. A quota of jobs
-- bounds no bytes: an edit has up to 64 KiB. They are added where something is written and taken off where it is removed:
--   a job                    field `stored` of its record, until it is done; a part of a job counts as its job
--   an entry of `submit`     the value of its id in backlog:<tenant>, until it is admitted or cancelled
--   members of `append`      field `laneBytes` of their batch, until they are fed
--   a batch                  field `stored` of its record
-- Whatever becomes a record without being asked counts as one from the beginning: an entry of `submit`, and the first MEMBERS_WHOLE
-- members of a batch, or as many as its cap allows. So many leave a stream before one of them has ended (`window` of QueueSettings);
-- where no worker lived meanwhile, a tenant's streams within its limit would become ten times as many bytes beyond it.
-- An entry of a plain XADD counts from its admission. The constants are those of QUEUE.md; done jobs, results and histories are
-- bounded by the number of jobs. A record of an earlier release has no such field, and counts nothing.
local RECORD_BYTES, MEMBER_BYTES, BATCH_BYTES, MEMBERS_WHOLE = 450, 23, 600, 1000
local stored_by = {}

-- Counts bytes of a tenant that are written, or removed.
local function store(tenant, by) stored_by[tenant] = (stored_by[tenant] or 0) + by end

-- Counts the removal of what a field says; false for none. A field that is no number was never counted as one.
local function unstore(tenant, text)
  local bytes = text and tonumber(text)
  if bytes then store(tenant or 'default', -bytes) end
end

-- Returns why a tenant may not store so many bytes more: STORED, beyond its own limit, or SHARE, beyond that of all producers, and
-- the bytes that it has; nil if it may. A limit that is nil allows any number.
local function refused_bytes(tenant, more, most, all)
  local by = more + (stored_by[tenant] or 0)
  local has = most and tonumber(call('HGET', P .. 'stored', tenant) or '0')
  if has and has + by > most then return 'STORED', int(has) end
  local total = all and tonumber(call('HGET', P .. 'virtual', 'storedBytes') or '0')
  if total and total + by > all then return 'SHARE', int(total) end
end

-- Writes the tallies, and that something has changed: `storedTurn` of hash virtual, by which the doctor knows that its sums are of
-- one moment.
local function settle_stored()
  local total = 0
  if next(stored_by) then guarded(call, 'HINCRBY', P .. 'virtual', 'storedTurn', '1') end
  for tenant, by in pairs(stored_by) do
    guarded(function()
      if by ~= 0 and call('HINCRBY', P .. 'stored', tenant, int(by)) == 0 then call('HDEL', P .. 'stored', tenant) end
    end)
    total = total + by
  end
  if total ~= 0 then call('HINCRBY', P .. 'virtual', 'storedBytes', int(total)) end
  stored_by = {}
end

-- Writes the counters.
local function settle_counters()
  for name, by in pairs(counted) do guarded(call, 'HINCRBY', P .. 'counters', name, int(by)) end
end

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
  local last = number_in(v[1], 0)
  reached, floor = math.max(US, last), number_in(v[3], 0)
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
-- lasted for BELIEVED_AFTER (`leapt`: since when, in `lived`), or where no worker has measured for UNMEASURED_AFTER. Appointments and leases are compared with the believed time.
local STEP_MAX = 10 * 1000  -- ms that one step counts at most if nobody has measured it
local TICK_SLACK = 5000  -- ms by which a call may arrive late
local UNMEASURED_AFTER = 30 * 1000  -- ms since the last tick: an idle worker's longest pause (FleetPace), and one unmeasured step
local BELIEVED_AFTER = 60 * 1000  -- ms; every living worker has renewed its leases by then
local lived, shift
local function read_ages()
  if lived then return end
  local v = call('HMGET', P .. 'virtual', 'ticked', 'lived', 'shift')
  if tonumber(v[1] or nil) and tonumber(v[2] or nil) then
    lived, shift = v[2] + math.max(0, math.min(MS - v[1], STEP_MAX)), number_in(v[3], 0)
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
  if tonumber(v[1] or nil) and tonumber(v[2] or nil) then
    lived = v[2] + math.min(math.max(0, MS - v[1]), measured and math.max(0, measured) + TICK_SLACK or STEP_MAX)
    local lead = MS - lived
    shift, leapt = number_in(v[3], 0), tonumber(v[4] or nil)
    local nobody = not measured and MS - v[1] > UNMEASURED_AFTER
    if lead <= shift or nobody or leapt and lived - leapt >= BELIEVED_AFTER then
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

-- Names of jobs and batches whose records were dropped. They are remembered in two hashes that reap rotates:
-- seen:new and seen:old. The ids of a batch's members, and of events, contain such a name.

-- Returns the digest of the dropped record of a name, perhaps with a mark (`remove_record`); false if the name is free.
local function seen(name) return call('HGET', P .. 'seen:new', name) or call('HGET', P .. 'seen:old', name) end

-- Returns the digest in a remembered value, the end of the job unless it succeeded, and its generation then.
local function remembered(value)
  local ended, generation, hash = value:match('^(%l+):(%d*):(.*)$')
  return hash or value, ended, generation
end

-- Returns the time until which a name is remembered at the latest, ms since 1970; nil if no worker has recorded it yet. `seenSince`,
-- the time of the last rotation, is a `lived` (above). A name in
-- seen:new is kept for two rotations, a name in seen:old for one.
local function remembered_until(name)
  local turn = call('HMGET', P .. 'virtual', 'seenSince', 'seenKeep')
  if not turn[1] or not turn[2] then return nil end
  return turn[1] + turn[2] * (call('HEXISTS', P .. 'seen:new', name) == 1 and 2 or 1) + MS - lived_time()
end
