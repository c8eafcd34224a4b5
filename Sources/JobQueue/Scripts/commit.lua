-- Step 1 of publishing: records which version a job is about to publish.
--
-- ARGV   P, id, fence, version, outcome: `completed` or `drafted`, data of its event (JSON)
-- Returns OK, or GONE, or FENCED: then the version must not be published
-- Crash  Afterwards the job stays `committing`; when its lease runs out, reap gives it to a worker
--        that carries on from step 2. Called again with the same fence and version: OK.
local id, fence, version, outcome, data = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local k = P .. 'job:' .. id
local j = redis.call('HMGET', k, 'state', 'fence', 'version')
local refusal = fenced(j, fence)
if refusal then return refusal end
if j[1] == 'committing' and j[3] == version then return 'OK' end
if j[1] ~= 'active' then return 'GONE' end
redis.call('HSET', k, 'state', 'committing', 'version', version, 'outcome', outcome)
redis.call('SET', P .. 'result:' .. id, data)
return 'OK'
