-- Sends readers a rough preview of a render. The job does not change.
--
-- ARGV     P, events max, done max, id, fence, data of the event (JSON)
-- Returns  OK, or GONE, or FENCED
-- Crash    No effect; a repeated call sends the same event with the same id.
local id, fence, data = ARGV[4], ARGV[5], ARGV[6]
local j = load(id)
local refused = refusal(j, fence)
if refused then return refused end
if j.state ~= 'active' then return 'GONE' end
emit('previewed', j, j.generation .. '/previewed/' .. fence, data)
return 'OK'
