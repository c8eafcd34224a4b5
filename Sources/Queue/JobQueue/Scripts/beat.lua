-- Renews the leases of a worker's jobs, confirms their claims, and records that the worker is alive.
--
-- Reports the progress of a long render to readers, once per tenth.
--
-- ARGV     P, events max, done max, lease ms, worker, its description (JSON), (id, fence, stage, frames done, frames)*; the last
--          two are `` for a job without frames
-- Returns  one reply per job: K keep; C cancel, as of a part whose job has ended; E ended by this hold, and the reply to that is
--          on its way; L lost: another worker holds it, or ended it. Behind them 1 if another living worker has this one's name
-- Crash    No effect: a beat that did not arrive leaves the lease unchanged.
local lease, worker, out = tonumber(ARGV[4]), ARGV[5], {}
local ends = int(MS + lease)
-- When the worker's process started, by its own clock: another one of its name is not the one that held a job (reap.lua).
local start = ARGV[6]:match('"startedAt":"([^"\\]+)"')

-- Records the number of rendered frames of a movie. Each tenth is reported once, even if an attempt starts again. A damaged record must
-- not keep the leases of the worker's other jobs from being renewed.
local function progress(id, done, frames)
  local k = P .. 'job:' .. id
  call('HSET', k, 'framesDone', done, 'frames', frames)
  local tenth = math.floor(done * 10 / frames)
  if tenth < 1 or tenth > 9 or tenth <= (tonumber(call('HGET', k, 'tenthTold') or '0') or 0) then return end
  call('HSET', k, 'tenthTold', int(tenth))
  local j = load(id)
  emit('progressed', j, j.generation .. '/progressed/' .. int(tenth), '{"asset":' .. quoted(j.asset) .. ',"attempt":'
    .. int(j.attempts + j.crashes + 1) .. ',"frames":' .. frames .. ',"framesDone":' .. done .. ',"generation":'
    .. j.generation .. ',"job":"' .. id .. '","worker":' .. quoted(worker) .. '}')
end

-- Returns whether the batch of a job is cancelled. That of a damaged one is not known to be.
local function is_batch_cancelled(batch)
  return batch and type(redis.pcall('HGET', P .. 'batch:' .. batch, 'cancel')) == 'string'
end

local function renew_lease(id, fence, stage, done, frames)
  local k = P .. 'job:' .. id
  local j = call('HMGET', k, 'state', 'fence', 'cancel', 'stage', 'batch', 'handedOn', 'confirmed')
  if not j[1] or j[2] ~= fence then
    -- The record of a part is dropped with its job, and when this worker's end of it arrives.
    return not j[1] and id:find('+', 1, true) and 'C' or 'L'
  end
  if j[6] or not HELD[j[1]] then return (j[6] or j[1] == 'done' or j[1] == 'stuck') and 'E' or 'L' end
  call('ZADD', P .. 'lease', 'XX', ends, id)
  if j[7] ~= fence then call('HSET', k, 'confirmed', fence, unpack(start and {'start', start} or {})) end
  if stage ~= '' and j[4] ~= stage then call('HSET', k, 'stage', stage) end
  if frames ~= '' then guarded(progress, id, done, frames) end
  return j[1] == 'active' and (j[3] or is_batch_cancelled(j[5])) and 'C' or 'K'
end

-- Returns whether two living workers have one name: the process whose report another one replaced beats again. One that was started anew
-- does not beat again as the earlier one. Hash workers:shared has the last 16 that were replaced, the newest first, and when one came back.
-- Each process has a `run` of its own; of one of an earlier release the start tells, which others of the same second have, too.
local function shares_name()
  local run, report = ARGV[6]:match('"run":"(%x+)"') or start, report_of(worker)
  local before = report.run or report.startedAt
  if not run or type(before) ~= 'string' or before == run then return false end
  local replaced, others, has_come_back = redis.pcall('HGET', P .. 'workers:shared', worker), {before}, false
  for other in (type(replaced) == 'string' and replaced:match('^(.*) %d+$') or ''):gmatch('%S+') do
    if other == run then has_come_back = true elseif #others < 16 then others[#others + 1] = other end
  end
  call('HSET', P .. 'workers:shared', worker, table.concat(others, ' ') .. ' ' .. (has_come_back and NOW or '0'))
  return has_come_back
end

for i = 7, #ARGV, 5 do
  local answer = guarded(renew_lease, unpack(ARGV, i, i + 4))
  out[#out + 1] = #answer == 1 and answer or 'L'
end
-- Removed after ten leases without a beat: see reap.
call('ZADD', P .. 'workers', NOW, worker)
out[#out + 1] = guarded(shares_name) == true and '1' or '0'
call('HSET', P .. 'workers:info', worker, ARGV[6])
return out
