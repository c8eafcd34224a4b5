-- The event stream: CloudEvents 1.0, each appended by the script that makes the transition.

-- Returns RFC 3339 from milliseconds since 1970; the conversion of days to a date is the usual era arithmetic of the
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

local QUEUE = P:match('{(.-)}')
-- The version of jobs/event.schema.json that an event conforms to. It changes if a reader of the old version could not decode the
-- new one.
local SCHEMA = 'urn:minilab:event:1'
local STAMP
local function stamp() STAMP = STAMP or timestamp(MS) return STAMP end

local UNTENDED = 10000  -- events beyond the limit while no worker tends

-- The limit of the stream's bytes: as many events as are kept have EVENT_BYTES each on average. One with 16 renditions of a photo with a long
-- name has 24 KB, with presigned URLs 140 KB, and events are nobody's bytes. List events:marks has the id of the event with which another
-- part of EVENT_PARTS of these bytes was full; `eventBytes` of hash virtual has what came since.
local EVENT_BYTES, EVENT_PARTS = 1500, 128

-- Appends a CloudEvent. `id` is the same whenever the same fact is reported again, so that a reader can drop
-- repeats. `subject` and `data` are JSON text; `revision`, if there is one, is the asset's: ten digits
-- sort as text, as CloudEvents' extension `sequence` wants. Names of queues, jobs and batches have no
-- character that JSON would escape. `traceparent` is the job's, for CloudEvents' extension of that name. `tenant` and `folder`
-- are extensions, too: whose the job or batch is. `tend` keeps the stream at its limit; the limit here is for when no worker tends.
--
-- Readers go on behind the last entry that they have. So while the server's clock is behind, ids are of the queue's time: a server that
-- took over and lacks the last events would give ids below theirs, and its first events would be read by nobody. If the stream is beyond
-- that time, Redis continues from its last id.
local function event(type, id, subject, data, revision, traceparent, tenant, folder)
  local text = '{"specversion":"1.0","id":"' .. QUEUE .. '/' .. id .. '","source":"minilab/' .. QUEUE
    .. '","type":"org.minilab.' .. type .. (subject and '","subject":' .. subject .. ',"time":"' or '","time":"')
    .. stamp() .. '"'
    .. (tenant and ',"tenant":' .. quoted(tenant) or '') .. (folder and ',"folder":' .. quoted(folder) or '')
    .. (revision and ',"sequence":"' .. string.rep('0', 10 - #revision) .. revision .. '"' or '')
    .. (traceparent and ',"traceparent":"' .. traceparent .. '"' or '')
    .. ',"datacontenttype":"application/json","dataschema":"' .. SCHEMA .. '","data":' .. data .. '}'
  local added
  if is_behind() then
    local entry = int(math.floor(queue_time() / 1000)) .. '-*'
    added = redis.pcall('XADD', P .. 'events', 'MAXLEN', '~', int(EVENTS_MAX + UNTENDED), entry, 'event', text)
  end
  if not added or added.err then
    added = call('XADD', P .. 'events', 'MAXLEN', '~', int(EVENTS_MAX + UNTENDED), '*', 'event', text)
  end
  -- The event is told, so nothing of this may fail the call.
  local bytes = tonumber(redis.pcall('HINCRBY', P .. 'virtual', 'eventBytes', int(#text)))
  if bytes and bytes >= EVENTS_MAX * EVENT_BYTES / EVENT_PARTS then
    redis.pcall('HSET', P .. 'virtual', 'eventBytes', '0')
    redis.pcall('RPUSH', P .. 'events:marks', added)
  end
end

-- Appends an event about a job; a part of a job has no events. `tail` ends the event's id. A member of a batch whose asset is not
-- known is in the folder of its batch.
local function emit(name, j, tail, data, revision)
  if j.parent then return end
  local folder = j.batch and j.asset == '' and call('HGET', P .. 'batch:' .. j.batch, 'folder') or nil
  event('job.' .. name, j.id .. '/' .. tail, j.asset ~= '' and quoted(j.asset) or nil, data, revision, j.traceparent,
    j.tenant or 'default', folder)
end

-- Events that newer ones push out of the stream. All tenants share the stream, so a busy tenant pushes out the events of the others,
-- perhaps before these are read. The last ones of each tenant are therefore kept in stream events:of:<tenant>, and the tenant that
-- has the most of them gives up its oldest. Zset events:kept has their number by tenant.
--
-- Hash events:cut states what is lost: `tenant:<tenant>` is the last event of a tenant that is not kept any more, and `all` that of
-- tenants that are not listed. It knows this of events from `from` on, as long as the stream begins no later than at `to`: XTRIM,
-- and the limit of `event`, cut without it. `kept` is the number of all that are kept.
local CUT_STEP = 100  -- the most events that are pushed out together
local CUT_STEPS_MAX = 20  -- steps of a call: 2,000 events a second, in 3 ms
local CUT_BYTES = 4000000  -- bytes after which a call ends: Lua holds what it reads
local KEPT_EVENT_BYTES = 4096  -- a longer event is not kept by tenant
local KEPT_SHARE = 10  -- so many times fewer events are kept by tenant than in the stream
local CUT_TENANTS_MAX = 10000  -- tenants in the hash

-- Drops kept events of the tenants that have the most, until the rest is no more than `most`. Returns the number of those left.
local function drop_kept(kept, most)
  while kept > most do
    local top = call('ZRANGE', P .. 'events:kept', '0', '0', 'REV', 'WITHSCORES')
    if not top[1] then return 0 end
    local stream, has = P .. 'events:of:' .. top[1], tonumber(top[2])
    local rows = call('XRANGE', stream, '-', '+', 'COUNT', int(math.min(has, kept - most, CUT_STEP)))
    if #rows > 0 then call('HSET', P .. 'events:cut', 'tenant:' .. top[1], rows[#rows][1]) end
    if #rows == has or #rows == 0 then
      call('UNLINK', stream)
      call('ZREM', P .. 'events:kept', top[1])
      kept = kept - has
    else
      call('XTRIM', stream, 'MAXLEN', int(has - #rows))
      call('ZADD', P .. 'events:kept', 'INCR', int(-#rows), top[1])
      kept = kept - #rows
    end
  end
  return kept
end

-- Returns whether the stream has more bytes than it may. Marks of events that somebody else has cut are dropped.
local function is_heavy()
  local oldest = call('XRANGE', P .. 'events', '-', '+', 'COUNT', '1')[1]
  local ms, number = (oldest and oldest[1] or ''):match('^(%d+)%-(%d+)$')
  for _ = 1, EVENT_PARTS do
    local mark, of_mark = (call('LINDEX', P .. 'events:marks', '0') or ''):match('^(%d+)%-(%d+)$')
    if not mark or ms and (tonumber(mark) > tonumber(ms) or mark == ms and tonumber(of_mark) >= tonumber(number)) then break end
    call('LPOP', P .. 'events:marks')
  end
  return call('LLEN', P .. 'events:marks') > EVENT_PARTS and call('XLEN', P .. 'events') > CUT_STEP
end

-- Moves some of the oldest events from the stream to those that are kept by tenant. Returns their bytes.
local function push_out(some)
  local key, cut, added, bytes = P .. 'events', P .. 'events:cut', {}, 0
  local oldest = call('XRANGE', key, '-', '+', 'COUNT', int(some + 1))
  local facts = call('HMGET', cut, 'to', 'kept')
  local kept, next = tonumber(facts[2] or '0'), oldest[#oldest][1]
  if facts[1] ~= oldest[1][1] then
    call('UNLINK', cut)
    call('HSET', cut, 'from', oldest[1][1])
  end
  for i = 1, #oldest - 1 do
    local id, json = oldest[i][1], oldest[i][2][2] or ''
    bytes = bytes + #json
    -- The subject before it is JSON, in which a quotation mark has a backslash.
    local tenant = json:match('"time":"[^"]*","tenant":"([^"]*)"')
    if tenant and #json > KEPT_EVENT_BYTES then
      call('HSET', cut, 'tenant:' .. tenant, id)
    elseif tenant then
      call('XADD', P .. 'events:of:' .. tenant, id, 'event', json)
      added[tenant] = (added[tenant] or 0) + 1
    elseif not json:find('"type":"org.minilab.stream.', 1, true) then
      call('HSET', cut, 'all', id)  -- earlier releases wrote no tenant
    end
  end
  call('XTRIM', key, 'MINID', next)
  for tenant, number in pairs(added) do
    call('ZADD', P .. 'events:kept', 'INCR', int(number), tenant)
    kept = kept + number
  end
  kept = drop_kept(kept, math.floor(EVENTS_MAX / KEPT_SHARE))
  if call('HLEN', cut) > CUT_TENANTS_MAX then
    local from = call('HGET', cut, 'from')
    call('UNLINK', cut)
    call('HSET', cut, 'from', from, 'all', next)
  end
  call('HSET', cut, 'to', next, 'kept', int(kept))
  return bytes
end

-- Keeps the stream of events at its limits. A fault in what is kept beside it stops neither the caller nor the limits.
local function bound_events()
  local moved = 0
  for _ = 1, CUT_STEPS_MAX do
    local excess, is_read, heavy = call('XLEN', P .. 'events') - EVENTS_MAX, pcall(is_heavy)
    if not is_read then call('UNLINK', P .. 'events:marks') end  -- damaged: bytes count from now on
    local some = math.max(excess, is_read and heavy and CUT_STEP or 0)
    if some <= 0 or moved > CUT_BYTES then return end
    local is_moved, bytes = pcall(push_out, math.min(some, CUT_STEP))
    moved = moved + (is_moved and bytes or 0)
    if not is_moved then
      call('UNLINK', P .. 'events:cut')
      call('XTRIM', P .. 'events', 'MAXLEN', '~', excess > 0 and EVENTS_MAX or int(call('XLEN', P .. 'events') - CUT_STEP))
    end
  end
end

-- The revisions of assets whose library was set back.
--
-- Hash told has the highest revision that events told of an asset whose versions a restored library lacks. The next version of the
-- asset gets a higher one, so that a reader that keeps the highest `sequence` takes it for the newest. replay_lost.lua writes it, `claim`
-- gives it to the worker, and the event of that version removes it.
local any_told  -- checked once per script
local function told_of(asset)
  if any_told == nil then any_told = call('EXISTS', P .. 'told') == 1 end
  local told = any_told and redis.pcall('HGET', P .. 'told', asset)
  return type(told) == 'string' and tonumber(told) or nil
end

local function keep_told(asset, revision)
  if tonumber(revision) > (told_of(asset) or 0) then call('HSET', P .. 'told', asset, revision) end
  any_told = true
end

-- Notes that an event tells a revision of an asset.
local function end_told(asset, revision)
  local told = told_of(asset)
  if told and tonumber(revision) > told then call('HDEL', P .. 'told', asset) end
end
