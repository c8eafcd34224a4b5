-- Step 3 of publishing: the job is done, counted, and its event sent.
--
-- ARGV   P, id, fence, keep ms, done records max, events max
-- Returns OK, or GONE, or FENCED: then somebody else finishes it or has finished it
-- Crash  Before it the job is `committing` and is carried on by another worker; afterwards it is
--        done. Called again with the same fence: OK, and no second event.
local id, fence, keep, doneMax, eventsMax = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
local k = P .. 'job:' .. id
local j = redis.call('HMGET', k, 'state', 'fence', 'asset', 'generation')
local refusal = fenced(j, fence)
if refusal then return refusal end
if j[1] == 'done' then return 'OK' end
if j[1] ~= 'committing' then return 'GONE' end
local us, ms = clock()
redis.call('ZREM', P .. 'lease', id)
redis.call('HSET', k, 'state', 'done', 'ended', ms)
leave_asset(j[3], id)
count('completed')
emit('completed', id, j[4], j[3], ms, redis.call('GET', P .. 'result:' .. id), eventsMax)
-- What stays of a done job is bounded twice: by time and by number.
for _, name in ipairs({'job:', 'edit:', 'result:', 'attempts:'}) do
  redis.call('PEXPIRE', P .. name .. id, keep)
end
redis.call('ZADD', P .. 'done', ms, id)
local over = redis.call('ZCARD', P .. 'done') - doneMax
if over > 0 then
  local old = redis.call('ZPOPMIN', P .. 'done', math.min(over, 10))
  for i = 1, #old, 2 do
    redis.call('UNLINK', P .. 'job:' .. old[i], P .. 'edit:' .. old[i], P .. 'result:' .. old[i],
      P .. 'attempts:' .. old[i])
  end
end
return 'OK'
