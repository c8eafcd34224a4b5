-- Names of jobs and batches whose records were dropped. They are remembered in two hashes that reap rotates:
-- seen:new and seen:old. The ids of a batch's members, and of events, contain such a name.
-- Returns the digest of the dropped record of a name, perhaps with a mark (`remove_record`); false if the name is free.
local function seen(name) return call('HGET', P .. 'seen:new', name) or call('HGET', P .. 'seen:old', name) end

-- Returns the digest in a remembered value, the end of the job unless it succeeded, and its generation then.
local function remembered(value)
  local ended, generation, hash = value:match('^(%l+):(%d*):(.*)$')
  return hash or value, ended, generation
end

-- `seenSince`, the time of the last rotation, is a `lived` (Shared/ages.lua).
-- Returns the time until which a name is remembered at the latest, ms since 1970; nil if no worker has recorded it yet. A name in
-- seen:new is kept for two rotations, a name in seen:old for one.
local function remembered_until(name)
  local turn = call('HMGET', P .. 'virtual', 'seenSince', 'seenKeep')
  if not turn[1] or not turn[2] then return nil end
  return turn[1] + turn[2] * (call('HEXISTS', P .. 'seen:new', name) == 1 and 2 or 1) + MS - lived_time()
end
