-- Ends a job that found nothing to do: it is done, counted, and its event sent.
--
-- ARGV   P, id, fence, outcome: `unchanged`, data of its event (JSON), done records max, events max
-- Returns OK, or GONE, or FENCED
-- Crash  Before it the lease runs out and another worker finds the same; afterwards the job is done. Called
--        again with the same fence: OK, and no second event.
local id, fence, outcome, data, doneMax, eventsMax =
  ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7]
local k = P .. 'job:' .. id
local j = redis.call('HMGET', k, 'state', 'fence', 'asset', 'generation')
local refusal = fenced(j, fence)
if refusal then return refusal end
if j[1] == 'done' then return 'OK' end
if j[1] ~= 'active' then return 'GONE' end
redis.call('HSET', k, 'outcome', outcome)
redis.call('SET', P .. 'result:' .. id, data)
finish(id, j[3], j[4], outcome, data, nil, doneMax, eventsMax)
return 'OK'
