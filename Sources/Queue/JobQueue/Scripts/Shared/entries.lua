-- The rules for producers: the fields of an entry of the ingress stream, and of a batch's stream.
local ASSET_MAX, EDIT_MAX, ID_MAX, BATCH_MAX, COST_MAX =
  tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local ENTRY_FIELDS = {'asset', 'edit', 'id', 'tenant', 'priority', 'cost', 'notBefore', 'deadline',
  'replace', 'batch', 'seal', 'cap', 'total', 'traceparent'}
local LANE_FIELDS = {'asset', 'edit', 'cost', 'arrived'}

-- Returns the known fields of an entry by name, and the first unknown name.
local known = {}
for _, names in ipairs({ENTRY_FIELDS, LANE_FIELDS}) do
  known[names] = {}
  for _, name in ipairs(names) do known[names][name] = true end
end
local function fields(pairs, names)
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
    for _, name in ipairs({'asset', 'id', 'notBefore', 'deadline', 'replace', 'traceparent'}) do
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
