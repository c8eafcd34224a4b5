-- Leaves a job to other workers, because the machine of its worker cannot do it. No attempt is counted. The workers
-- that cannot do it are in the record's field `unable`, and what a worker must have for it in `needs`
-- (Shared/jobs.lua). `claim` does not give the job to workers without it while an able one is alive. If no able worker that lives
-- is left, the job is dead.
--
-- ARGV     P, events max, done max, id, fence, worker, living workers that try it at most, code, message, data of the event if it is dead (JSON),
--          attempt for the history (JSON), what it needs or ``, whether it fails for good (1), and the message and the data if no
--          other worker has tried it
-- Returns  OK, or DEAD, or GONE, or FENCED; NONE: no able worker lives, the failure may pass, and nothing was changed
-- Crash    Before it, the lease expires and reap counts a crash; afterwards the job is ready or dead.
local id, fence, worker, names_max, code, message, data, attempt =
  ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local needs = ARGV[12] and ARGV[12] ~= '' and ARGV[12] or nil
local j = load(id)
local refused = refusal(j, fence)
if refused then return refused end
if j.state ~= 'active' then return 'GONE' end
if bury_damaged(j) then
  settle()
  return 'GONE'
end

-- Returns `unable` without the workers of which nothing is known any more, and how many others of them live: were heard within two of
-- their leases (Fleet.swift). One that is started again and again, each time under another name, must not end a job that an able worker
-- waits for.
local USUAL_LEASE = 30000  -- ms
local function still_unable()
  local lines, living = '\n', 0
  for line, name in (j.unable or ''):gmatch('(([^\t\n]+)\t[^\n]*\n)') do
    local heard = call('ZSCORE', P .. 'workers', name)
    if heard or call('HEXISTS', P .. 'workers:left', name) == 1 then lines = lines .. line end
    local lease = number_in(report_of(name).leaseMilliseconds, USUAL_LEASE)
    if heard and name ~= worker and math.abs(MS - heard) <= 2 * lease then living = living + 1 end
  end
  return lines, living
end
local known, others = still_unable()
local unable = with_unable(known, worker)
local is_able = not j.cancel and others < names_max and able_worker(unable, needs, j.arrival)
if not j.cancel and not is_able and ARGV[13] == '' then return 'NONE' end
local answer = 'OK'
remember(id, attempt)
if j.cancel then
  cancel(j, j.cancel)
else
  end_hold(j)
  if is_able then
    call('HSET', P .. 'job:' .. id, 'unable', unable)
    if not j.unable and not j.parent then
      weigh(j, 1, true)
      if j.batch then tally(j.batch, 'apart', 1) end
    end
    if needs then call('HSET', P .. 'job:' .. id, 'needs', needs) end
    make_ready(j)
    claimable = claimable + 1  -- one token may go to this worker, which waits for other jobs
  else
    -- Where nobody else has tried it, the failure is told as it is.
    if not j.unable and ARGV[14] then message, data = ARGV[14], ARGV[15] end
    call('HINCRBY', P .. 'job:' .. id, 'attempts', '1')
    leave_asset(j)
    make_dead(j, code, message, data)
    answer = 'DEAD'
  end
end
settle()
return answer
