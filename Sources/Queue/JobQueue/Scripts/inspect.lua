-- Checks whether jobs are exactly in the structures that their records imply, and repairs what can be repaired.
--
-- ARGV     P, events max, done max, whether to repair (1), lease ms, (structure, id)*: the structure in which the
--          caller saw the id, as the key without P; `assets:<asset>` for the holder of an asset,
--          `unlisted` for a done job that the caller did not see in list done
-- Returns  {kind, job, detail, repaired (1) or ``}*
-- Crash    All of a call or nothing; a repeated call finds the rest.
local lease = tonumber(ARGV[5])
-- Checks a reservation, or an id in a tenant's backlog, for an entry or a job that justifies it.
local function inspect_submitted(structure, id)
  local text = call('HGET', P .. structure, id)
  if not text then return end
  local tenant = structure:match('^backlog:(.*)$')
  if not tenant then
    if is_reserved(text) then return end
    local _, of = noted(text)
    return fault('memberWithoutRecord', id, structure, function() end_reservation(id, of or 'default') end)
  end
  local batch = id:match('^batch:(.*)$')
  local r = call('HMGET', P .. (batch and id or 'job:' .. id), 'submitted', 'generation', 'finished', 'state')
  local is_open = r[1] and (batch and r[2] ~= r[3] or not batch and not ENDED[r[4]])
  local held = not batch and call('HGET', P .. 'reserved', id)
  if is_open or held and held:sub(1, 1) ~= '-' and is_reserved(held) then return end
  fault(r[4] and 'inWrongPlace' or 'memberWithoutRecord', id, structure, function()
    end_entry(id, tenant)
    call('HDEL', P .. structure, id)
  end)
end

-- Checks whether a submitted job that has not ended counts against its tenant's quota.
local function inspect_backlog(j)
  if not j.submitted or ENDED[j.state] then return end
  if call('HEXISTS', backlog(j.tenant), j.id) == 1 then return end
  fault('notInPlace', j.id, 'backlog:' .. j.tenant, function() call('HSET', backlog(j.tenant), j.id, '1') end)
end

-- Checks whether a report is of a worker that is listed: `reap` forgets only those, ten leases after their last beats.
local function inspect_report(worker)
  if call('ZSCORE', P .. 'workers', worker) or call('HEXISTS', P .. 'workers:info', worker) == 0 then return end
  fault('reportOfNobody', worker, 'workers:info', function() call('HDEL', P .. 'workers:info', worker) end)
end

local PARTS = {edit = true, result = true, attempts = true, parts = true}
-- The fields that a job needs to continue, by state.
local NEEDED = {active = {'fence', 'claimed', 'worker'}, committing = {'fence', 'claimed', 'worker', 'version', 'outcome'},
  done = {'outcome'}}
-- A value that takes the place of a field that marks a hold.
local STAND_INS = {fence = function() return int(next_time()) end, claimed = function() return NOW end,
  worker = function() return 'unknown' end}

local function flow_of(j) return 'ready:' .. j.priority .. ':' .. j.tenant end

-- Returns the zsets in which a job belongs.
local function structures(j)
  if j.state == 'ready' then return {[flow_of(j)] = true} end
  if j.state == 'parked' then return {parked = true, ['parked:' .. j.asset] = true} end
  if HELD[j.state] then return {lease = true} end
  if LISTED[j.state] then return {[j.state] = true} end
  return {}
end

local function remove(structure, id, tenant)
  local priority, tenant = structure:match('^ready:(%a+):(.*)$')
  if priority then leave_flow(priority, tenant, id)
  elseif structure == 'done' then call('LREM', P .. structure, '1', id)
  elseif structure == 'lease' and tenant then unhold(id, tenant)
  else call('ZREM', P .. structure, id) end
end

