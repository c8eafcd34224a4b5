-- The rules for producers: the fields of an entry of the ingress stream, and of a batch's stream.
local ASSET_MAX, EDIT_MAX, ID_MAX, BATCH_MAX, COST_MAX =
  tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local ENTRY_FIELDS = {'asset', 'edit', 'id', 'tenant', 'priority', 'cost', 'notBefore', 'deadline',
  'replace', 'batch', 'seal', 'cap', 'total', 'traceparent', 'fields'}
local LANE_FIELDS = {'asset', 'edit', 'cost', 'arrived', 'fields'}
-- The most bytes of the field `fields`, a JSON object: `ContractLimits.fieldsBytesMax`. Workers check what it contains.
local FIELDS_MAX = 1024

-- Returns the known fields of an entry by name, and the first unknown name.
local known = {}
for _, names in ipairs({ENTRY_FIELDS, LANE_FIELDS}) do
  known[names] = {}
  for _, name in ipairs(names) do known[names][name] = true end
end
local function read_fields(pairs, names)
  local f, unknown, known = {}, nil, known[names]
  for i = 1, #pairs, 2 do
    if known[pairs[i]] then f[pairs[i]] = pairs[i + 1] else unknown = unknown or pairs[i] end
  end
  return f, unknown
end

-- Quotes a producer's text inside an error message: short, and plain ASCII whatever its contents.
local function shown(text) return quoted((text:sub(1, 80):gsub('[^%w%p ]', '?'))) end

local function is_id(text, max) return #text <= (max or ID_MAX) and text:match('^[%w][%w%._%-]*$') ~= nil end

-- The id of a job may have ':' between its parts, but is no member's ('<batch>:<number>'), and not what other keys have for a batch.
local function is_job_id(text)
  return #text <= ID_MAX and text:match('^[%w][%w%._:%-]*$') ~= nil and not text:match(':%d*$')
    and not text:match('^batch:')
end

-- A member's id is its batch's id, ':' and its number, and no longer than any other id.
local BATCH_ID_MAX = ID_MAX - 1 - #int(BATCH_MAX)

-- Returns whether text is a whole number from 1 to max.
local function is_number(text, max)
  return #text <= 15 and text:match('^[1-9]%d*$') ~= nil and tonumber(text) <= max
end

-- Returns the milliseconds since 1970 of an RFC 3339 time in UTC, or nil. The usual era arithmetic, as in `timestamp`.
local function milliseconds(text)
  local y, m, d, h, min, s, rest = text:match('^(%d%d%d%d)-(%d%d)-(%d%d)T(%d%d):(%d%d):(%d%d)(.*)Z$')
  if not y or not (rest == '' or rest:match('^%.%d+$')) then return nil end
  y, m, d, h, min, s = tonumber(y), tonumber(m), tonumber(d), tonumber(h), tonumber(min), tonumber(s)
  if y < 1970 or m < 1 or m > 12 or d < 1 or d > 31 or h > 23 or min > 59 or s > 60 then return nil end
  if m <= 2 then y = y - 1 end
  local era = math.floor(y / 400)
  local yoe = y - era * 400
  local doy = math.floor((153 * (m + (m > 2 and -3 or 9)) + 2) / 5) + d - 1
  local days = era * 146097 + yoe * 365 + math.floor(yoe / 4) - math.floor(yoe / 100) + doy - 719468
  local fraction = rest == '' and 0 or math.floor(tonumber('0' .. rest) * 1000)
  return ((days * 24 + h) * 60 + min) * 60000 + s * 1000 + fraction
end

-- Returns whether text is UTF-8, by the table of well-formed byte sequences of the Unicode Standard (3-7).
local function is_utf8(text)
  if not text:find('[\128-\255]') then return true end
  local i = 1
  while i <= #text do
    local a, b = text:byte(i, i + 1)
    local more, low, high = 0, 0x80, 0xBF
    if a < 0x80 then more = 0
    elseif a >= 0xC2 and a <= 0xDF then more = 1
    elseif a >= 0xE0 and a <= 0xEF then
      more = 2
      if a == 0xE0 then low = 0xA0 elseif a == 0xED then high = 0x9F end
    elseif a >= 0xF0 and a <= 0xF4 then
      more = 3
      if a == 0xF0 then low = 0x90 elseif a == 0xF4 then high = 0x8F end
    else return false end
    if more > 0 and (not b or b < low or b > high) then return false end
    for k = 2, more do
      local c = text:byte(i + k)
      if not c or c < 0x80 or c > 0xBF then return false end
    end
    i = i + more + 1
  end
  return true
