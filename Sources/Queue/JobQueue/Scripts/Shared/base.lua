-- Shared by every script: this file comes first in each script's text. No file in Shared/ runs by itself.
--
-- Conventions. KEYS[1] is any key of the queue, so that a cluster can route the call. ARGV[1] is the
-- queue's key prefix P, `minilab:{<queue>}:`; every other key is P .. name, so all keys share one slot.
-- The only clock is the server's TIME, which may step: Shared/clock.lua has what must rise, what lasts,
-- and what is awaited. Redis does not roll back a failed script, so each script
-- checks all its inputs first and writes afterwards. Sums over several jobs of one call are tallied
-- and written once, by `settle`, which every script that ends jobs calls last.
--
-- The structure of a job, by the `state` of job:<job>:
--   ready       in zset ready:<priority>:<tenant>     score = sequence (order of admission)
--   delayed     in zset delayed                       score = due, ms; a job that waits for its notBefore is also in
--                                                     zset later:<asset>, score = arrival, µs; one that waits for
--                                                     another attempt in zset retrying, score = due
--   parked      in zsets parked and parked:<asset>    score = arrival, µs; behind another job of its asset
--   active      in zset lease                         score = end of lease, ms; at most field `lease` ms ahead
--   committing  in zset lease                         likewise; result:<job> holds the event to send
--   stuck       in zset stuck                         score = since when, ms; a committing job whose version
--                                                     could not be published in all permitted attempts
--   done        in list done                          oldest first
--   dead        in zset dead                          score = end, ms
-- A job's parts, which other workers may run, are in the same structures: see Shared/parts.lua.
-- Hash assets names the job that holds each asset: a job that is ready, active, committing, stuck, or delayed after a
-- failure. All other jobs of the asset are parked and follow in the order of their arrival.
--
-- A field of a job that has its default value is left out: tenant `default`, priority `normal`,
-- generation 1; attempts, crashes, rebases, carries, voids 0.
local P, EVENTS_MAX, DONE_MAX = ARGV[1], ARGV[2], tonumber(ARGV[3])
local call = redis.call

-- Lua's own number format loses digits above 1e14. Also, numbers reach redis.call through printf's slow
-- floating-point path, and strings do not. So numbers are converted to strings once, here, and constants are strings.
local function int(n) return string.format('%d', n) end

-- The format of a job's record, written into each record at admission. A record without it has format 1, which has neither
-- `stuck` nor `carries` and is read like format 2. Format 3 is that of a job's part. A later format was written by a newer minilab,
-- whose workers have started beside the present ones. This version does not know its contents, so it leaves such a job to them.
local FORMAT, KNOWN = '2', 3
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
-- An entry of a plain XADD counts from its admission. The constants are those of QUEUE.md; done jobs, results and histories are
-- bounded by the number of jobs. A record of an earlier release has no such field, and counts nothing.
local RECORD_BYTES, ENTRY_BYTES, MEMBER_BYTES, BATCH_BYTES = 450, 60, 23, 600
local stored_by = {}

-- Counts bytes of a tenant that are written, or removed.
local function store(tenant, by) stored_by[tenant] = (stored_by[tenant] or 0) + by end

-- Counts the removal of what a field says; false for none.
local function unstore(tenant, text) if text then store(tenant or 'default', -tonumber(text)) end end

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
  if next(stored_by) then call('HINCRBY', P .. 'virtual', 'storedTurn', '1') end
  for tenant, by in pairs(stored_by) do
    if by ~= 0 and call('HINCRBY', P .. 'stored', tenant, int(by)) == 0 then call('HDEL', P .. 'stored', tenant) end
    total = total + by
  end
  if total ~= 0 then call('HINCRBY', P .. 'virtual', 'storedBytes', int(total)) end
  stored_by = {}
end
