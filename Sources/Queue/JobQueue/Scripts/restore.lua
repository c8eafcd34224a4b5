-- Restores a dead job that was moved to a file, as a new generation, at the end of its flow.
--
-- ARGV     P, events max, done max, id, generation, asset, edit, tenant, priority, batch or ``, cost or ``, whether its
--          producer named it (1), time of its death in ms, fields or ``
-- Returns  OK; DEAD: it is still dead in Redis, in this generation, so it can be replayed; THERE: it is or was in Redis, because
--          it was restored or sent again since; OTHER: another job has the id, or a batch that was opened since
-- Crash    The job is in Redis or not: one script does it. A repeated call returns THERE as long as its name is remembered.
local id, generation, asset, edit, tenant, priority, batch, cost, named, died =
  ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12], tonumber(ARGV[13])

-- Returns what has the id, as a reply; nil if it is free.
local function taken()
  local there = load(id)
  if there then
    if there.state == 'dead' and there.generation == generation and there.ended == ARGV[13] then return 'DEAD' end
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
  if opened and tonumber(opened) > died then return 'OTHER' end
end

local reply = taken()
if reply then return reply end
local j = {id = id, asset = asset, tenant = tenant, priority = priority, generation = int(generation + 1),
  cost = cost ~= '' and cost or nil, named = named == '1' or nil, sequence = int(call('INCR', P .. 'sequence')),
  arrival = int(next_time()), bytes = #edit, fields = ARGV[14] ~= '' and ARGV[14] or nil}
if batch ~= '' and reopen_batch(id, batch, j.cost) then
  call('HINCRBY', P .. 'batch:' .. batch, 'gone', '-1')
  j.batch, j.own = batch, '1'
end
call('SET', P .. 'edit:' .. id, edit)
create_job(j)
keep_time()
count('replayed')
settle()
return 'OK'
