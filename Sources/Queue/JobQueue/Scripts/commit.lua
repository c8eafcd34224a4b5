-- Step 1 of publishing: records the versions that jobs are about to publish.
--
-- ARGV     P, events max, done max, (id, fence, version, outcome: `completed` or `drafted`, data of its event
--          (JSON), earlier versions of its asset as lines `<version> <job>`, the newest first)*
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

-- Returns the data of an event with the versions since the last one that was told. A version is told when its job is done with it.
-- When Redis has lost that, and the job then ended otherwise, only the next version of the asset can tell. A job without a record
-- is one that ended long ago.
local function telling(data, earlier)
  local untold = {}
  for version, job in earlier:gmatch('(%S+) (%S+)') do
    local j = call('HMGET', P .. 'job:' .. job, 'state', 'outcome', 'version')
    if not j[1] or j[1] == 'done' and j[2] == 'completed' and j[3] == version then break end
    untold[#untold + 1] = '{"job":' .. quoted(job) .. ',"version":' .. quoted(version) .. '}'
  end
  if not untold[1] then return data end
  return data:sub(1, -2) .. ',"untold":[' .. table.concat(untold, ',') .. ']}'
end

local function commit(id, fence, version, outcome, data, earlier)
  local k = P .. 'job:' .. id
  local j = call('HMGET', k, 'state', 'fence', 'version', 'cancel', 'batch', 'since')
  if not j[1] then return 'GONE' end
  if j[2] ~= fence then return 'FENCED' end
  if j[1] == 'committing' and j[3] == version then return 'OK' end
  if j[1] ~= 'active' then return 'GONE' end
  if j[4] or j[5] and is_cancelled(j[5]) then return 'CANCELLED' end
  -- The cost of the render: publication may have to wait for the library.
  local worked = j[6] and {'worked', int(math.max(0, lived_time() - j[6]))} or {}
  call('HSET', k, 'state', 'committing', 'version', version, 'outcome', outcome, unpack(worked))
  call('SET', P .. 'result:' .. id, telling(data, earlier))
  return 'OK'
end

local out = {}
for i = 4, #ARGV, 6 do
  out[#out + 1] = guarded(commit, ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5])
end
return out
