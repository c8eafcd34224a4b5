-- Hands a job back to be claimed again at its old place. No attempt is burnt.
--
-- ARGV   P, id, fence, reason: `shutdown`, or `rebase` (the asset changed under the render)
-- Returns OK, or GONE, or FENCED
-- Crash  Before it the lease runs out and reap counts a crash; afterwards the job is ready.
local id, fence, reason = ARGV[2], ARGV[3], ARGV[4]
local k = P .. 'job:' .. id
local j = redis.call('HMGET', k, 'state', 'fence', 'asset', 'sequence')
local refusal = fenced(j, fence)
if refusal then return refusal end
if j[1] ~= 'active' and j[1] ~= 'committing' then return 'GONE' end
redis.call('ZREM', P .. 'lease', id)
redis.call('HSET', k, 'state', 'ready')
redis.call('HDEL', k, 'version')
redis.call('UNLINK', P .. 'result:' .. id)
redis.call('ZADD', P .. 'ready', j[4], id)
if reason == 'rebase' then redis.call('HINCRBY', k, 'rebases', '1') end
leave_asset(j[3])
return 'OK'
