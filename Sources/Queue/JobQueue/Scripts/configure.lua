-- Changes rules of the whole queue, for all workers at once.
--
-- ARGV     P, events max, done max, (name, value or `` to remove it)*: `paused` (the reason), `cap` and
--          `cap:<tenant>` (maximum running jobs of one tenant; 0 pauses it), `weight:<tenant>`
-- Returns  OK
-- Crash    All changes or none. If very many flows wait at a cap, claims check the rest of them again.
local changes_all = false
for i = 4, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  local tenant = name:match('^cap:(.*)$')
  if tenant then uncap(tenant) end
  if name == 'cap' then changes_all = true end
  if value == '' then call('HDEL', P .. 'config', name) else call('HSET', P .. 'config', name, value) end
end
-- Flows that wait for a cap are checked again; claim puts back those that are still at their caps.
if changes_all then recheck_capped('0') end
-- After any change, there may be jobs for idle workers.
claimable = math.max(claimable, 1)
wake_workers()
notify_workers('config', '1')
return 'OK'
