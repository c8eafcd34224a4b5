-- Renews the leases of a worker's jobs, confirms their claims, and records that the worker is alive.
--
-- Reports the progress of a long render to readers, once per tenth.
--
-- ARGV     P, events max, done max, lease ms, worker, its description (JSON), (id, fence, stage, frames done, frames)*; the last
--          two are `` for a job without frames
-- Returns  one reply per job: K keep; C cancel, as of a part whose job has ended; E ended by this hold, and the reply to that is
--          on its way; L lost: another worker holds it, or ended it
-- Crash    No effect: a beat that did not arrive leaves the lease unchanged.
local lease, worker, out = tonumber(ARGV[4]), ARGV[5], {}
local ends = int(MS + lease)

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

for i = 7, #ARGV, 5 do
  local k = P .. 'job:' .. ARGV[i]
  local j = call('HMGET', k, 'state', 'fence', 'cancel', 'stage', 'batch', 'handedOn', 'confirmed')
  if not j[1] or j[2] ~= ARGV[i + 1] then
    -- The record of a part is dropped with its job, and when this worker's end of it arrives.
    out[#out + 1] = not j[1] and ARGV[i]:find('+', 1, true) and 'C' or 'L'
  elseif j[6] or not HELD[j[1]] then
    out[#out + 1] = (j[6] or j[1] == 'done' or j[1] == 'stuck') and 'E' or 'L'
  else
    call('ZADD', P .. 'lease', 'XX', ends, ARGV[i])
    if j[7] ~= ARGV[i + 1] then call('HSET', k, 'confirmed', ARGV[i + 1]) end
    if ARGV[i + 2] ~= '' and j[4] ~= ARGV[i + 2] then call('HSET', k, 'stage', ARGV[i + 2]) end
    if ARGV[i + 4] ~= '' then guarded(progress, ARGV[i], ARGV[i + 3], ARGV[i + 4]) end
    local cancelled = j[3] or j[5] and call('HGET', P .. 'batch:' .. j[5], 'cancel')
    out[#out + 1] = cancelled and j[1] == 'active' and 'C' or 'K'
  end
end
-- Removed after ten leases without a beat: see reap.
call('ZADD', P .. 'workers', NOW, worker)
call('HSET', P .. 'workers:info', worker, ARGV[6])
return out
