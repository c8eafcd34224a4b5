-- Makes dead jobs ready again as a new generation, at the end of the queue. Their history stays.
--
-- ARGV   P, id*
-- Returns one answer per job: OK, GONE (no such job), NOTDEAD, or MALFORMED: its envelope was wrong, so
--         there is nothing to run; send it again
-- Crash  A job is dead or ready, never both: one script does it.
local out = {}
for i = 2, #ARGV do
  local id = ARGV[i]
  local k = P .. 'job:' .. id
  local j = redis.call('HMGET', k, 'state', 'malformed')
  if not j[1] then out[#out + 1] = 'GONE'
  elseif j[1] ~= 'dead' then out[#out + 1] = 'NOTDEAD'
  elseif j[2] then out[#out + 1] = 'MALFORMED'
  else
    local sequence = redis.call('INCR', P .. 'sequence')
    redis.call('ZREM', P .. 'dead', id)
    redis.call('HINCRBY', k, 'generation', '1')
    redis.call('HSET', k, 'state', 'ready', 'attempts', '0', 'crashes', '0',
      'rebases', '0', 'sequence', int(sequence))
    redis.call('HDEL', k, 'code', 'message', 'ended', 'version', 'outcome')
    redis.call('ZADD', P .. 'ready', int(sequence), id)
    count('replayed')
    out[#out + 1] = 'OK'
  end
end
return out
