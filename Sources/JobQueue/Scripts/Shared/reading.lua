-- Entries of a stream, read and taken off.

-- How many of the first entries of a stream are read at once: as many as `bytes_max` holds, and one at least. A
-- producer may send fields of 100 MB, and Lua holds all that it reads.
--
-- Redis tells the size of no entry, but of nodes, of which each has an entry or more: MEMORY USAGE takes the mean of
-- the first nodes, as many as are asked for, for the size of all but the last. So the first n nodes, and with them the
-- first n entries, have at most the bytes below; the real sizes of what is about to be read, not a sample of others.
local function affordable(key, state, most, bytes_max)
  if not state or state.length == 0 then return 0 end
  local n = math.min(most, state.length)
  while n > 1 do
    local usage = call('MEMORY', 'USAGE', key, 'SAMPLES', int(n))
    local bytes = state.nodes > n and usage / (state.nodes - 1) * n or usage
    if bytes <= bytes_max then break end
    n = math.floor(n / 2)
  end
  return n
end

-- Takes what was read off a stream. An id may have more digits than Lua's numbers, so none is computed.
local function trim(key, entries)
  local last = entries[#entries][1]
  call('XTRIM', key, 'MINID', '=', last)
  call('XDEL', key, last)
end
