-- Creates parts of a job that any worker may run, while the job's worker runs the others. Parts that exist or have ended
-- stay; those of another task are removed.
--
-- ARGV     P, events max, done max, id, fence, task, number*
-- Returns  OK, or GONE, or FENCED. A job in quarantine has no parts, because it must run alone
-- Crash    The parts stay for the next worker of the job, and are removed when the job ends.
local id, fence, task = ARGV[4], ARGV[5], ARGV[6]
local j = load(id)
local refused = refusal(j, fence)
if refused then return refused end
if j.state ~= 'active' or j.parent then return 'GONE' end
local key = P .. 'parts:' .. id
if call('HGET', key, 'task') ~= task then end_parts(id) end
if j.priority ~= 'alone' then
  call('HSET', key, 'task', task)
  call('HSET', P .. 'job:' .. id, 'split', '1')
  local cost = j.cost and int(math.max(1, math.floor(j.cost / (#ARGV - 6))))
  for i = 7, #ARGV do
    local part = part_id(id, ARGV[i])
    if call('HSETNX', key, ARGV[i], 'open') == 1 then
      local record = {'state', 'ready', 'format', PART_FORMAT, 'asset', PART_ASSET .. part, 'parent', id, 'sequence', j.sequence,
        'arrival', arrival_of(j), 'enqueued', NOW, 'tenant', j.tenant, 'priority', j.priority, 'generation', j.generation}
      if j.traceparent then
        record[#record + 1] = 'traceparent'
        record[#record + 1] = j.traceparent
      end
      if cost then
        record[#record + 1] = 'cost'
        record[#record + 1] = cost
      end
      call('HSET', P .. 'job:' .. part, unpack(record))
      make_ready(load(part))
    end
  end
end
settle()
return 'OK'
