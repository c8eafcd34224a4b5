-- Ends an attempt that failed: the job is retried later, or dead.
--
-- ARGV   P, id, fence, delay ms or `dead`, code, message, data of the event (JSON),
--        attempt for the history (JSON), events max
-- Returns OK, or GONE, or FENCED
-- Crash  Before it the lease runs out and reap counts a crash; afterwards the attempt is counted.
local id, fence, delay, code, message, data, attempt, eventsMax =
  ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local k = P .. 'job:' .. id
local j = redis.call('HMGET', k, 'state', 'fence', 'asset', 'generation')
local refusal = fenced(j, fence)
if refusal then return refusal end
if j[1] ~= 'active' then return 'GONE' end
local us, ms, now = clock()
redis.call('ZREM', P .. 'lease', id)
local attempts = redis.call('HINCRBY', k, 'attempts', '1')
remember(id, attempt)
redis.call('HSET', k, 'code', code, 'message', message)
if delay == 'dead' then
  redis.call('HSET', k, 'state', 'dead', 'ended', now)
  redis.call('ZADD', P .. 'dead', now, id)
  count('failed')
  emit('failed', id, j[4] .. '/failed', j[3], ms, data, eventsMax)
else
  redis.call('HSET', k, 'state', 'delayed')
  redis.call('ZADD', P .. 'delayed', int(ms + delay), id)
  count('retried')
  emit('retried', id, j[4] .. '/retried/' .. attempts, j[3], ms, data, eventsMax)
end
leave_asset(j[3])
return 'OK'
