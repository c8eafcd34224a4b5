-- Batch streams without a batch: a producer added entries, but no batch of this name was opened.
-- Returns the idle time of a batch stream without a batch, in ms; nil if it has one, or if an entry of the ingress stream may
-- open one.
local function unopened_for(batch)
  local stream = P .. 'lane:' .. batch
  if call('EXISTS', stream) == 0 or call('EXISTS', P .. 'batch:' .. batch) == 1 or call('XLEN', P .. 'in') > 0 then
    return nil
  end
  return call('OBJECT', 'IDLETIME', stream) * 1000
end

-- Removes such a batch stream and reports it.
local function end_unopened(batch)
  local entries = end_stream(batch)
  if entries == 0 then return end
  harmed('lane:' .. batch, 'unopened', entries, int(entries) .. ' entries of batch stream ' .. P .. 'lane:' .. batch
    .. ' were removed: nobody opened a batch of this name. Open the batch first, then send them again.')
end
