-- Finds jobs whose lease ran out: their worker died, hung or lost Redis. Any worker may call it, at
-- any time; it needs no lock because a script runs alone.
--
-- An `active` job is ready again at its old place, and the crash counted; one crash too many and it
-- is dead. A `committing` job is given to the caller under a new fence, to be carried on from step 2:
-- its version may be published already, so it can be neither rendered again nor failed.
--
-- It also drops the records of jobs that were done long ago.
--
-- ARGV   P, worker, lease ms, jobs at most, crashes max, events max, keep done ms, records at most
-- Returns {jobs made ready, jobs dead, {id, fence, asset, version, generation}* to carry on}
-- Crash  Afterwards a job to carry on has a new lease, which runs out in turn.
local worker, lease, most, crashesMax, eventsMax, keep, recordsMax =
  ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local us, ms, now = clock()
local ready, dead, carry = 0, 0, {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'lease', '-inf', now, 'LIMIT', '0', most)) do
  local k = P .. 'job:' .. id
  local j = redis.call('HMGET', k, 'state', 'fence', 'asset', 'generation', 'sequence', 'version',
    'worker', 'attempts')
  count('crashed')
  if j[1] == 'committing' then
    local fence = int(math.max(tonumber(j[2]) + 1, us))
    redis.call('ZADD', P .. 'lease', int(ms + lease), id)
    redis.call('HSET', k, 'fence', fence, 'worker', worker)
    carry[#carry + 1] = {id, fence, j[3], j[6], j[4]}
  else
    redis.call('ZREM', P .. 'lease', id)
    local crashes = redis.call('HINCRBY', k, 'crashes', '1')
    local message = 'worker ' .. j[7] .. ' let its lease run out while it held the job; that was crash '
      .. crashes .. ' of at most ' .. int(crashesMax) .. '.'
    remember(id, '{"at":"' .. timestamp(ms) .. '","code":"workerLost","fence":"' .. j[2]
      .. '","message":' .. quoted(message) .. ',"worker":' .. quoted(j[7]) .. '}')
    if crashes >= crashesMax then
      redis.call('HSET', k, 'state', 'dead', 'ended', now, 'code', 'workerLost', 'message', message)
      redis.call('ZADD', P .. 'dead', now, id)
      count('failed')
      emit('failed', id, j[4] .. '/failed', j[3], ms, '{"asset":' .. quoted(j[3]) .. ',"attempt":'
        .. int(j[8] + crashes) .. ',"error":{"code":"workerLost","message":' .. quoted(message)
        .. ',"permanent":true},"generation":' .. j[4] .. ',"job":' .. quoted(id) .. ',"worker":'
        .. quoted(j[7]) .. '}', eventsMax)
      dead = dead + 1
    else
      redis.call('HSET', k, 'state', 'ready')
      redis.call('ZADD', P .. 'ready', j[5], id)
      ready = ready + 1
    end
    leave_asset(j[3])
  end
end
for _ = 1, recordsMax do
  local oldest = redis.call('LINDEX', P .. 'done', '0')
  local ended = oldest and redis.call('HGET', P .. 'job:' .. oldest, 'ended')
  if not ended or tonumber(ended) > ms - keep then break end
  redis.call('LPOP', P .. 'done')
  forget(oldest)
end
return {ready, dead, carry}
