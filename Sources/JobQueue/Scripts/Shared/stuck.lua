-- Jobs whose version cannot be published: how they get there, and how their publication goes on.

-- Gives up to publish a job's version, until somebody replays or cancels the job. It keeps its asset: edits that
-- came later wait behind it, in their order, and would hardly be published either.
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

-- What a committing job lacks without which its version can be neither published nor told of; nil when it lacks
-- nothing. `data` is that of its event, if there is any.
local function lacks(j, data)
  if not j.version then return 'version' end
  if not j.outcome then return 'outcome' end
  if not j.claimed then return 'claimed' end
  if not data then return 'result' end
end

-- The same for the caller that has not read the data.
local function lacks_of(j) return lacks(j, call('EXISTS', P .. 'result:' .. j.id) == 1) end

-- The same for a job whose record lacks something.
local function get_stuck_lacking(j, lacking)
  get_stuck(j, 'internalError', 'the record of job ' .. j.id .. ' has no ' .. lacking
    .. ', so its version can be neither published nor told of. Replay the job, and it is made again.')
end

-- Has the version of a job that is stuck published once more, with as many carries as at first.
local function resume(j)
  local k, lacking = P .. 'job:' .. j.id, lacks_of(j)
  call('ZREM', P .. 'stuck', j.id)
  call('HDEL', k, 'carries', 'code', 'message')
  if lacking then
    call('HDEL', k, 'version', 'outcome')
    call('UNLINK', P .. 'result:' .. j.id)
    make_ready(j)  -- it is made again, in its generation
  else
    -- Held by nobody, so that reap finds it at once and counts no crash.
    call('HSET', k, 'state', 'committing', 'handedOn', '1')
    call('ZADD', P .. 'lease', NOW, j.id)
    run(j.tenant, 1)
  end
  count('replayed')
  return 'OK'
end
