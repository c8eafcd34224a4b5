-- Leaves a job to other workers, because the machine of its worker cannot do it. No attempt is counted. The names of the workers
-- that cannot do it are in the record's field `unable`, one a line, and `claim` does not give the job to them again while another
-- worker is alive. If no worker that lives (Shared/admission.lua) is left, the job is dead.
--
-- ARGV     P, events max, done max, id, fence, worker, names at most, code, message, data of the event if it is dead (JSON),
--          attempt for the history (JSON)
-- Returns  OK, or DEAD, or GONE, or FENCED
-- Crash    Before it, the lease expires and reap counts a crash; afterwards the job is ready or dead.
local id, fence, worker, names_max, code, message, data, attempt =
  ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local j = load(id)
local refused = refusal(j, fence)
if refused then return refused end
if j.state ~= 'active' then return 'GONE' end
if bury_damaged(j) then
  settle()
  return 'GONE'
end
local answer = 'OK'
remember(id, attempt)
if j.cancel then
  cancel(j, j.cancel)
else
  local unable = j.unable or '\n'
  if not unable:find('\n' .. worker .. '\n', 1, true) then unable = unable .. worker .. '\n' end
  local _, names = unable:gsub('\n', '')
  end_hold(j)
  if names <= names_max + 1 and able_worker(unable) then
    call('HSET', P .. 'job:' .. id, 'unable', unable)
    make_ready(j)
  else
    call('HINCRBY', P .. 'job:' .. id, 'attempts', '1')
    leave_asset(j)
    make_dead(j, code, message, data)
    answer = 'DEAD'
  end
end
settle()
return answer