-- Puts a job back into the structures that its record implies.
--
-- ready, parked       make_ready decides by the holder of the asset, as for any job.
-- delayed             The due time is not in the record. A start too early does no harm; no start at all would.
-- active              Its lease begins again: the worker renews it, or there is none and reap finds the job.
-- dead, stuck, done   No worker runs such a job; it becomes visible again, or is dropped in its turn.
local function put_back(j)
  if j.state == 'ready' or j.state == 'parked' then make_ready(j)
  elseif LISTED[j.state] then call('ZADD', P .. j.state, ENDED[j.state] and j.ended or NOW, j.id)
  elseif j.state == 'done' then call('RPUSH', P .. 'done', j.id)
  else hold(j.id, j.tenant, int(MS + lease)) end
end

-- Checks an id without a record: it has neither asset nor edit, so no job can be run.
local function inspect_nothing(structure, id)
  local asset = structure:match('^assets:(.*)$')
  if asset then
    if call('HGET', P .. 'assets', asset) == id then
      fault('holderWrong', id, asset, function() free_asset(asset) end)
    end
  elseif PARTS[structure] then
    if call('EXISTS', P .. structure .. ':' .. id) == 1 then
      fault('partWithoutRecord', id, structure, function() call('UNLINK', P .. structure .. ':' .. id) end)
    end
  elseif structure == 'done' then
    if call('LPOS', P .. 'done', id) then
      fault('memberWithoutRecord', id, structure, function() remove(structure, id) end)
    end
  elseif structure ~= 'job' and structure ~= 'unlisted' and call('ZSCORE', P .. structure, id) then
    fault('memberWithoutRecord', id, structure, function() remove(structure, id) end)
  end
end

-- Checks whether the record has the fields that its state needs. Fields that a worker wrote cannot be reconstructed, except the
-- marks of a hold: under a new fence the worker's writes are refused, and reap recovers the job.
local function inspect_fields(j)
  local k = P .. 'job:' .. j.id
  if not RECORDED[j.state or ''] then fault('recordIncomplete', j.id, 'state') return false end
  if not j.asset then fault('recordIncomplete', j.id, 'asset') return false end
  if j.malformed then return true end
  if not j.sequence then
    fault('recordIncomplete', j.id, 'sequence', function()
      j.sequence = int(call('INCR', P .. 'sequence'))
      call('HSET', k, 'sequence', j.sequence)
    end)
    if not j.sequence then return false end
  end
  for _, name in ipairs(NEEDED[j.state] or {}) do
    if not j[name] then
      fault('recordIncomplete', j.id, name, STAND_INS[name] and function()
        j[name] = STAND_INS[name]()
        call('HSET', k, name, j[name])
      end)
    end
  end
  if j.state == 'committing' and call('EXISTS', P .. 'result:' .. j.id) == 0 then
    fault('recordIncomplete', j.id, 'result')
  end
  if j.parent then
    -- A part has the task of its job. A part whose job has ended is dropped when its turn comes.
    if call('HEXISTS', P .. 'parts:' .. j.parent, 'task') == 0 and call('EXISTS', P .. 'job:' .. j.parent) == 1 then
      fault('recordIncomplete', j.id, 'task', function() remove_part(j) end)
      return false
    end
  elseif j.state ~= 'done' then
    local edit = (not j.batch or j.own) and 'edit:' .. j.id or 'batch:' .. j.batch .. ':edit'
    if call('EXISTS', P .. edit) == 0 then fault('recordIncomplete', j.id, 'edit') end
  end
  return true
end

-- Checks whether the job holds its asset, if its state requires it, and no other job does.
local function inspect_hold(j)
  local h = right_holder(j.asset)
  if HOLDS[j.state] and j.state ~= 'delayed' then
    if not h then
      fault('assetNotHeld', j.id, j.asset, function() call('HSET', P .. 'assets', j.asset, j.id) end)
    elseif h.id ~= j.id then
      -- A waiting job can wait for the other one. Of two running jobs, the fences and the revision decide.
      fault('assetHeldTwice', j.id, j.asset, j.state == 'ready' and function()
        leave_flow(j.priority, j.tenant, j.id)
        make_ready(j)
        j.state = 'parked'
      end or nil)
    end
  elseif j.state == 'parked' and not h then
    fault('parkedBehindNobody', j.id, j.asset, function()
      free_asset(j.asset)
      j.state = call('HGET', P .. 'job:' .. j.id, 'state')
    end)
  end
