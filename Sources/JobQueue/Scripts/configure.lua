-- Changes what holds for the whole queue, for all workers at once.
--
-- ARGV   P, events max, done max, (name, value or `` to take it back)*: `paused` (the reason), `cap` and
--        `cap:<tenant>` (jobs of one tenant that run at the same time; 0 pauses it), `weight:<tenant>`
-- Returns OK
-- Crash  All of it or nothing. When very many flows wait at a cap, claims look at the rest of them anew.
local changes_all = false
for i = 4, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  local tenant = name:match('^cap:(.*)$')
  if tenant then uncap(tenant) end
  if name == 'cap' then changes_all = true end
  if value == '' then call('HDEL', P .. 'config', name) else call('HSET', P .. 'config', name, value) end
end
-- Flows that wait for a cap are looked at anew; claim puts those back that still have to wait.
if changes_all then recheck_capped('0') end
-- Whatever changed, there may be jobs now for workers that had none.
claimable = math.max(claimable, 1)
wake_workers()
tell_workers('config', '1')
return 'OK'
