-- Removes dead jobs from Redis, permanently or after they were written to a file.

-- Counts a dead member whose record is removed. A batch is kept while some of its members can be replayed; without any it is
-- removed like other batches.
local function member_gone(batch)
  local key = P .. 'batch:' .. batch
  if call('EXISTS', key) == 0 then return end
  local gone = call('HINCRBY', key, 'gone', '1')
  local b = call('HMGET', key, 'dead', 'generation', 'finished', 'ended')
  if b[2] == b[3] and gone >= tonumber(b[1] or '0') then call('ZADD', P .. 'batches:ended', b[4] or NOW, batch) end
end
