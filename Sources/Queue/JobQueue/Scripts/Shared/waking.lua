-- Wake-ups. A worker with a free slot and nothing to claim blocks in BLPOP on list wake until it receives a token; a token
-- wakes one worker. Scripts push tokens when they have made jobs claimable, and a claim that leaves jobs pushes more. So
-- as many workers wake as there is work for, and all others stay blocked. A token without a waiting worker stays until one
-- waits; that worker then claims once in vain.
local WAKES_MAX = 16  -- the maximum number of waiting tokens

-- Wakes workers for a number of jobs. Tokens that no worker has received yet count.
local function wake_for(jobs)
  for _ = call('LLEN', P .. 'wake') + 1, math.min(jobs, WAKES_MAX) do call('RPUSH', P .. 'wake', '1') end
end

-- Wakes workers for the jobs that this script has made claimable.
local function wake_workers()
  if claimable > 0 then wake_for(claimable) end
end
