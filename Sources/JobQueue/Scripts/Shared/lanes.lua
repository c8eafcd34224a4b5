local LOST_AT_ONCE_MAX = 10000

-- Counts members of a batch as cancelled whose entries left its lane unread, so that the batch can end; a bounded
-- number, and the next call goes on. Returns how many have
-- left the lane as far as is counted now.
local function count_trimmed(batch, admitted, holes, sealed, state)
  local lost = math.min(state.gone - admitted, LOST_AT_ONCE_MAX)
  if sealed then lost = math.min(lost, tonumber(sealed) - admitted) end
  if lost <= 0 then return admitted end
  local key = P .. 'batch:' .. batch
  for at = admitted, admitted + lost - 1 do
    if holes > 0 and call('GETBIT', key .. ':ended', int(at)) == 1 then
      holes = holes - 1  -- was cancelled by its name before it was a job
    else
      member_ended({id = batch .. ':' .. int(at), batch = batch}, 'cancelled', 0)
    end
  end
  call('HSET', key, 'admitted', int(admitted + lost), 'holes', int(holes))
  tell_trimmed('lane:' .. batch, lost)
  return admitted + lost
end