end

-- W3C Trace Context's `traceparent`, written as version 00 with the flag `sampled` alone; nil for what is not valid, which
-- is passed over. Of a later version what version 00 knows is read. Swift's `Traceparent` reads the same, as a test compares.
local function traceparent_of(text)
  local known, rest = text:sub(1, 55), text:sub(56, 56)
  if #known < 55 or not known:find('^%x%x%-%x+%-%x+%-%x%x$') or known:sub(36, 36) ~= '-' or known:find('%u') then
    return nil
  end
  local version, trace, span = known:sub(1, 2), known:sub(4, 35), known:sub(37, 52)
  if version == 'ff' or rest ~= '' and (version == '00' or rest ~= '-') or not trace:find('[^0]')
    or not span:find('[^0]') then return nil end
  return '00-' .. trace .. '-' .. span .. (tonumber(known:sub(55, 55), 16) % 2 == 1 and '-01' or '-00')
end

local function list(names) return table.concat(names, ', ') end

-- Returns the fault in the fields that a job and a member of a batch share, as a code and a sentence; nil if there is none.
local function shared_fault(f, unknown, names)
  if unknown then
    return 'unknownField', 'XADD field ' .. shown(unknown) .. ' is not a field of a job; known: '
      .. list(names) .. '. Check the spelling.'
  end
  if f.asset then
    if #f.asset > ASSET_MAX then
      return 'oversizedField', 'asset has ' .. #f.asset .. ' bytes; at most ' .. int(ASSET_MAX) .. ' are allowed.'
    end
    if not is_utf8(f.asset) then
      return 'invalidValue', 'asset ' .. shown(f.asset) .. ' is not UTF-8; file names are given in UTF-8.'
    end
    if has_controls(f.asset) then
      return 'invalidValue', 'asset ' .. shown(f.asset) .. ' has a control character, such as a line end or an '
        .. 'escape; rename the photo.'
    end
  end
  if f.edit and #f.edit > EDIT_MAX then
    return 'oversizedField', 'edit has ' .. #f.edit .. ' bytes; at most ' .. int(EDIT_MAX) .. ' are allowed.'
  end
  if f.fields and #f.fields > FIELDS_MAX then
    return 'oversizedField', 'fields has ' .. #f.fields .. ' bytes; at most ' .. int(FIELDS_MAX) .. ' are allowed.'
  end
  if f.cost and not is_number(f.cost, COST_MAX) then
    return 'invalidValue', 'cost ' .. shown(f.cost) .. ' is not a whole number of milliseconds from 1 to '
      .. int(COST_MAX) .. '.'
  end
end

