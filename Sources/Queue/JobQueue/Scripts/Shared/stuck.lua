-- Jobs whose version cannot be published: how they become stuck, and how their publication continues.
-- Gives up the publication of a job's version until a client replays or cancels the job. The job keeps its asset: later edits
-- wait behind it in their order, and would most likely fail as well.
local function get_stuck(j, code, message)
  lose_hold(j)
  call('HSET', P .. 'job:' .. j.id, 'state', 'stuck', 'code', code, 'message', message)
  call('HDEL', P .. 'job:' .. j.id, 'handedOn')
  call('ZADD', P .. 'stuck', NOW, j.id)
  count('stuck')
  emit('stuck', j, j.generation .. '/stuck/' .. j.fence, '{"asset":' .. quoted(j.asset) .. ',"carries":'
    .. j.carries .. ',"error":{"code":"' .. code .. '","message":' .. quoted(message) .. ',"permanent":false},"generation":'
    .. j.generation .. ',"job":"' .. j.id .. '"' .. (j.version and ',"version":' .. quoted(j.version) or '')
    .. (j.worker and ',"worker":' .. quoted(j.worker) or '') .. '}')
end

-- Returns the field that a committing job lacks and without which its version can be neither published nor reported; nil if the
-- record is complete. `data` is that of its event, if any.
local function lacks(j, data)
  if not j.version then return 'version' end
  if not j.outcome then return 'outcome' end
  if not j.claimed then return 'claimed' end
  if not data then return 'result' end
end

-- The same for a caller that has not read the data.
local function lacks_of(j) return lacks(j, call('EXISTS', P .. 'result:' .. j.id) == 1) end

-- Makes a job stuck because its record lacks a field.
local function get_stuck_lacking(j, lacking)
  get_stuck(j, 'internalError', 'the record of job ' .. j.id .. ' has no ' .. lacking
    .. ', so its version can be neither published nor reported. Replay the job, and it is made again.')
end

-- Publishes the version of a stuck job once more, with the initial number of carries.
local function resume(j)
  local k, lacking = P .. 'job:' .. j.id, lacks_of(j)
  call('ZREM', P .. 'stuck', j.id)
  call('HDEL', k, 'carries', 'code', 'message')
  if lacking then
    call('HDEL', k, 'version', 'outcome', 'worked')
    call('UNLINK', P .. 'result:' .. j.id)
    make_ready(j)  -- it is rendered again, in its generation
  else
    -- No worker holds it, so that reap finds it at once and counts no crash.
    call('HSET', k, 'state', 'committing', 'handedOn', '1')
    hold(j.id, j.tenant, NOW)
  end
  count('replayed')
  return 'OK'
end
