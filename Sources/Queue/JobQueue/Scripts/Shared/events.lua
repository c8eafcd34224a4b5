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
  if is_behind() then
    local entry = int(math.floor(queue_time() / 1000)) .. '-*'
    if not redis.pcall('XADD', P .. 'events', 'MAXLEN', '~', int(EVENTS_MAX + UNTENDED), entry, 'event', text).err then return end
  end
  call('XADD', P .. 'events', 'MAXLEN', '~', int(EVENTS_MAX + UNTENDED), '*', 'event', text)
end

-- Appends an event about a job; a part of a job has no events. `tail` ends the event's id. A member of a batch whose asset is not
-- known is in the folder of its batch.
local function emit(name, j, tail, data, revision)
  if j.parent then return end
  local folder = j.batch and j.asset == '' and call('HGET', P .. 'batch:' .. j.batch, 'folder') or nil
  event('job.' .. name, j.id .. '/' .. tail, j.asset ~= '' and quoted(j.asset) or nil, data, revision, j.traceparent,
    j.tenant or 'default', folder)
end
