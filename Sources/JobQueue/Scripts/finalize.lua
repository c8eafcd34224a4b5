-- Step 3 of publishing: the job is done, counted, and its event sent.
--
-- ARGV   P, id, fence, done records max, events max
-- Returns OK, or GONE, or FENCED: then somebody else finishes it or has finished it
-- Crash  Before it the job is `committing` and is carried on by another worker; afterwards it is
--        done. Called again with the same fence: OK, and no second event.
local id, fence, doneMax, eventsMax = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local k = P .. 'job:' .. id
local j = redis.call('HMGET', k, 'state', 'fence', 'asset', 'generation')
local refusal = fenced(j, fence)
if refusal then return refusal end
if j[1] == 'done' then return 'OK' end
if j[1] ~= 'committing' then return 'GONE' end
local us, ms, now = clock()
redis.call('ZREM', P .. 'lease', id)
redis.call('HSET', k, 'state', 'done', 'ended', now)
leave_asset(j[3])
count('completed')
emit('completed', id, j[4] .. '/completed', j[3], ms, redis.call('GET', P .. 'result:' .. id), eventsMax)
-- Bounded in number here; bounded in time by reap. Keys with a time to live would cost a write each.
if redis.call('RPUSH', P .. 'done', id) > doneMax then
  for _, old in ipairs(redis.call('LPOP', P .. 'done', '2')) do forget(old) end
end
return 'OK'
