-- Cancels jobs. Waiting jobs, submitted jobs that are not admitted yet, and stuck jobs end at once. The workers of running jobs
-- are notified and end them.
--
-- ARGV     P, events max, done max, reason, id*
-- Returns  one reply per job: OK, NOTIFIED (its worker will stop it), PUBLISHING (too late: its version is being
--          published), ENDED, GONE (no such job; a part of a job ends with it), LATER (its record has a later format),
--          ERROR and a sentence (its record is damaged)
-- Crash    If the worker does not end a flagged job, reap ends it when the lease expires.
local reason = ARGV[4]

-- Cancels a member of a batch that is still in its stream: it ends, and its bit keeps its entry from becoming a job. An entry of
-- a batch stream that is no longer read, or beyond the batch's seal, is not a member.
local function cancel_in_stream(id)
  local batch, number = member_of(id)
  local key = batch and P .. 'batch:' .. batch
  local b = key and call('HMGET', key, 'admitted', 'sealed', 'tenant', 'priority')
  if not b or not b[1] or not call('ZSCORE', P .. 'lanes', batch) then return 'GONE' end
  local first = stream_head(batch, tonumber(b[1]))
  local after = math.min(first + call('XLEN', P .. 'lane:' .. batch), tonumber(b[2] or 'inf'))
  if number < first or number >= after then return 'GONE' end
  if call('GETBIT', key .. ':ended', int(number)) == 1 then return 'ENDED' end
  call('HINCRBY', key, 'holes', '1')
  local j = {id = id, batch = batch, tenant = b[3] or nil, asset = asset_in_stream(batch, number, first), generation = '1'}
  local record = {'format', FORMAT, 'asset', j.asset, 'batch', batch, 'outcome', 'cancelled',
    'sequence', int(call('INCRBY', P .. 'sequence', '1')), 'arrival', int(queue_time()), 'enqueued', NOW,
    'priority', URGENCY[b[4]] and b[4] or 'bulk'}
  if b[3] and b[3] ~= 'default' then
    record[#record + 1] = 'tenant'
    record[#record + 1] = b[3]
  end
  call('HSET', P .. 'job:' .. id, unpack(record))
  local data = cancelled_data(j, reason)
  call('SET', P .. 'result:' .. id, data)
  finish(j, 'cancelled', data, 0)
  return 'OK'
end

-- Cancels a submitted job that is not admitted yet: the job ends, and admission will skip its entry. The entry cannot be removed
-- now, because an entry that leaves the stream unread counts as harm by a producer.
local function cancel_incoming(id)
  local f, entry = reserved_entry(id)
  if not f or not f.asset or not f.edit then return nil end
  local _, generation = earlier(id)
  local _, number = door_of(entry)
  local j = {id = id, asset = f.asset, tenant = f.tenant or 'default', generation = generation or '1', submitted = '1'}
  call('HSET', P .. 'reserved', id, '-' .. entry .. ' ' .. j.tenant)
  end_entry(id, j.tenant)
  call('HSET', P .. 'job:' .. id, 'format', FORMAT, 'asset', j.asset, 'tenant', j.tenant, 'generation', j.generation,
    'priority', f.priority or 'normal', 'digest', digest(f.asset, f.edit, f.fields), 'named', '1', 'submitted', '1',
    'sequence', int(call('INCRBY', P .. 'sequence', '1')), 'arrival', arrived(number, 0), 'enqueued', NOW)
  weigh(j, 1)  -- cancel subtracts it again
  cancel(j, reason)
  return 'OK'
end

local function one(id)
  local j = load(id)
  if not j then return cancel_incoming(id) or cancel_in_stream(id) end
  if is_later(j) then return 'LATER' end
  if j.parent then return 'GONE' end
  if ENDED[j.state] then return 'ENDED' end
  if j.state == 'committing' then return 'PUBLISHING' end
  require_whole(j)
  if j.state ~= 'active' then
    cancel(j, reason)
    return 'OK'
  end
  call('HSET', P .. 'job:' .. id, 'cancel', reason)
  notify_workers('job', id)
  return 'NOTIFIED'
end

local out = {}
for i = 5, #ARGV do out[#out + 1] = guarded(one, ARGV[i]) end
settle()
return out
