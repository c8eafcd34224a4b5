-- Looks whether the groups of dead jobs count as many as there are. If not, they are emptied, and `inspect` counts each
-- dead job anew.
--
-- ARGV   P, events max, done max, whether to mend (1)
-- Returns {kind, subject, detail, mended (1) or ``}*
-- Crash  Until the walk is at its end the groups count too little; the next one goes on with those of another epoch.
local groups, counted = call('HGETALL', P .. 'dead:groups'), 0
for i = 1, #groups, 2 do
  if groups[i] ~= 'epoch' then counted = counted + (tonumber(groups[i + 1]:match('^%d+')) or 0) end
end
local dead = call('ZCARD', P .. 'dead')
if counted ~= dead then
  fault('deadMiscounted', 'dead', int(counted) .. '/' .. int(dead), function()
    call('UNLINK', P .. 'dead:groups')
    call('HSET', P .. 'dead:groups', 'epoch', int(US))
  end)
end
return faults
