-- The jobs that were admitted ahead of the workers, in hash virtual: `aheadJobs` counts single jobs, `aheadBytes` the
-- bytes of large edits (field `bytes` of a job that has one; small ones are bounded by their number). Both count jobs
-- that have not ended. Members of batches are not counted as jobs, because batches have windows. Jobs that wait for their
-- notBefore are not counted either, because they would keep out jobs that can run now.
local ahead = {jobs = 0, bytes = 0}

-- Counts a job that is added (1) or that ends (-1).
local function weigh(j, sign)
  if not j.batch then ahead.jobs = ahead.jobs + sign end
  if j.bytes then ahead.bytes = ahead.bytes + sign * j.bytes end
end

-- Writes the tallies.
local function settle_ahead()
  if ahead.jobs ~= 0 then call('HINCRBY', P .. 'virtual', 'aheadJobs', int(ahead.jobs)) end
  if ahead.bytes ~= 0 then call('HINCRBY', P .. 'virtual', 'aheadBytes', int(ahead.bytes)) end
  ahead.jobs, ahead.bytes = 0, 0
end
