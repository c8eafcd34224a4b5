-- Gives jobs to a worker under a lease and a new fence.
--
-- First makes delayed jobs ready that are due. Passes over a job whose asset is busy: it is parked
-- and comes back when the active job ends, so one busy asset holds nobody else up.
--
-- ARGV   P, worker, jobs at most, lease ms, promotions at most, look at most
-- Returns {due of the next delayed job in ms from now or -1,
--          {id, fence, asset, edit, generation, attempts, crashes, rebases, enqueued ms, now ms}*}
-- Crash  Afterwards the lease runs out and reap finds the job. A fence is the server's time in µs and
--        grows, so a token never comes again, not even after a failover that lost the last writes.
local worker, most, lease, promotions, looks =
  ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])
local us, ms, now = clock()
local ends = int(ms + lease)
local out = {}

for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'delayed', '-inf', now, 'LIMIT', '0', promotions)) do
  redis.call('ZREM', P .. 'delayed', id)
  redis.call('ZADD', P .. 'ready', redis.call('HGET', P .. 'job:' .. id, 'sequence'), id)
  redis.call('HSET', P .. 'job:' .. id, 'state', 'ready')
end

local looked = 0
while #out < most and looked < looks do
  local popped = redis.call('ZPOPMIN', P .. 'ready', int(math.min(most - #out, looks - looked)))
  if not popped[1] then break end
  for i = 1, #popped, 2 do
    looked = looked + 1
    local id, sequence = popped[i], popped[i + 1]
    local k = P .. 'job:' .. id
    local j = redis.call('HMGET', k, 'asset', 'fence', 'generation', 'attempts', 'crashes', 'rebases',
      'enqueued')
    if redis.call('HSETNX', P .. 'active', j[1], id) == 0 then
      redis.call('ZADD', P .. 'parked', sequence, id)
      redis.call('ZADD', P .. 'parked:' .. j[1], sequence, id)
      redis.call('HSET', k, 'state', 'parked')
    else
      local fence = int(math.max((tonumber(j[2]) or 0) + 1, us))
      redis.call('ZADD', P .. 'lease', ends, id)
      redis.call('HSET', k, 'state', 'active', 'fence', fence, 'worker', worker, 'claimed', now)
      out[#out + 1] = {id, fence, j[1], redis.call('GET', P .. 'edit:' .. id) or '', j[3], j[4], j[5],
        j[6] or '0', j[7], now}
    end
  end
end

local due = redis.call('ZRANGE', P .. 'delayed', '0', '0', 'WITHSCORES')[2]
return {due and int(math.max(0, due - ms)) or '-1', out}
