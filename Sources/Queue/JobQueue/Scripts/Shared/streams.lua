-- Harm that the permission to XADD allows and no ACL forbids: XADD MAXLEN and MINID drop unread entries, and an explicit id
-- far in the future makes every later XADD fail. The functions below detect and report both.
--
-- Hash ingress of an ingress stream: `gone`, the known number of entries that have left the stream; `lost` and `lostAt` of
-- entries that left it unread; `renewals`, `renewedAt`. For a batch stream, `admitted` of its batch is the known number.
local FUTURE_MAX = 3600 * 1000  -- the maximum lead of an id over clock and queue, in ms: clocks differ, but not by an hour

-- Returns the number of a stream's entries, of its nodes, and of the entries that have left it, and whether its last id is
-- beyond any clock; nil if there is no stream. FULL COUNT 1 reads one entry, XINFO without it reads two, and a producer's entry
-- may be large.
local function stream_state(key)
  if call('EXISTS', key) == 0 then return nil end
  local info, facts = call('XINFO', 'STREAM', key, 'FULL', 'COUNT', '1'), {}
  for i = 1, #info, 2 do facts[info[i]] = info[i + 1] end
  return {length = facts.length, nodes = facts['radix-tree-keys'], gone = facts['entries-added'] - facts.length,
    ahead = tonumber(facts['last-generated-id']:match('^%d+')) > queue_time() / 1000 + FUTURE_MAX}
end

local function harmed(stream, what, number, message)
  count(what, number)
  -- A batch stream without a batch may have any name.
  event('stream.harmed', 'stream/' .. stream:gsub('[^%w%._:-]', '_') .. '/' .. what .. '/' .. int(US), nil,
    '{"stream":' .. quoted(stream) .. ',"kind":"' .. what .. '","entries":' .. int(number) .. ',"message":' .. quoted(message) .. '}')
end

local function report_trimmed(stream, lost)
  harmed(stream, 'trimmed', lost, int(lost) .. ' entries of stream ' .. P .. stream .. ' were dropped before a '
    .. 'worker read them: a producer sent XTRIM, or XADD with MAXLEN or MINID. Send the jobs again for which '
    .. 'no event reports an end. With the same ids this is safe.')
end

-- Makes an empty stream whose last id is beyond any clock usable again: ids continue from the present time.
-- The count of entries that it ever had does not change.
local function renew(stream, state)
  if not state.ahead or state.length > 0 then return false end
  call('XSETID', P .. stream, int(MS + 1) .. '-0')
  harmed(stream, 'renewed', 1, 'an entry of stream ' .. P .. stream .. ' had an id in the far future, after which '
    .. 'Redis accepts no more entries: a producer sent XADD with an id instead of *. The entries that had arrived '
    .. 'were admitted, and the stream accepts entries again.')
  return true
end
