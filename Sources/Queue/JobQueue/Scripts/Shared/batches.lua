-- Batches: many jobs with one edit, counted together.
--
-- Hash batch:<batch> has the request and the counts `admitted`, `done`, `dead`, `cancelled`; string
-- batch:<batch>:edit the edit; stream lane:<batch> the entries that are not yet jobs; bitmap batch:<batch>:ended one bit
-- per job that has ended. A job's bit states whether the job is counted, so no job can be counted twice, and a
-- sweep finds the jobs that have not ended. Members are called <batch>:<number>, from 0 in the stream's order.
local tallies = {}

local function tally(batch, name, by)
  local t = tallies[batch] or {}
  tallies[batch] = t
  t[name] = (t[name] or 0) + by
end

-- Counts a member that ended: `how` is done, dead or cancelled; `ms` is the time for which a worker held it.
local function member_ended(j, how, ms, is_render)
  if not j.batch then return end
  if call('SETBIT', P .. 'batch:' .. j.batch .. ':ended', j.id:match(':(%d+)$'), '1') == 1 then return end
  tally(j.batch, how, 1)
  if ms > 0 then tally(j.batch, 'milliseconds', ms) end
  if is_render then add_cost(P .. 'batch:' .. j.batch, ms, j.cost) end
  if j.cost then tally(j.batch, 'costEnded', tonumber(j.cost)) end
end

-- Makes the stream of a batch whose window was full eligible for feeding again, if no more than `most` of its members are open.
local function refill(batch, most)
  local key = P .. 'batch:' .. batch
  local b = call('HMGET', key, 'admitted', 'done', 'dead', 'cancelled', 'holes')
  if b[1] - (b[2] or 0) - (b[3] or 0) - (b[4] or 0) + (b[5] or 0) > most then return end
  call('HDEL', key, 'refill')
  call('ZADD', P .. 'lanes', 'XX', '0', batch)
  signal_admission()
end

-- Reports once per generation that all members have ended.
local function complete_batch(batch)
  local key = P .. 'batch:' .. batch
  local b = call('HMGET', key, 'sealed', 'done', 'dead', 'cancelled', 'generation', 'finished', 'tenant',
    'opened', 'milliseconds', 'refill', 'submitted', 'folder')
  if b[10] then refill(batch, tonumber(b[10])) end
  local done, dead, cancelled = tonumber(b[2] or 0), tonumber(b[3] or 0), tonumber(b[4] or 0)
  if not b[1] or b[5] == b[6] or done + dead + cancelled < tonumber(b[1]) then return end
  call('HSET', key, 'finished', b[5], 'ended', NOW)
  if b[11] then call('HDEL', P .. 'backlog:' .. b[7], 'batch:' .. batch) end
  call('ZADD', P .. 'batches:ended', NOW, batch)
  count('batches')
  event('batch.completed', 'batch/' .. batch .. '/' .. b[5] .. '/completed', nil,
    '{"batch":"' .. batch .. '","cancelled":' .. int(cancelled) .. ',"completed":' .. int(done)
    .. ',"failed":' .. int(dead) .. ',"generation":' .. b[5] .. ',"jobs":' .. b[1]
    .. ',"milliseconds":' .. (b[9] or '0') .. ',"openedAt":"' .. timestamp(tonumber(b[8]))
    .. '","tenant":' .. quoted(b[7]) .. '}', nil, nil, b[7], b[12])
end

-- Writes all tallies of this script.
local function settle()
  for batch, names in pairs(tallies) do
    for name, by in pairs(names) do call('HINCRBY', P .. 'batch:' .. batch, name, int(by)) end
    complete_batch(batch)
  end
  settle_costs()
  settle_running()
  settle_ahead()
  settle_stored()
  wake_workers()
  for name, by in pairs(counted) do call('HINCRBY', P .. 'counters', name, int(by)) end
end
