-- The bytes of Redis that each tenant takes: hash stored, by tenant, and their sum in `storedBytes` of hash virtual. A quota of jobs
-- bounds no bytes: an edit has up to 64 KiB. They are added where something is written and taken off where it is removed:
--   a job                    field `stored` of its record, until it is done; a part of a job counts as its job
--   an entry of `submit`     the value of its id in backlog:<tenant>, until it is admitted or cancelled
--   members of `append`      field `laneBytes` of their batch, until they are fed
--   a batch                  field `stored` of its record
-- An entry of a plain XADD counts from its admission. The constants are those of QUEUE.md; done jobs, results and histories are
-- bounded by the number of jobs. A record of an earlier release has no such field, and counts nothing.
local RECORD_BYTES, ENTRY_BYTES, MEMBER_BYTES, BATCH_BYTES = 450, 60, 23, 600
local stored_by = {}

-- Counts bytes of a tenant that are written, or removed.
local function store(tenant, by) stored_by[tenant] = (stored_by[tenant] or 0) + by end

-- Counts the removal of what a field says; false for none.
local function unstore(tenant, text) if text then store(tenant or 'default', -tonumber(text)) end end

-- Returns why a tenant may not store so many bytes more: STORED, beyond its own limit, or SHARE, beyond that of all producers, and
-- the bytes that it has; nil if it may. A limit that is nil allows any number.
local function refused_bytes(tenant, more, most, all)
  local by = more + (stored_by[tenant] or 0)
  local has = most and tonumber(call('HGET', P .. 'stored', tenant) or '0')
  if has and has + by > most then return 'STORED', int(has) end
  local total = all and tonumber(call('HGET', P .. 'virtual', 'storedBytes') or '0')
  if total and total + by > all then return 'SHARE', int(total) end
end

-- Writes the tallies, and that something has changed: `storedTurn` of hash virtual, by which the doctor knows that its sums are of
-- one moment.
local function settle_stored()
  local total = 0
  if next(stored_by) then call('HINCRBY', P .. 'virtual', 'storedTurn', '1') end
  for tenant, by in pairs(stored_by) do
    if by ~= 0 and call('HINCRBY', P .. 'stored', tenant, int(by)) == 0 then call('HDEL', P .. 'stored', tenant) end
    total = total + by
  end
  if total ~= 0 then call('HINCRBY', P .. 'virtual', 'storedBytes', int(total)) end
  stored_by = {}
end
