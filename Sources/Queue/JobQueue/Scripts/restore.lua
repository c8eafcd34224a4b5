-- Restores dead jobs that were moved out of Redis, each as a new generation, at the end of its flow. The jobs of a batch that come in
-- one call reopen it once.
--
-- ARGV     P, events max, done max, (id, generation, asset, edit, tenant, priority, batch or ``, cost or ``, whether its
--          producer named it (1), time of its death in ms, fields or ``)*
-- Returns  one reply per job: OK; DEAD: it is still dead in Redis, in this generation, so it can be replayed; THERE: it is or was in
--          Redis, because it was restored or sent again since; OTHER: another job has the id, or a batch that was opened since; or
--          ERROR and a sentence: what Redis has of the job or its batch is damaged
-- Crash    A job is in Redis or not: one script does it. A repeated call returns THERE as long as its name is remembered.
local FIELDS = 11

-- Returns what has the id, as a reply; nil if it is free.
local function taken(id, generation, died)
  local there = load(id)
  if there then
    if there.state == 'dead' and there.generation == generation and there.ended == died then return 'DEAD' end
    -- A job with this id that has not come beyond the generation which died is not the same one.
    return tonumber(there.generation) > tonumber(generation) and 'THERE' or 'OTHER'
  end
  if reserved_entry(id) then return 'OTHER' end
  local before = seen(id)
  if before then
    -- The file may have older lines of the job, or the job was restored and done.
    local _, ended, last = remembered(before)
    if ended ~= 'dropped' or last ~= generation then return 'THERE' end
  end
  local owner = id:match('^(.*):%d+$')
  local opened = owner and call('HGET', P .. 'batch:' .. owner, 'opened')
  if opened and tonumber(opened) > tonumber(died) then return 'OTHER' end
end

local function restore(id, generation, asset, edit, tenant, priority, batch, cost, named, died, fields)
  local reply = taken(id, generation, died)
  if reply then return reply end
  local j = {id = id, asset = asset, tenant = tenant, priority = priority, generation = int(generation + 1),
    cost = cost ~= '' and cost or nil, named = named == '1' or nil, sequence = int(call('INCR', P .. 'sequence')),
    arrival = int(next_time()), bytes = #edit, fields = fields ~= '' and fields or nil}
  if batch ~= '' and reopen_batch(id, batch, j.cost, 'dead') then
    call('HINCRBY', P .. 'batch:' .. batch, 'gone', '-1')
    j.batch, j.own = batch, '1'
  end
  call('SET', P .. 'edit:' .. id, edit)
  create_job(j)
  count('replayed')
  return 'OK'
end

local out = {}
for i = 4, #ARGV, FIELDS do out[#out + 1] = guarded(restore, unpack(ARGV, i, i + FIELDS - 1)) end
keep_time()
settle()
return out
