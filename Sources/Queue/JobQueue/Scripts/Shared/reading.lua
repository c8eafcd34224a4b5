-- Reading and trimming entries of a stream.
-- Returns how many of the first entries of a stream may be read at once: as many as fit into `bytes_max`, and at least one. A
-- producer may send fields of 100 MB, and Lua holds everything that it reads.
--
-- Redis reports no entry's size, but the size of nodes, each of which has one or more entries: MEMORY USAGE uses the mean of
-- the first nodes, as many as requested, for all but the last. So the first n nodes, and with them the first n entries, have at
-- most the bytes computed below. These are the real sizes of the entries to be read, not a sample of others.
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

-- Removes entries that were read from a stream. An id may have more digits than Lua's numbers hold, so none is computed.
local function trim(key, entries)
  local last = entries[#entries][1]
  call('XTRIM', key, 'MINID', '=', last)
  call('XDEL', key, last)
end
