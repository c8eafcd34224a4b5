-- Batch streams without a batch: a producer added entries, but no batch of this name was opened.
--
-- Hash unopened has for each that `tend` has seen `<entries that it ever had> <lived>`: since when it is unchanged. Redis' own idle
-- time of a key (OBJECT IDLETIME) is that of a clock that may step; a step back makes it 194 days.
-- Returns the time for which a batch stream without a batch is known to be unchanged, in ms, and the entries that it ever had; nil if
-- it has a batch, or if an entry of the ingress stream may open one.
local function unopened_for(batch)
  local stream = P .. 'lane:' .. batch
  if call('EXISTS', stream) == 0 or call('EXISTS', P .. 'batch:' .. batch) == 1 or call('XLEN', P .. 'in') > 0 then
    return nil
  end
  local state = stream_state(stream)
  local had = int(state.gone + state.length)
  local known, since = (call('HGET', P .. 'unopened', batch) or ''):match('^(%d+) (%d+)$')
  return known == had and lived_time() - since or 0, had
end

-- Removes such a batch stream and reports it.
local function end_unopened(batch)
  local entries = end_stream(batch)
  if entries == 0 then return end
  harmed('lane:' .. batch, 'unopened', entries, int(entries) .. ' entries of batch stream ' .. P .. 'lane:' .. batch
    .. ' were removed: nobody opened a batch of this name. Open the batch first, then send them again.')
end
