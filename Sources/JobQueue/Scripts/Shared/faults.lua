-- What the doctor's scripts share. A script runs alone, so what it sees is one moment of a live queue, and
-- what it finds wrong is wrong.
--
-- The record of a job says what is true: every script looks at its state and fence before it writes. So the
-- structures are mended after the record, never the other way round.
local repair = ARGV[4] == '1'
local faults = {}

-- Notes a fault, and mends it first if it may be and can be: the row is kind, subject, detail, mended (1).
local function fault(kind, subject, detail, mend)
  if repair and mend then mend() end
  faults[#faults + 1] = {kind, subject, detail or '', repair and mend and '1' or ''}
end

-- States in which a job has its asset.
local HOLDS = {ready = true, active = true, committing = true, stuck = true, delayed = true}

-- The job that rightly has an asset, or nil.
local function right_holder(asset)
  local id = call('HGET', P .. 'assets', asset)
  local h = id and load(id)
  if h and h.asset == asset and HOLDS[h.state] then return h end
end

-- Gives an asset that nobody rightly has to the first job that is parked behind it, or to nobody.
-- Safe: a job is rendered only while it has its asset, and no other has this one.
local function free_asset(asset)
  for _ = 1, 1000 do
    local first = call('ZRANGE', P .. 'parked:' .. asset, '0', '0')[1]
    local j = first and load(first)
    if not first or j and j.state == 'parked' then break end
    call('ZREM', P .. 'parked:' .. asset, first)
  end
  any_parked = true  -- whatever zset parked says
  leave_asset({asset = asset})
end
