-- Turns entries of the ingress stream into jobs, or into dead letters when their envelope is wrong.
--
-- ARGV   P, entries at most, asset bytes max, edit bytes max, id length max, events max
-- Returns {jobs made ready, entries taken}
-- Crash  An entry is in the stream or it is a job, never both and never neither: one script does it.
local limit, assetMax, editMax, idMax, eventsMax =
  ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local us, ms, now = clock()
local made, last = 0, nil
local entries = redis.call('XRANGE', P .. 'in', '-', '+', 'COUNT', limit)
if #entries == 0 then return {0, 0} end
-- Numbers for all of them at once; those of entries that become no job are not used.
local sequence = redis.call('INCRBY', P .. 'sequence', #entries) - #entries

-- Text of a producer inside a sentence of ours: short, and plain ASCII whatever it was.
local function shown(text) return quoted((text:sub(1, 80):gsub('[^%g ]', '?'))) end

-- Whether text is UTF-8, by the table of well-formed byte sequences of the Unicode Standard (3-7).
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

-- Why the envelope is wrong: code, sentence; nil when it is right.
local function fault(f, unknown, size)
  if unknown then
    return 'unknownField', 'XADD field ' .. shown(unknown)
      .. ' is not a field of a job; known: asset, edit, id. Check the spelling.'
  end
  for _, name in ipairs({'asset', 'edit'}) do
    if not f[name] then
      return 'missingField', 'XADD field ' .. name .. ' is missing; a job needs asset and edit.'
    end
  end
  if #f.asset > assetMax then
    return 'oversizedField', 'asset has ' .. #f.asset .. ' bytes; at most ' .. assetMax .. ' are allowed.'
  end
  if not is_utf8(f.asset) then
    return 'invalidValue', 'asset ' .. shown(f.asset) .. ' is not UTF-8; file names are given in UTF-8.'
  end
  if #f.edit > editMax then
    return 'oversizedField', 'edit has ' .. #f.edit .. ' bytes; at most ' .. editMax .. ' are allowed.'
  end
  if f.id and (#f.id > idMax or not f.id:match('^[%w][%w%._%-]*$')) then
    return 'invalidValue', 'id ' .. shown(f.id) .. ' is not a job id: 1 to ' .. idMax
      .. " letters, digits, '.', '_' or '-', starting with a letter or digit."
  end
end

for _, entry in ipairs(entries) do
  local f, unknown = {}, nil
  for i = 1, #entry[2], 2 do
    local name = entry[2][i]
    if name == 'asset' or name == 'edit' or name == 'id' then f[name] = entry[2][i + 1]
    else unknown = unknown or name end
  end
  last = entry[1]
  local code, message = fault(f, unknown)
  if code then
    -- Under the producer's own id where that is free, so that the producer finds it again.
    local id = f.id
    if not id or #id > idMax or not id:match('^[%w][%w%._%-]*$')
      or redis.call('EXISTS', P .. 'job:' .. id) == 1 then id = last end
    local asset = f.asset or ''
    if #asset > assetMax or not is_utf8(asset) then
      asset = asset:sub(1, assetMax):gsub('[\128-\255]', '?')
    end
    redis.call('HSET', P .. 'job:' .. id, 'state', 'dead', 'asset', asset, 'generation', '1',
      'attempts', '0', 'crashes', '0', 'enqueued', now, 'ended', now, 'code', code, 'message', message,
      'malformed', '1')
    redis.call('ZADD', P .. 'dead', now, id)
    count('failed')
    emit('failed', id, '1/failed', asset, ms, '{"asset":' .. quoted(asset) .. ',"attempt":0,"error":{"code":'
      .. quoted(code) .. ',"message":' .. quoted(message)
      .. ',"permanent":true},"generation":1,"job":' .. quoted(id) .. '}', eventsMax)
  else
    local id = f.id or last
    local known = redis.call('HGET', P .. 'job:' .. id, 'asset')
    if not known then
      sequence = sequence + 1
      redis.call('HSET', P .. 'job:' .. id, 'state', 'ready', 'asset', f.asset, 'generation', '1',
        'attempts', '0', 'crashes', '0', 'enqueued', now, 'sequence', int(sequence))
      redis.call('SET', P .. 'edit:' .. id, f.edit)
      redis.call('ZADD', P .. 'ready', int(sequence), id)
      made = made + 1
    elseif known == f.asset and redis.call('GET', P .. 'edit:' .. id) == f.edit then
      count('duplicates')
    else
      count('conflicts')
      emit('conflict', id, 'conflict/' .. last, f.asset, ms, '{"asset":' .. quoted(f.asset) .. ',"entry":'
        .. quoted(last) .. ',"job":' .. quoted(id) .. ',"message":'
        .. quoted('job ' .. id .. ' exists with another asset or edit; this one was not taken. '
        .. 'Use a new id for a new edit.') .. '}', eventsMax)
    end
  end
end
local time, seq = last:match('^(%d+)%-(%d+)$')
redis.call('XTRIM', P .. 'in', 'MINID', '=', time .. '-' .. int(seq + 1))
if made > 0 then count('admitted', made) end
return {made, #entries}
