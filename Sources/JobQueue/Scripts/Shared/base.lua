-- Shared by every script: it comes first in each one's text. Nothing in Shared/ runs by itself.
--
-- Conventions. KEYS[1] is any key of the queue, so that a cluster can route the call. ARGV[1] is the
-- queue's key prefix P, `minilab:{<queue>}:`; every other key is P .. name, so all share one slot.
-- The only clock is the server's TIME. Redis does not roll a failing script back, so each script
-- checks all its inputs first and writes after. What adds up over several jobs of one call is tallied
-- and written once, by `settle`, with which every script that ends jobs ends.
--
-- Where a job is, by the `state` of job:<job>:
--   ready       in zset ready:<priority>:<tenant>     score = sequence (order of admission)
--   delayed     in zset delayed                       score = due, ms; one that waits for its notBefore also in zset
--                                                     later:<asset>, score = arrival, µs
--   parked      in zsets parked and parked:<asset>    score = arrival, µs; behind another job of its asset
--   active      in zset lease                         score = end of lease, ms
--   committing  in zset lease                         likewise; result:<job> holds the event to be sent
--   stuck       in zset stuck                         score = since when, ms; a committing job whose version
--                                                     could not be published however often that was tried
--   done        in list done                          oldest first
--   dead        in zset dead                          score = end, ms
-- A job's parts, which other workers may do, are in the same places: Shared/parts.lua.
-- Hash assets says which job has the asset: one that is ready, active, committing, stuck, or delayed after a
-- failure. All others of that asset are parked and follow in the order of their arrival.
--
-- A field of a job that has its usual value is left out: tenant `default`, priority `normal`,
-- generation 1; attempts, crashes, rebases, carries, voids 0.
local P, EVENTS_MAX, DONE_MAX = ARGV[1], ARGV[2], tonumber(ARGV[3])
local call = redis.call

-- Lua's own number format loses digits above 1e14. And numbers reach redis.call through printf's slow
-- floating-point path; text does not. So numbers are made text once, here, and constants are text.
local function int(n) return string.format('%d', n) end

-- The format of a job's record, written into each when it is admitted. A record without it is of format 1, which
-- knew neither `stuck` nor `carries` and is read as this one; 3 is that of a job's part. A later one is of a newer minilab, whose workers have
-- begun to run beside ours: what it says is not known here, so such a job is left to them.
local FORMAT, KNOWN = '2', 3
local function is_later(j) return j.format and tonumber(j.format) > KNOWN end

local DEFAULTS = {__index = {tenant = 'default', priority = 'normal', generation = '1', attempts = '0',
  crashes = '0', rebases = '0', carries = '0', voids = '0'}}

-- All that is known of a job; nil when there is none. One HGETALL reads the record once; HMGET looks through
-- it once per field.
local function load(id)
  local record = call('HGETALL', P .. 'job:' .. id)
  if not record[1] then return nil end
  local j = setmetatable({id = id}, DEFAULTS)
  for i = 1, #record, 2 do j[record[i]] = record[i + 1] end
  return j
end

-- The guard of every write by a worker: nil when it may go on, else the answer it gets.
local function refusal(j, fence)
  if not j then return 'GONE' end
  if j.fence ~= fence then return 'FENCED' end
end

-- Does one job's part of a call that is about several. What goes wrong with one must not keep the others from
-- what they came for, nor `settle` from writing what was tallied for them.
local function guarded(part, ...)
  local done, answer = pcall(part, ...)
  if done then return answer end
  return 'ERROR ' .. (type(answer) == 'table' and answer.err or tostring(answer))
end

local counted, running = {}, {}

-- Counts; the names are what `minilab status` shows.
local function count(name, by) counted[name] = (counted[name] or 0) + (by or 1) end

-- Counts the jobs of a tenant that workers hold.
local function run(tenant, by) running[tenant] = (running[tenant] or 0) + by end

-- JSON text. Most of it has nothing to escape; and cjson writes / as \/, which is right but ugly in paths.
local function quoted(text)
  if not text:find('[^%w%._%-/ :,]') then return '"' .. text .. '"' end
  return (cjson.encode(text):gsub('\\/', '/'))
end
