-- Wake-ups. A worker with a free slot and nothing to claim blocks in BLPOP on list wake until a token comes, one
-- token a worker. Scripts push tokens when they have made jobs claimable, and a claim that leaves jobs pushes more: so
-- as many workers wake as there is work for, and all others sleep on. Tokens that nobody waits for stay until somebody
-- does, who then claims once in vain.
local WAKES_MAX = 16  -- tokens that wait for workers at most

-- Wakes workers for so many jobs. Tokens that no worker has taken yet count.
local function wake_for(jobs)
  for _ = call('LLEN', P .. 'wake') + 1, math.min(jobs, WAKES_MAX) do call('RPUSH', P .. 'wake', '1') end
end

-- Wakes workers for what this script has made claimable.
local function wake_workers()
  if claimable > 0 then wake_for(claimable) end
end
