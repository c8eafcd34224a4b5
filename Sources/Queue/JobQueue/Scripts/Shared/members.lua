-- Members of a batch that are still entries of its stream.
-- Returns the batch and the number of a member's id; nil if it is not one. Numbers have at most 15 digits, which Lua holds.
local function member_of(id)
  local batch, number = id:match('^(.*):(%d+)$')
  if batch and #number <= 15 then return batch, tonumber(number) end
end

-- Returns the number of the first entry of a batch's stream. Entries before it may have left the stream unread: they never become
-- jobs, and the next feeding counts them as cancelled.
local function stream_head(batch, admitted)
  local state = stream_state(P .. 'lane:' .. batch)
  return state and math.max(admitted, state.gone) or admitted
end

local NAME_MAX = 1024  -- the maximum length of an asset, in bytes
local LOOKUP_MAX = 100  -- the maximum number of entries that are read to find one

-- Returns the asset of the entry with a number; an empty text if it has none, or if it is not found in a bounded time. Producers
-- number entries 1-1, 1-2, …: then its id is known. In a stream of other ids, only the first ones are searched.
local function asset_in_stream(batch, number, head)
  local stream, found = P .. 'lane:' .. batch, nil
  local first = call('XRANGE', stream, '-', '+', 'COUNT', '1')[1]
  local last = call('XREVRANGE', stream, '+', '-', 'COUNT', '1')[1]
  local from, to = first and first[1]:match('^1%-(%d+)$'), last and last[1]:match('^1%-(%d+)$')
  if from and to and #to <= 15 and to - from + 1 == call('XLEN', stream) then
    local id = '1-' .. int(from + number - head)
    found = call('XRANGE', stream, id, id)[1]
  elseif number - head < LOOKUP_MAX then
    found = call('XRANGE', stream, '-', '+', 'COUNT', int(number - head + 1))[number - head + 1]
  end
  for i = 1, found and #found[2] or 0, 2 do
    local value = found[2][i + 1]
    if found[2][i] == 'asset' and #value <= NAME_MAX and is_utf8(value) and not value:find('%c') then return value end
  end
  return ''
end