-- Returns the same for an entry of a batch stream.
local function stream_fault(f, unknown)
  local code, message = shared_fault(f, unknown, LANE_FIELDS)
  if code then return code, message end
  if not f.asset then return 'missingField', 'XADD field asset is missing; an entry of a batch stream needs it.' end
  if f.arrived and not (#f.arrived <= 16 and f.arrived:match('^[1-9]%d*$')) then
    return 'invalidValue', 'arrived ' .. shown(f.arrived) .. ' is not a time in microseconds since 1970; leave it out.'
  end
end

-- Returns the same for an entry of the ingress stream.
local NAMES, OF_BATCH, NEEDED, TIMES =
  {'id', 'batch', 'tenant'}, {'seal', 'cap', 'total'}, {'asset', 'edit'}, {'notBefore', 'deadline'}
local function entry_fault(f, unknown)
  local code, message = shared_fault(f, unknown, ENTRY_FIELDS)
  if code then return code, message end
  for _, name in ipairs(NAMES) do
    local max = name == 'batch' and BATCH_ID_MAX or ID_MAX
    if f.id and name == 'id' then
      if not is_job_id(f.id) then
        return 'invalidValue', 'id ' .. shown(f.id) .. ' is not allowed: 1 to ' .. int(max) .. " letters, digits, '.', '_', "
          .. "'-' or ':', starting with a letter or digit, not with batch:, and not ending in : and a number."
      end
    elseif f[name] and not is_id(f[name], max) then
      return 'invalidValue', name .. ' ' .. shown(f[name]) .. ' is not allowed: 1 to ' .. int(max)
        .. " letters, digits, '.', '_' or '-', starting with a letter or digit."
    end
  end
  if f.priority and f.priority ~= 'interactive' and f.priority ~= 'normal' and f.priority ~= 'bulk' then
    return 'invalidValue', 'priority ' .. shown(f.priority) .. ' is none; known: interactive, normal, bulk.'
  end
  if f.batch then
    for _, name in ipairs({'asset', 'id', 'notBefore', 'deadline', 'replace', 'traceparent', 'fields'}) do
      if f[name] then
        return 'unknownField', 'an entry with batch opens or seals that batch and has no ' .. name
          .. '; its jobs are added to its lane: XADD ' .. P .. 'lane:' .. f.batch .. ' * asset ….'
      end
    end
    if not f.edit and not f.seal then
      return 'missingField', 'an entry with batch needs edit, which opens it, or seal, which closes it.'
    end
    if f.seal and not is_number(f.seal, BATCH_MAX) then
      return 'invalidValue', 'seal ' .. shown(f.seal) .. ' is not a number of jobs from 1 to ' .. int(BATCH_MAX) .. '.'
    end
    if f.cap and not is_number(f.cap, BATCH_MAX) then
      return 'invalidValue', 'cap ' .. shown(f.cap) .. ' is not a number of jobs from 1 to ' .. int(BATCH_MAX) .. '.'
    end
    if f.total and not is_number(f.total, COST_MAX * BATCH_MAX) then
      return 'invalidValue', 'total ' .. shown(f.total) .. ' is not a whole number of milliseconds.'
    end
    return
  end
  for _, name in ipairs(OF_BATCH) do
    if f[name] then return 'unknownField', 'XADD field ' .. name .. ' belongs to a batch; give batch too.' end
  end
  for _, name in ipairs(NEEDED) do
    if not f[name] then
      return 'missingField', 'XADD field ' .. name .. ' is missing; a job needs asset and edit.'
    end
  end
  for _, name in ipairs(TIMES) do
    if f[name] and not milliseconds(f[name]) then
      return 'invalidValue', name .. ' ' .. shown(f[name]) .. ' is not a time in UTC like 2026-11-21T06:00:00Z.'
    end
  end
  if f.replace and f.replace ~= 'waiting' and f.replace ~= 'running' then
    return 'invalidValue', 'replace ' .. shown(f.replace) .. ' is not known; known: waiting, running.'
  end
end

-- Removes dead jobs from Redis, permanently or after they were written to a file.

-- Counts a dead member whose record is removed. A batch is kept while some of its members can be replayed; without any it is
-- removed like other batches.
local function member_gone(batch)
  local key = P .. 'batch:' .. batch
  if call('EXISTS', key) == 0 then return end
  local gone = call('HINCRBY', key, 'gone', '1')
  local b = call('HMGET', key, 'dead', 'generation', 'finished', 'ended')
  if b[2] == b[3] and gone >= tonumber(b[1] or '0') then call('ZADD', P .. 'batches:ended', b[4] or NOW, batch) end
end

-- From a checked entry of a stream to a job.
-- Creates a job from valid fields. `j` has id, asset, tenant, priority, sequence, arrival, generation, and perhaps
-- batch, cost, named, own (an edit of its own in a batch), bytes of that or of a single job's edit, due and deadline
-- in ms, submitted, traceparent, fields.
local function create_job(j)
  local record = {'state', 'ready', 'format', j.fields and WITH_FIELDS or FORMAT, 'asset', j.asset, 'sequence', j.sequence,
    'arrival', j.arrival, 'enqueued', NOW}
  local function add(name, value) record[#record + 1] = name record[#record + 1] = value end
  if j.tenant ~= 'default' then add('tenant', j.tenant) end
  if j.priority ~= 'normal' then add('priority', j.priority) end
  if j.batch then add('batch', j.batch) end
  if j.cost then add('cost', j.cost) end
  if j.named then add('named', '1') end
  if j.own then add('own', '1') end
  if j.traceparent then add('traceparent', j.traceparent) end
  if j.fields then add('fields', j.fields) end
  if j.submitted then add('submitted', '1') end
  if j.generation ~= '1' then add('generation', j.generation) end
  if j.deadline then add('deadline', int(j.deadline)) end
  local stored = RECORD_BYTES + #j.asset + (j.bytes or 0) + #(j.fields or '')
  add('stored', int(stored))
  store(j.tenant, stored)
  if j.bytes and j.bytes > LARGE_EDIT then
    add('bytes', int(j.bytes))
  else
    j.bytes = nil
  end
  count('admitted')
  if j.due and j.due > believed() then
    record[2] = 'delayed'
    add('notBefore', int(j.due))
    call('HSET', P .. 'job:' .. j.id, unpack(record))
    call('ZADD', P .. 'delayed', int(j.due), j.id)
    call('ZADD', P .. 'later:' .. j.asset, j.arrival, j.id)
  else
    weigh(j, 1)
    call('HSET', P .. 'job:' .. j.id, unpack(record))
    j.state = 'ready'
    make_ready(j)
  end
end

-- Ends the jobs of an asset that wait in one of its zsets and arrived earlier. In a longer chain the later ones are claimed
-- nevertheless, and then the library knows that a newer edit was published.
local REPLACED_MAX = '1000'
local function replace_waiting(zset, state, arrival, reason)
  for _, id in ipairs(call('ZRANGEBYSCORE', zset, '-inf', '(' .. arrival, 'LIMIT', '0', REPLACED_MAX)) do
    local j = load_any(id)
    if j and j.state == state then cancel(j, reason) else call('ZREM', zset, id) end
  end
end

-- Ends the jobs of an asset that a new job replaces: those that arrived earlier.
local function replace(asset, which, arrival, reason)
  replace_waiting(P .. 'parked:' .. asset, 'parked', arrival, reason)
  replace_waiting(P .. 'later:' .. asset, 'delayed', arrival, reason)
  local holder = call('HGET', P .. 'assets', asset)
  local h = holder and load_any(holder)
  if not h or tonumber(arrival_of(h)) >= tonumber(arrival) then return end
  if WAITS[h.state] then
    cancel(h, reason)
  elseif h.state == 'active' and which == 'running' then
    call('HSET', P .. 'job:' .. holder, 'cancel', reason)
    notify_workers('job', holder)
  end
end

-- Makes an entry that never was a job dead, as one of its tenant. It has nothing to run, so the oldest such records may be dropped; jobs
-- that died are never dropped here.
local function make_malformed_dead(j, code, message, most)
  if #j.asset > ASSET_MAX or not is_utf8(j.asset) then
    j.asset = j.asset:sub(1, ASSET_MAX):gsub('[\128-\255]', '?')
  end
  call('HSET', P .. 'job:' .. j.id, 'asset', j.asset, 'enqueued', NOW, 'malformed', '1',
    'format', FORMAT, 'stored', int(RECORD_BYTES + #j.asset))
  if j.tenant ~= 'default' then call('HSET', P .. 'job:' .. j.id, 'tenant', j.tenant) end
  store(j.tenant, RECORD_BYTES + #j.asset)
  if j.batch then call('HSET', P .. 'job:' .. j.id, 'batch', j.batch) end
  j.malformed = '1'
  weigh(j, 1)  -- make_dead subtracts it again
  make_dead(j, code, message, death(j, 0, code, message))
  if call('RPUSH', P .. 'malformed', j.id) <= most then return end
  guarded(function()
    local old = call('LPOP', P .. 'malformed')
    local o = call('HMGET', P .. 'job:' .. old, 'malformed', 'batch', 'group', 'stored', 'tenant')
    if o[1] then
      unstore(o[5], o[4])
      call('ZREM', P .. 'dead', old)
      call('ZREM', P .. 'dead:large', old)
      leave_group(o[3])
      call('UNLINK', P .. 'job:' .. old)
      if o[2] then member_gone(o[2]) end
      count('malformedDropped')
    end
  end)
end

-- Shared by the doctor's scripts. A script runs alone, so it sees a live queue at one moment, and its findings are real.
--
-- The record of a job is authoritative: every script checks its state and fence before it writes. So repairs change the
-- structures to match the record, never the other way round.
local repair = ARGV[4] == '1'
local faults = {}

-- Records a fault, after its repair if that is requested and possible: the row is kind, subject, detail, mended (1).
local function fault(kind, subject, detail, mend)
  if repair and mend then mend() end
  faults[#faults + 1] = {kind, subject, detail or '', repair and mend and '1' or ''}
end

-- Returns the job that holds an asset by its record, or nil.
local function right_holder(asset)
  local id = call('HGET', P .. 'assets', asset)
  local h = id and load_any(id)
  if h and h.asset == asset and HOLDS[h.state] then return h end
end

-- Gives an asset without a valid holder to the first job that is parked behind it, or to no job.
-- This is safe: a job is rendered only while it holds its asset, and no other job holds this one.
local function free_asset(asset)
  for _ = 1, 1000 do
    local first = call('ZRANGE', P .. 'parked:' .. asset, '0', '0')[1]
    local j = first and load_any(first)
    if not first or j and j.state == 'parked' then break end
    call('ZREM', P .. 'parked:' .. asset, first)
  end
  any_parked = true  -- regardless of the contents of zset parked
  leave_asset({asset = asset})
end
