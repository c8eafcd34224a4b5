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
  return c[1] and c[2] and c[1] / c[2] or nil
end

-- Writes the tallies.
local function settle_costs()
  for key, c in pairs(costs) do
    local ms, jobs, stated = call('HINCRBY', key, 'costMs', int(c[1])), call('HINCRBY', key, 'costJobs', int(c[2])),
      call('HINCRBY', key, 'costStated', int(c[3]))
    if jobs >= COSTS_MAX then
      call('HSET', key, 'costMs', int(ms / 2), 'costJobs', int(jobs / 2), 'costStated', int(stated / 2))
    end
  end
end
