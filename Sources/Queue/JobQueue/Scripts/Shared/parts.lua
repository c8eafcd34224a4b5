-- Parts of a job that any worker may run. A part is claimed, leased, retried and reaped like a job. But it is internal to its
-- job: it has no events, no counter, batch or list of ended jobs includes it, and when it ends, successfully or not, its record
-- is dropped. The job inspects the result itself.
--
-- Hash parts:<job>, of a job whose record has the field `split`, has the common task of all parts in `task`, and by number
-- `open` or `ended`. It is dropped with its parts when the job ends. A part's id is <job>+<number>: no id of a producer
-- contains `+`. Its record names its job in `parent`; its asset is its own id, so that no job is parked behind it. Its format
-- is PART_FORMAT, so that workers of earlier releases leave it to newer ones.
local PART_FORMAT = '3'

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
  call('HDEL', P .. 'assets', p.id)
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
  local parts = call('HGETALL', P .. 'parts:' .. job)
  for i = 1, #parts, 2 do
    local p = load(part_id(job, parts[i]))
    if p then remove_part(p) end
  end
  call('UNLINK', P .. 'parts:' .. job)
end
