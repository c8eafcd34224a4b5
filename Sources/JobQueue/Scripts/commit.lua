-- Step 1 of publishing: records the versions that jobs are about to publish.
--
-- ARGV     P, events max, done max, (id, fence, version, outcome: `completed` or `drafted`, data of its event
--          (JSON))*
-- Returns  per job OK; or GONE, FENCED or CANCELLED: the version must not be published; or ERROR and the reason
-- Crash    Afterwards a job stays `committing`; when its lease expires, reap gives it to a worker
--          that continues with step 2. Called again with the same fence and version: OK.
local cancelled = {}
local function is_cancelled(batch)
  if cancelled[batch] == nil then
    cancelled[batch] = call('HEXISTS', P .. 'batch:' .. batch, 'cancel') == 1
  end
  return cancelled[batch]
end

local function commit(id, fence, version, outcome, data)
  local k = P .. 'job:' .. id
  local j = call('HMGET', k, 'state', 'fence', 'version', 'cancel', 'batch', 'since')
  if not j[1] then return 'GONE' end
  if j[2] ~= fence then return 'FENCED' end
  if j[1] == 'committing' and j[3] == version then return 'OK' end
  if j[1] ~= 'active' then return 'GONE' end
  if j[4] or j[5] and is_cancelled(j[5]) then return 'CANCELLED' end
  call('HSET', k, 'state', 'committing', 'version', version, 'outcome', outcome)
  -- The cost of the render: publication may have to wait for the library.
  if j[6] then call('HSET', k, 'worked', int(math.max(0, lived_time() - j[6]))) end
  call('SET', P .. 'result:' .. id, data)
  return 'OK'
end

local out = {}
for i = 4, #ARGV, 5 do
  out[#out + 1] = guarded(commit, ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4])
end
return out
