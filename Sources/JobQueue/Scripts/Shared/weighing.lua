-- The jobs that were admitted ahead of the workers, in hash virtual: `aheadJobs` counts single jobs, `aheadBytes` the
-- bytes of large edits (field `bytes` of a job that has one; small ones are bounded by their number). Both are of jobs
-- that have not ended. Members of batches are not counted as jobs, because batches have windows; nor is what waits for its notBefore,
-- which would keep out what can be done now.
local ahead = {jobs = 0, bytes = 0}

-- Counts a job that comes (1), or one that ends (-1).
local function weigh(j, sign)
  if not j.batch then ahead.jobs = ahead.jobs + sign end
  if j.bytes then ahead.bytes = ahead.bytes + sign * j.bytes end
end

-- Writes what was tallied.
local function settle_ahead()
  if ahead.jobs ~= 0 then call('HINCRBY', P .. 'virtual', 'aheadJobs', int(ahead.jobs)) end
  if ahead.bytes ~= 0 then call('HINCRBY', P .. 'virtual', 'aheadBytes', int(ahead.bytes)) end
  ahead.jobs, ahead.bytes = 0, 0
end
