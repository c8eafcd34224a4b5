-- Makes done jobs ready again whose versions the library lacks: it was restored from a backup that is older than Redis. Each is a new
-- generation at the end of its flow. It keeps its arrival: an edit of its asset that was sent later stays the newer one.
--
-- Of each asset it keeps the highest revision that was told (Shared/events.lua), also where the job cannot be started.
--
-- ARGV     P, events max, done max, (id, the version that is lost, its asset, the highest revision that was told of the asset)*
-- Returns  one reply per job: OK; AGAIN: it is not done with this version, because it was started again; SHED: its record, its edit or
--          its fields are not kept; LATER: its record has a later format; or ERROR and a sentence: its record is
--          damaged
-- Crash    A job is either done or ready: one script does both steps.
local function replay(id, version, asset, told)
  keep_told(asset, told)
  local k, j = P .. 'job:' .. id, load(id)
  if not j then return 'SHED' end
  if is_later(j) then return 'LATER' end
  if j.state ~= 'done' or j.outcome ~= 'completed' or j.version ~= version then return 'AGAIN' end
  require_whole(j)
  local own, edit = not j.batch or j.own, call('GET', P .. edit_key(j))
  -- A record with a digest has lost its edit or its fields (`shed`).
  if not edit or j.digest then return 'SHED' end
  j.generation = int(j.generation + 1)
  j.sequence = int(call('INCR', P .. 'sequence'))
  j.arrival = arrival_of(j)
  j.priority = j.was or j.priority
  call('LREM', P .. 'done', '-1', id)
  call('UNLINK', P .. 'result:' .. id)
  call('HDEL', k, 'ended', 'version', 'outcome', 'attempts', 'crashes', 'rebases', 'carries', 'voids', 'was', 'aloneFor', 'blamed',
    'deadline', 'stage', 'cancel', 'framesDone', 'frames', 'tenthTold', 'split', 'unable', 'needs', 'worked', 'code', 'message')
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
for i = 4, #ARGV, 4 do out[#out + 1] = guarded(replay, unpack(ARGV, i, i + 3)) end
keep_time()
settle()
return out
