-- Makes done jobs ready again of which the library lacks what they made: it was restored from a backup that is older than Redis. Each is a
-- new generation at the end of its flow. It keeps its arrival: an edit of its asset that was sent later stays the newer one.
--
-- Of each asset it keeps the highest revision that was told (Shared/events.lua), also where the job cannot be started.
--
-- ARGV     P, events max, done max, (id, the lost version, or the draft, or the version whose renditions are lost; its asset, the highest
--          revision that was told of the asset or 0, the job that has to make again what this one is about or ``, the version or
--          draft of that job or ``, another edit or ``)*
-- Returns  one reply per job: OK; AGAIN: it is not done with this version, because it was started again; SHED: its record, its edit or
--          its fields are not kept, or what it is about is not made again; LATER: its record has a later format; or ERROR and a sentence: its
--          record is damaged
-- Crash    A job is either done or ready: one script does both steps.

-- Returns the version that a done job has told of; nil if it has none, false if it is not kept.
local function version_of(j)
  if j.outcome == 'completed' or j.outcome == 'drafted' then return j.version end
  if j.outcome ~= 'rendered' then return nil end
  local text = call('GET', P .. 'result:' .. j.id)
  if not text then return false end
  local read, data = pcall(cjson.decode, text)
  return read and type(data) == 'table' and type(data.version) == 'table' and data.version.id or nil
end

-- Returns whether a job makes again what it has told as `version`, or has done so.
local function comes_again(id, version)
  local base = load_any(id)
  return base and not (base.state == 'done' and base.version == version)
end

local function replay(id, version, asset, told, base, based_on, changed)
  keep_told(asset, told)
  local k, j = P .. 'job:' .. id, load(id)
  if not j then return 'SHED' end
  if is_later(j) then return 'LATER' end
  if j.state ~= 'done' then return 'AGAIN' end
  local of = version_of(j)
  if of == false then return 'SHED' end
  if of ~= version then return 'AGAIN' end
  require_whole(j)
  local own, edit = not j.batch or j.own, call('GET', P .. edit_key(j))
  -- A record with a digest has lost its edit or its fields (`shed`).
  if not edit or j.digest then return 'SHED' end
  if base ~= '' and not comes_again(base, based_on) then return 'SHED' end
  j.generation = int(j.generation + 1)
  j.sequence = int(call('INCR', P .. 'sequence'))
  j.arrival = arrival_of(j)
  j.priority = j.was or j.priority
  call('LREM', P .. 'done', '-1', id)
  if j.resultBytes and is_whole(j.resultBytes) then call('HINCRBY', P .. 'virtual', 'resultBytes', int(-j.resultBytes)) end
  call('UNLINK', P .. 'result:' .. id)
  call('HDEL', k, 'ended', 'version', 'outcome', 'attempts', 'crashes', 'rebases', 'carries', 'voids', 'was', 'aloneFor', 'blamed',
    'deadline', 'stage', 'cancel', 'framesDone', 'frames', 'tenthTold', 'split', 'unable', 'needs', 'worked', 'code', 'message', 'resultBytes')
  if changed ~= '' then
    call('SET', P .. 'edit:' .. id, changed)
    call('HSET', k, 'own', '1')
    own, edit = true, changed
  end
  if j.batch and not reopen_batch(id, j.batch, j.cost, 'done') then
    if not own then call('SET', P .. 'edit:' .. id, edit) end
    call('HDEL', k, 'batch')
    own, j.batch = true, nil
  end
  local stored = RECORD_BYTES + #asset + (own and #edit or 0)
  call('HSET', k, 'generation', j.generation, 'priority', j.priority, 'sequence', j.sequence, 'arrival', j.arrival, 'stored', int(stored))
  store(j.tenant, stored)
  if j.submitted then call('HSET', P .. 'backlog:' .. j.tenant, id, '1') end
  weigh(j, 1)
  make_ready(j)
  count('replayed')
  return 'OK'
end

local out = {}
for i = 4, #ARGV, 7 do out[#out + 1] = guarded(replay, unpack(ARGV, i, i + 6)) end
keep_time()
settle()
return out
