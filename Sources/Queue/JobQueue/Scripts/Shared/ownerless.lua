-- Removes a batch stream that has no batch: its entries cannot become jobs any more, and a later batch of that name would
-- run them with its own edit. Returns the number of entries that were removed.
local function end_stream(batch)
  local entries = call('XLEN', P .. 'lane:' .. batch)
  call('UNLINK', P .. 'lane:' .. batch)
  call('HDEL', P .. 'unopened', batch)
  if entries > 0 then count('membersDropped', entries) end
  return entries
end
