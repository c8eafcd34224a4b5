-- Changes what holds for the whole queue, for all workers at once.
--
-- ARGV   P, events max, done max, (name, value or `` to take it back)*: `paused` (the reason), `cap` and
--        `cap:<tenant>` (jobs of one tenant that run at the same time; 0 pauses it), `weight:<tenant>`
-- Returns OK
-- Crash  All of it or nothing.
for i = 4, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  if value == '' then call('HDEL', P .. 'config', name) else call('HSET', P .. 'config', name, value) end
end
-- Flows that wait for a cap are looked at anew; claim puts those back that still have to wait.
for _, flow in ipairs(call('HKEYS', P .. 'capped')) do uncap(flow:match(':(.*)$')) end
tell_workers('config', '1')
return 'OK'
