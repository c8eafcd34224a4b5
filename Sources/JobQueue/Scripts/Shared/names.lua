-- Names of jobs and batches whose records were dropped. They are remembered in two hashes that take turns (reap):
-- seen:new and seen:old. Members of a batch, and events, have ids that are made of such a name.

-- The digest of the dropped record of a name, perhaps with a mark (`forget`); false when the name is free.
local function seen(name) return call('HGET', P .. 'seen:new', name) or call('HGET', P .. 'seen:old', name) end

-- The digest of what is remembered of a name, how the job ended if not well, and its generation then.
local function remembered(value)
  local ended, generation, hash = value:match('^(%l+):(%d*):(.*)$')
  return hash or value, ended, generation
end

-- Until when a name is remembered at the latest, ms since 1970; nil when no worker has said so yet. A name in
-- seen:new outlives two turns, a name in seen:old one.
local function remembered_until(name)
  local turn = call('HMGET', P .. 'virtual', 'seenSince', 'seenKeep')
  if not turn[1] or not turn[2] then return nil end
  return turn[1] + turn[2] * (call('HEXISTS', P .. 'seen:new', name) == 1 and 2 or 1)
end
