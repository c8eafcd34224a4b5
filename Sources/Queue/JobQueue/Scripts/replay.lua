-- Makes dead jobs ready again as a new generation, at the end of their flow. Priority and history are kept; a deadline is not.
-- The new generation arrives at the time of the replay, because the client wants the edit now, whatever was published since.
--
-- A stuck job stays in its generation: its version is published once more, by the next worker that reaps.
-- The version may have become current before the failure was noticed, and a library publishes a generation once; a new
-- generation would be a second edit.
--
-- ARGV     P, events max, done max, another edit or ``, id*
-- Returns  one reply per job: OK, GONE (no such job), NOTDEAD, MALFORMED: the request was malformed, so
--          there is nothing to run and the producer must send it again; STUCK: an edit that is being published cannot be
--          replaced; LATER: its record has a later format; or ERROR and a sentence: its record is damaged
-- Crash    A job is either dead or ready: one script does both steps.
local edit = ARGV[4]

-- Counts the bytes of a job whose edit was written anew.
local function keep_size(j, bytes)
  if not j.stored then return end
  local stored = RECORD_BYTES + #j.asset + bytes + #(j.fields or '')
  call('HSET', P .. 'job:' .. j.id, 'stored', int(stored))
  store(j.tenant, stored - j.stored)
end

local function replay(id)
  local k, j = P .. 'job:' .. id, load(id)
  if not j then return 'GONE' end
  if is_later(j) then return 'LATER' end
  if j.state ~= 'stuck' and j.state ~= 'dead' then return 'NOTDEAD' end
  if j.malformed then return 'MALFORMED' end
  if j.state == 'dead' then j.sequence, j.arrival = '0', '0' end  -- it gets others
  require_whole(j)
  if j.state == 'stuck' then return edit == '' and resume(j) or 'STUCK' end
  j.generation = int(j.generation + 1)
  j.sequence = int(call('INCR', P .. 'sequence'))
  j.arrival = int(next_time())
  j.priority = j.was or j.priority
  call('ZREM', P .. 'dead', id)
  call('ZREM', P .. 'dead:large', id)
  leave_group(j.group)
  call('HDEL', k, 'group', 'code', 'message', 'ended', 'version', 'outcome', 'attempts', 'crashes', 'rebases', 'was',
    'aloneFor', 'blamed', 'voids', 'deadline', 'stage', 'cancel', 'framesDone', 'frames', 'tenthTold', 'split', 'unable', 'needs')
  call('HSET', k, 'generation', j.generation, 'priority', j.priority, 'sequence', j.sequence, 'arrival', j.arrival)
  if edit ~= '' then
    call('SET', P .. 'edit:' .. id, edit)
    call('HSET', k, 'own', '1')
    call('HDEL', k, 'bytes')
    j.bytes = #edit > LARGE_EDIT and #edit or nil
    if j.bytes then call('HSET', k, 'bytes', int(j.bytes)) end
    keep_size(j, #edit)
  end
  if j.batch and not reopen_batch(id, j.batch, j.cost, 'dead') then
    local shared = not j.own and edit == '' and call('GET', P .. edit_key(j))
    if shared then
      call('SET', P .. 'edit:' .. id, shared)
      keep_size(j, #shared)
    end
    call('HDEL', k, 'batch')
    j.batch = nil
  end
  if j.submitted then call('HSET', P .. 'backlog:' .. j.tenant, id, '1') end
  weigh(j, 1)
  make_ready(j)
  count('replayed')
  return 'OK'
end

local out = {}
for i = 5, #ARGV do out[#out + 1] = guarded(replay, ARGV[i]) end
keep_time()
settle()
return out
