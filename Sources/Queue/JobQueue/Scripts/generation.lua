-- Compares the generation of the queue's data with those that the library remembers (QueueGeneration.swift), and begins another one
-- where data are missing. Hash library has `generation`, `turn`, when it was raised or begun last (`comparedAt`, ms), and of the last loss
-- `poorerAt` (ms), `poorerWhy` and `poorerThan`: what was remembered then, so that it is noticed once. Each program tells it by its time.
--
-- The library may be the poorer one: it remembers less of this generation than it was seen to remember. It has `seen`, the turn that was
-- remembered at `seenAt` (lived), and `mark`, the one before. Workers that write beside each other may set the library back by some turns;
-- a mark is MARK_AGE old, and by then each has written.
--
-- ARGV     P, events max, done max, an id for a new generation, `1` to raise the turn or ``, (id, turn)* that the library remembers
-- Returns  {id, turn, NOW, ms since 1970, when the last loss was noticed or ``, the loss: EMPTY, OTHER, OLDER, LIBRARY, or ``}
-- Crash    No effect, or the loss is recorded: a repeated call returns it.
local MARK_AGE = 10 * 60 * 1000  -- ms
local key, remembered, turns = P .. 'library', table.concat(ARGV, ' ', 6), {}
for i = 6, #ARGV, 2 do turns[ARGV[i]] = tonumber(ARGV[i + 1]) end
local has = call('HMGET', key, 'generation', 'turn', 'poorerThan', 'begun', 'poorerAt', 'poorerWhy', 'mark', 'seen', 'seenAt')
local id, turn, why = has[1], number_in(has[2], 0), ''
local knows, now, seen_at = id and turns[id] or 0, lived_time(), number_in(has[9], 0)
if knows < number_in(has[7], 0) then
  why = 'LIBRARY'
elseif remembered ~= '' and remembered ~= has[3] and not has[4] then
  if not id then why = 'EMPTY'
  elseif not turns[id] then why = 'OTHER'
  elseif turn < turns[id] then why = 'OLDER' end
end
if why ~= '' then
  call('HSET', key, 'poorerThan', remembered, 'poorerAt', NOW, 'poorerWhy', why)
  call('HDEL', key, 'mark', 'seen', 'seenAt')
  count('poorer')
  settle_counters()
  has[5], has[6] = NOW, why
elseif knows > 0 and math.abs(now - seen_at) >= MARK_AGE then
  call('HSET', key, 'mark', int(number_in(has[8], 0)), 'seen', int(knows), 'seenAt', int(now))
end
if not id or why ~= '' and why ~= 'LIBRARY' then
  id, turn = ARGV[4], 0
  call('HSET', key, 'generation', id, 'turn', '0', 'comparedAt', NOW)
elseif has[4] and turns[id] then
  call('HDEL', key, 'begun')
end
if ARGV[5] == '1' then
  turn = turn + 1
  call('HSET', key, 'turn', int(turn), 'comparedAt', NOW)
end
return {id, int(turn), NOW, has[5] or '', has[6] or ''}
