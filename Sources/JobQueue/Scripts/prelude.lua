-- Shared by every script: it is put in front of each one's text. Nothing here runs by itself.
--
-- Conventions. KEYS[1] is any key of the queue, so that a cluster can route the call. ARGV[1] is the
-- queue's key prefix P, `minilab:{<queue>}:`; every other key is P .. name, so all share one slot.
-- The only clock is the server's TIME. Redis does not roll a failing script back, so each script
-- checks all its inputs first and writes after.
--
-- Where a job is, by its `state`:
--   ready       in zset ready          score = sequence (order of admission)
--   delayed     in zset delayed        score = due, ms
--   parked      in zsets parked and parked:<asset>, score = sequence; behind an active job of its asset
--   active      in zset lease          score = end of lease, ms; hash active says asset -> job
--   committing  in zset lease          likewise; result:<job> holds the event that finalize will send
--   done        in list done           oldest first
--   dead        in zset dead           score = end, ms
local P = ARGV[1]

-- Lua's own number format loses digits above 1e14. And numbers reach redis.call through printf's slow
-- floating-point path; text does not. So numbers are made text once, here, and constants are text.
local function int(n) return string.format('%d', n) end

-- The server's time: microseconds, milliseconds, and milliseconds as text.
local function clock()
  local t = redis.call('TIME')
  local us = t[1] * 1000000 + t[2]
  local ms = math.floor(us / 1000)
  return us, ms, int(ms)
end

-- The guard of every write by a worker: nil when it may go on, else the answer it gets.
local function fenced(j, fence)
  if not j[1] then return 'GONE' end
  if j[2] ~= fence then return 'FENCED' end
end

-- Counts; the names are what `minilab status` shows.
local function count(name, by) redis.call('HINCRBY', P .. 'counters', name, by or '1') end

-- RFC 3339 from milliseconds since 1970; the days-to-date part is the usual era arithmetic of the
-- proleptic Gregorian calendar (400 years = 146,097 days, years that start in March).
local function timestamp(ms)
  local s = math.floor(ms / 1000)
  local z = math.floor(s / 86400) + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524)
    - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month,
    doy - math.floor((153 * mp + 2) / 5) + 1, math.floor(s / 3600) % 24, math.floor(s / 60) % 60,
    s % 60, ms % 1000)
end

-- cjson writes / as \/, which is right but ugly in ids and paths.
local function quoted(text) return (cjson.encode(text):gsub('\\/', '/')) end

-- Appends one CloudEvent of type `name`. `tail` ends its id, which is the same whenever the same thing
-- is said again, so that a reader can drop repeats. `data` is JSON text. `revision`, if there is one, is the
-- asset's: ten digits sort as text, as CloudEvents' extension `sequence` wants.
local function emit(name, job, tail, asset, ms, data, eventsMax, revision)
  local queue = P:match('{(.-)}')
  redis.call('XADD', P .. 'events', 'MAXLEN', '~', eventsMax, '*', 'event',
    -- Names of queues and jobs have no character that JSON would escape.
    '{"specversion":"1.0","id":"' .. queue .. '/' .. job .. '/' .. tail
    .. '","source":"minilab/' .. queue .. '","type":"org.minilab.job.' .. name
    .. (asset ~= '' and '","subject":' .. quoted(asset) .. ',"time":"' or '","time":"')
    .. timestamp(ms)
    .. (revision and '","sequence":"' .. string.rep('0', 10 - #revision) .. revision or '')
    .. '","datacontenttype":"application/json","data":' .. data .. '}')
end

-- Ends the hold of the active job of an asset and lets the next one that was parked behind it be ready.
local function leave_asset(asset)
  redis.call('HDEL', P .. 'active', asset)
  local next = redis.call('ZPOPMIN', P .. 'parked:' .. asset)
  if next[1] then
    redis.call('ZREM', P .. 'parked', next[1])
    redis.call('ZADD', P .. 'ready', next[2], next[1])
    redis.call('HSET', P .. 'job:' .. next[1], 'state', 'ready')
  end
end

-- Remembers why an attempt ended; the newest 20 are kept.
local function remember(job, entry)
  redis.call('LPUSH', P .. 'attempts:' .. job, entry)
  redis.call('LTRIM', P .. 'attempts:' .. job, '0', '19')
end

-- Drops all that is known of a done job; its id is free again.
local function forget(job)
  redis.call('UNLINK', P .. 'job:' .. job, P .. 'edit:' .. job, P .. 'result:' .. job, P .. 'attempts:' .. job)
end

-- Ends a job well: it is done, counted, and the event of its outcome sent. `revision` as in emit.
local function finish(id, asset, generation, outcome, data, revision, doneMax, eventsMax)
  local us, ms, now = clock()
  redis.call('ZREM', P .. 'lease', id)
  redis.call('HSET', P .. 'job:' .. id, 'state', 'done', 'ended', now)
  leave_asset(asset)
  count(outcome)
  emit(outcome, id, generation .. '/' .. outcome, asset, ms, data, eventsMax, revision)
  -- Bounded in number here; bounded in time by reap. Keys with a time to live would cost a write each.
  if redis.call('RPUSH', P .. 'done', id) > doneMax then
    for _, old in ipairs(redis.call('LPOP', P .. 'done', '2')) do forget(old) end
  end
end
