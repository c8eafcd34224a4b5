-- What the right to XADD on a stream also allows, and nothing can forbid: XADD MAXLEN and MINID drop entries that
-- nobody has read, and an explicit id far in the future makes every later XADD fail. Here both are seen and told.
--
-- Hash ingress of an ingress stream: `gone`, how many entries have left the ingress stream as far as is known; `lost`, `lostAt` of what
-- left it unread; `renewals`, `renewedAt`. Of a lane, `admitted` of its batch is what is known.
local FUTURE_MAX = 3600 * 1000  -- ms an id may be ahead: clocks differ, but not by an hour

-- How many entries a stream has, in how many nodes, how many have left it, and whether its last id is beyond all
-- clocks; nil when there is no stream. FULL COUNT 1 reads one entry, where XINFO without it reads two; a producer's may be large.
local function stream_state(key)
  if call('EXISTS', key) == 0 then return nil end
  local info, facts = call('XINFO', 'STREAM', key, 'FULL', 'COUNT', '1'), {}
  for i = 1, #info, 2 do facts[info[i]] = info[i + 1] end
  return {length = facts.length, nodes = facts['radix-tree-keys'], gone = facts['entries-added'] - facts.length,
    ahead = tonumber(facts['last-generated-id']:match('^%d+')) > MS + FUTURE_MAX}
end

local function harmed(stream, what, number, message)
  count(what, number)
  -- A lane that nobody opened may have any name.
  event('stream.harmed', 'stream/' .. stream:gsub('[^%w%._:-]', '_') .. '/' .. what .. '/' .. int(US), nil,
    '{"stream":' .. quoted(stream) .. ',"kind":"' .. what .. '","entries":' .. int(number) .. ',"message":' .. quoted(message) .. '}')
end

local function tell_trimmed(stream, lost)
  harmed(stream, 'trimmed', lost, int(lost) .. ' entries of stream ' .. P .. stream .. ' were dropped before a '
    .. 'worker read them: somebody sent XADD with MAXLEN or MINID, or XTRIM. Jobs whose end is not told have to be '
    .. 'sent again; with the same id that is safe.')
end

-- Lets a stream take entries again whose last id is beyond all clocks, once it is empty: ids count from now on.
-- How many entries it ever had stays as it is.
local function renew(stream, state)
  if not state.ahead or state.length > 0 then return false end
  call('XSETID', P .. stream, int(MS + 1) .. '-0')
  harmed(stream, 'renewed', 1, 'an entry of stream ' .. P .. stream .. ' had an id in the far future, after which '
    .. 'Redis takes no more: somebody sent XADD with an id instead of *. What had arrived was admitted, and the '
    .. 'stream takes entries again.')
  return true
end
