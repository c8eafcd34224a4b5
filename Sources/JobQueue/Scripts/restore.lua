-- Restores a dead job that was moved to a file, as a new generation, at the end of its flow.
--
-- ARGV     P, events max, done max, id, generation, asset, edit, tenant, priority, batch or ``, cost or ``, whether its
--          producer named it (1)
-- Returns  OK; DEAD: it is still dead in Redis, in this generation, so it can be replayed; THERE: it is or was in Redis, because
--          it was restored or sent again since
-- Crash    The job is in Redis or not: one script does it. A repeated call returns THERE as long as the record stays.
local id, generation, asset, edit, tenant, priority, batch, cost, named =
  ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12]
local there = load(id)
local before = seen(id)
if not there and before then
  -- The file may have older lines of the job, or the job was restored and done.
  local _, ended, last = remembered(before)
  if ended ~= 'dropped' or last ~= generation then return 'THERE' end
end
if there then return there.state == 'dead' and there.generation == generation and 'DEAD' or 'THERE' end
local j = {id = id, asset = asset, tenant = tenant, priority = priority, generation = int(generation + 1),
  cost = cost ~= '' and cost or nil, named = named == '1' or nil, sequence = int(call('INCR', P .. 'sequence')),
  arrival = int(next_time()), bytes = #edit}
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
