-- Waits whose end is an absolute time. After a step of the server's clock back, such a time lies further ahead than the wait can be
-- long: no present clock can have given it, and it must not be awaited.

-- Returns the members of a zset beyond a time in ms, with their scores, at most `most`. If there are more, each call returns others.
local function beyond(zset, limit, most)
  local bound = '(' .. int(limit)
  local number = call('ZCOUNT', P .. zset, bound, '+inf')
  if number == 0 then return {} end
  local from = number > most and MS % (number - most + 1) or 0
  return call('ZRANGEBYSCORE', P .. zset, bound, '+inf', 'WITHSCORES', 'LIMIT', int(from), int(most))
end
