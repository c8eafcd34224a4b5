-- Tells readers what a render will look like, roughly. The job stays as it is.
--
-- ARGV   P, id, fence, attempt, data of the event (JSON), events max
-- Returns OK, or GONE, or FENCED
-- Crash  Nothing to survive; sent again it is the same event with the same id.
local id, fence, attempt, data, eventsMax = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local j = redis.call('HMGET', P .. 'job:' .. id, 'state', 'fence', 'asset', 'generation')
local refusal = fenced(j, fence)
if refusal then return refusal end
if j[1] ~= 'active' then return 'GONE' end
local _, ms = clock()
emit('previewed', id, j[4] .. '/previewed/' .. attempt, j[3], ms, data, eventsMax)
return 'OK'