end

local function inspect_structures(j, seen, id)
  local right = structures(j)
  local checked = {lease = true, ['parked:' .. j.asset] = true, [flow_of(j)] = true}
  for state in pairs(LISTED) do checked[state] = true end
  if seen:find('^ready:') or seen:find('^parked:') then checked[seen] = true end
  local extra = {}
  for structure in pairs(checked) do
    local there = redis.pcall('ZSCORE', P .. structure, id)
    if type(there) == 'table' then there = nil end  -- of another type: the walk reports it
    if there and not right[structure] then extra[#extra + 1] = structure end
    if not there and right[structure] then fault('notInPlace', id, structure, function() put_back(j) end) end
  end
  -- A job that was not seen in a long list has usually been added since, so it is near the end.
  if seen == 'unlisted' and j.state == 'done' and not call('LPOS', P .. 'done', id, 'RANK', '-1') then
    fault('notInPlace', id, 'done', function() put_back(j) end)
  end
  if seen == 'done' and j.state ~= 'done' and call('LPOS', P .. 'done', id) then extra[#extra + 1] = 'done' end
  -- By now the job is where its record says, so nothing is lost. If a worker holds it under an entry of
  -- `lease` that is removed here, all its writes are refused: the state is not that of a hold.
  for _, structure in ipairs(extra) do
    fault('inWrongPlace', id, structure, function() remove(structure, id, j.tenant) end)
  end
end

-- Publishing is idempotent, so another attempt neither loses the job nor does it twice.
local function inspect_stuck(j)
  fault('publicationStuck', j.id, j.asset .. ' (' .. (j.code or '?') .. ': ' .. (j.message or '?') .. ')',
    function() resume(j) end)
end

-- Counts a dead job that is in no group into its group. The job itself is correct, so this is not a finding.
local function inspect_group(j)
  if not repair or j.state ~= 'dead' then return end
  if (j.group or ''):match('^%d+') == (call('HGET', P .. 'dead:groups', 'epoch') or '1') then return end
  local edit = j.malformed and nil or call('GET', P .. edit_key(j)) or nil
  call('HSET', P .. 'job:' .. j.id, 'group', join_group(j.id, j.code or 'unknown', j.tenant, edit, j.ended or NOW))
end

local function inspect(structure, id)
  if structure == 'workers:info' then return inspect_report(id) end
  local is_record, j = pcall(load, id)
  if not is_record then
    fault('recordIncomplete', id, 'type')
  elseif structure == 'reserved' or structure:find('^backlog:') then
    inspect_submitted(structure, id)
  elseif not j then
    inspect_nothing(structure, id)
  elseif is_later(j) then
    inspect_group(j)
    fault('formatLater', id, j.format)
  else
    local asset = structure:match('^assets:(.*)$')
    if asset and (j.asset ~= asset or not HOLDS[j.state]) and call('HGET', P .. 'assets', asset) == id then
      fault('holderWrong', id, asset, function() free_asset(asset) end)
      j = load(id)
    end
    inspect_group(j)
    if inspect_fields(j) then
      -- A parked job must be in its queue before the queue can move on.
      if j.state == 'parked' then inspect_structures(j, structure, id) inspect_hold(j)
      else inspect_hold(j) inspect_structures(j, structure, id) end
      inspect_backlog(j)
      if j.state == 'stuck' and structure == 'stuck' then inspect_stuck(j) end
    end
  end
end

-- One that cannot even be looked at must not take the others of the call away. What the user may not do is no damage.
local forbidden
for i = 6, #ARGV, 2 do
  local failure = guarded(inspect, ARGV[i], ARGV[i + 1])
  -- The messages of Redis up to 7.0, and from 7.2 on.
  if failure and (failure:find('NOPERM', 1, true) or failure:find('The user executing the script', 1, true)
    or failure:find('ACL failure in script', 1, true)) then forbidden = failure:sub(7) break end
  if failure then fault('recordIncomplete', ARGV[i + 1], ARGV[i]) end
end
settle()
return forbidden and {err = forbidden} or faults
