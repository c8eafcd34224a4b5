-- Shared by the doctor's scripts. A script runs alone, so it sees a live queue at one moment, and its findings are real.
--
-- The record of a job is authoritative: every script checks its state and fence before it writes. So repairs change the
-- structures to match the record, never the other way round.
local repair = ARGV[4] == '1'
local faults = {}

-- Records a fault, after its repair if that is requested and possible: the row is kind, subject, detail, mended (1).
local function fault(kind, subject, detail, mend)
  if repair and mend then mend() end
  faults[#faults + 1] = {kind, subject, detail or '', repair and mend and '1' or ''}
end

-- The states in which a job holds its asset.
local HOLDS = {ready = true, active = true, committing = true, stuck = true, delayed = true}

-- Returns the job that holds an asset by its record, or nil.
local function right_holder(asset)
  local id = call('HGET', P .. 'assets', asset)
  local h = id and load(id)
  if h and h.asset == asset and HOLDS[h.state] then return h end
end

-- Gives an asset without a valid holder to the first job that is parked behind it, or to no job.
-- This is safe: a job is rendered only while it holds its asset, and no other job holds this one.
local function free_asset(asset)
  for _ = 1, 1000 do
    local first = call('ZRANGE', P .. 'parked:' .. asset, '0', '0')[1]
    local j = first and load(first)
    if not first or j and j.state == 'parked' then break end
    call('ZREM', P .. 'parked:' .. asset, first)
  end
  any_parked = true  -- regardless of the contents of zset parked
  leave_asset({asset = asset})
end
