-- Parts of a job that any worker may do. A part is claimed, leased, retried and taken back as jobs are. But it is its
-- job's own affair: no event is said of it, no counter, batch or list of ended jobs knows it, and when it ends, well or
-- not, its record is dropped. The job looks what was made of it.
--
-- Hash parts:<job>, of a job whose record says `split`, has what is to be done in `task`, the same for all parts, and by number `open` or `ended`. It is dropped
-- with its parts when the job ends. A part's id is <job>+<number>: `+` stands in no id of a producer. Its record
-- names its job in `parent`; its asset is its own id, so that nothing is parked behind it. Its format is PART_FORMAT, so
-- that workers of before leave it to newer ones.
local PART_FORMAT = '3'

local function part_id(job, number) return job .. '+' .. number end

-- Takes a part away, wherever it is. A worker that does it hears of it, and is refused from now on.
local function drop_part(p)
  if p.state == 'active' then
    call('ZREM', P .. 'lease', p.id)
    run(p.tenant, -1)
    tell_workers('job', p.id)
  elseif p.state == 'delayed' then
    call('ZREM', P .. 'delayed', p.id)
  elseif p.state == 'ready' then
    leave_flow(p.priority, p.tenant, p.id)
  end
  call('HDEL', P .. 'assets', p.id)
  call('UNLINK', P .. 'job:' .. p.id, P .. 'attempts:' .. p.id, P .. 'result:' .. p.id)
end

-- Takes a part away that ended while its worker still held it, or that nobody can do. It is not made again.
local function end_part(p)
  drop_part(p)
  if call('HEXISTS', P .. 'parts:' .. p.parent, 'task') == 1 then
    call('HSET', P .. 'parts:' .. p.parent, p.id:match('%+(%d+)$'), 'ended')
  end
end

-- Takes all parts of a job away.
local function end_parts(job)
  local parts = call('HGETALL', P .. 'parts:' .. job)
  for i = 1, #parts, 2 do
    local p = load(part_id(job, parts[i]))
    if p then drop_part(p) end
  end
  call('UNLINK', P .. 'parts:' .. job)
end
