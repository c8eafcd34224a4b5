local LOST_AT_ONCE_MAX = 10000

-- Counts members of a batch as cancelled whose entries left its stream unread, so that the batch can be completed. The number per
-- call is bounded, and the next call continues. Returns the number of entries that have left the stream according to the new count.
local function count_trimmed(batch, admitted, holes, sealed, state)
  local lost = math.min(state.gone - admitted, LOST_AT_ONCE_MAX)
  if sealed then lost = math.min(lost, tonumber(sealed) - admitted) end
  if lost <= 0 then return admitted end
  local key = P .. 'batch:' .. batch
  for at = admitted, admitted + lost - 1 do
    if holes > 0 and call('GETBIT', key .. ':ended', int(at)) == 1 then
      holes = holes - 1  -- was cancelled by its name before it became a job
    else
      member_ended({id = batch .. ':' .. int(at), batch = batch}, 'cancelled', 0)
    end
  end
  call('HSET', key, 'admitted', int(admitted + lost), 'holes', int(holes))
  report_trimmed('lane:' .. batch, lost)
  return admitted + lost
end
