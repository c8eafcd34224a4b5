-- Reopens the batch of a dead member. The batch will be completed once more, with another event. Returns false if the batch was
-- dropped, or does not count this member.
local function reopen_batch(id, batch, cost)
  local b = P .. 'batch:' .. batch
  if call('EXISTS', b) == 0 or call('SETBIT', b .. ':ended', id:match(':(%d+)$'), '0') == 0 then return false end
  call('HINCRBY', b, 'dead', '-1')
  if cost then call('HINCRBY', b, 'costEnded', int(-cost)) end
  local at = call('HMGET', b, 'generation', 'finished', 'submitted', 'tenant')
  if at[1] == at[2] then
    call('HINCRBY', b, 'generation', '1')
    call('HDEL', b, 'ended', 'cancel')
    call('ZREM', P .. 'batches:ended', batch)
    if at[3] then call('HSET', P .. 'backlog:' .. at[4], 'batch:' .. batch, '1') end
  end
  return true
end
