-- Step 3 of publishing: the job is done, counted, and its event sent.
--
-- ARGV   P, id, fence, done records max, events max
-- Returns OK, or GONE, or FENCED: then somebody else finishes it or has finished it
-- Crash  Before it the job is `committing` and is carried on by another worker; afterwards it is
--        done. Called again with the same fence: OK, and no second event.
local id, fence, doneMax, eventsMax = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local j = redis.call('HMGET', P .. 'job:' .. id, 'state', 'fence', 'asset', 'generation', 'outcome',
  'version')
local refusal = fenced(j, fence)
if refusal then return refusal end
if j[1] == 'done' then return 'OK' end
if j[1] ~= 'committing' then return 'GONE' end
-- A draft changes nothing that readers see, so it has no place in the sequence of its asset.
local revision = j[5] == 'completed' and j[6]:match('^%d+')
finish(id, j[3], j[4], j[5], redis.call('GET', P .. 'result:' .. id), revision, doneMax, eventsMax)
return 'OK'
