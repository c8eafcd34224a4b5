-- Checks whether the groups of dead jobs count as many jobs as are dead. If not, the groups are emptied, and `inspect` counts
-- each dead job again.
--
-- ARGV     P, events max, done max, whether to repair (1)
-- Returns  {kind, subject, detail, repaired (1) or ``}*
-- Crash    Until the walk is complete, the groups count too few; the next walk continues with the jobs of another epoch.
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
