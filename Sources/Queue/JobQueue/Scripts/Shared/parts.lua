-- Parts of a job that any worker may run. A part is claimed, leased, retried and reaped like a job. But it is internal to its
-- job: it has no events, no counter, batch or list of ended jobs includes it, and when it ends, successfully or not, its record
-- is dropped. The job inspects the result itself.
--
-- Hash parts:<job>, of a job whose record has the field `split`, has the common task of all parts in `task`, and by number
-- `open` or `ended`. It is dropped with its parts when the job ends. A part's id is <job>+<number>: no id of a producer
-- contains `+`. Its record names its job in `parent`; its asset is its own id behind PART_ASSET, a control character that no
-- asset of a producer contains, so that no job is parked behind it and none that edits a photo of such a name is disturbed. A part of
-- an earlier release has its id alone. Its format is PART_FORMAT, so that workers of earlier releases leave it to newer ones.
local PART_FORMAT = '3'
local PART_ASSET = '\1'

local function part_id(job, number) return job .. '+' .. number end

-- Removes a part in any state. A worker that runs it is notified, and its writes are refused from now on.
local function remove_part(p)
  if unhold(p.id, p.tenant) then
    notify_workers('job', p.id)
  elseif p.state == 'delayed' then
    call('ZREM', P .. 'delayed', p.id)
    call('ZREM', P .. 'retrying', p.id)
  elseif p.state == 'ready' then
    leave_flow(p.priority, p.tenant, p.id)
  end
  if p.asset and call('HGET', P .. 'assets', p.asset) == p.id then call('HDEL', P .. 'assets', p.asset) end
  call('UNLINK', P .. 'job:' .. p.id, P .. 'attempts:' .. p.id, P .. 'result:' .. p.id)
end

-- Removes a part that ended while its worker still held it, or that no worker can run. It is not created again.
local function end_part(p)
  remove_part(p)
  if call('HEXISTS', P .. 'parts:' .. p.parent, 'task') == 1 then
    call('HSET', P .. 'parts:' .. p.parent, p.id:match('%+(%d+)$'), 'ended')
  end
end

-- Removes all parts of a job.
local function end_parts(job)
  local parts = redis.pcall('HGETALL', P .. 'parts:' .. job)
  for i = 1, #parts, 2 do
    local is_read, p = pcall(load, part_id(job, parts[i]))
    if is_read and p then guarded(remove_part, p) end
  end
  call('UNLINK', P .. 'parts:' .. job)
end

-- The jobs that were admitted ahead of the workers, in hash virtual: `aheadJobs` counts single jobs, `aheadBytes` the
-- bytes of large edits (field `bytes` of a job that has one; small ones are bounded by their number). Both count jobs
-- that have not ended. Members of batches are not counted as jobs, because batches have windows. Jobs that wait for their
-- notBefore are not counted either, because they would keep out jobs that can run now.
--
-- `apartJobs` and `apartBytes` are the part of both that was passed on to able workers (field `unable`) and has not ended.
local ahead = {aheadJobs = 0, aheadBytes = 0, apartJobs = 0, apartBytes = 0}

-- Counts a job that is added (1) or that ends (-1); `passed`: one that is passed on for the first time.
local function weigh(j, sign, passed)
  local jobs, bytes = j.batch and 0 or sign, sign * (tonumber(j.bytes or nil) or 0)
  if not passed then ahead.aheadJobs, ahead.aheadBytes = ahead.aheadJobs + jobs, ahead.aheadBytes + bytes end
  if passed or sign < 0 and j.unable then ahead.apartJobs, ahead.apartBytes = ahead.apartJobs + jobs, ahead.apartBytes + bytes end
end

-- Writes the tallies.
local function settle_ahead()
  for _, name in ipairs({'aheadJobs', 'aheadBytes', 'apartJobs', 'apartBytes'}) do
    if ahead[name] ~= 0 then call('HINCRBY', P .. 'virtual', name, int(ahead[name])) end
    ahead[name] = 0
  end
end

-- The cost of a render, for predictions: the average of the last renders, as fields of hash virtual and of each batch. `costMs` and
-- `costJobs` are the sum and the number of the same renders, `costStated` the sum of their stated costs. Jobs that rendered nothing
-- are in none of them, so that a batch that is sent twice makes no render cheap. All are halved at COSTS_MAX: what was true long
-- ago is forgotten.
local COSTS_MAX = 2000  -- renders
local costs = {}

-- Counts a render; `stated` is the job's cost as its producer stated it.
local function add_cost(key, ms, stated)
  local c = costs[key] or {0, 0, 0}
  costs[key] = {c[1] + ms, c[2] + 1, c[3] + (tonumber(stated) or ms)}
end

-- Returns the average cost of a render, in ms of a worker's slot; nil if none is known.
local function mean_cost(key)
  local c = call('HMGET', key, 'costMs', 'costJobs')
  local ms, jobs = tonumber(c[1] or nil), tonumber(c[2] or nil)  -- a damaged sum is none
  return ms and jobs and jobs > 0 and ms / jobs or nil
end

local function settle_cost(key, c)
  local ms, jobs, stated = call('HINCRBY', key, 'costMs', int(c[1])), call('HINCRBY', key, 'costJobs', int(c[2])),
    call('HINCRBY', key, 'costStated', int(c[3]))
  if jobs >= COSTS_MAX then
    call('HSET', key, 'costMs', int(ms / 2), 'costJobs', int(jobs / 2), 'costStated', int(stated / 2))
  end
end

-- Writes the tallies. A damaged batch loses its own alone.
local function settle_costs()
  for key, c in pairs(costs) do guarded(settle_cost, key, c) end
end
