-- Jobs that were submitted: their producer was answered at once (submit.lua), and admission keeps the promise.
--
-- Hash reserved has for the id of each that is not yet a job `<entry> <tenant>`, with `-` before it when the job was
-- cancelled meanwhile and has ended. A reservation holds as long as its entry is in the ingress stream: one whose entry was
-- dropped unread, or taken by a worker of an earlier release, holds nothing, and `tend` sweeps it.
-- Hash backlog:<tenant> has the ids of the tenant's jobs that were submitted and have not ended, and `batch:<batch>` for
-- each such batch. Their records have the field `submitted`. Ids, not a number: what is written twice counts once,
-- and the doctor can look at each.
local function backlog(tenant) return P .. 'backlog:' .. tenant end

-- The entry and the tenant of a reservation's text, and whether the job was cancelled.
local function noted(text)
  local mark, entry, tenant = text:match('^(%-?)(%S+) (.*)$')
  return entry, tenant, mark == '-'
end

-- The entry of the ingress stream that a name is of, as XRANGE has it; nil when it is there no more. Anybody may ask for
-- any name: Redis takes numbers below 2^64 in one, and fails at others.
local function entry_named(name)
  local door, id = door_of(name)
  if not door or id:find(string.rep('%d', 20)) then return nil end
  return call('XRANGE', P .. door.stream, id, id)[1]
end

-- The fields of the entry that has an id reserved, and its name; nil when none has.
local function reserved_entry(id)
  local text = call('HGET', P .. 'reserved', id)
  local name, _, is_cancelled = noted(text or ' ')
  local entry = name and not is_cancelled and entry_named(name)
  if not entry then return nil end
  local f = {}
  for i = 1, #entry[2], 2 do f[entry[2][i]] = entry[2][i + 1] end
  return f, name
end

-- Ends a reservation whose entry is no more, and its place in the backlog unless there is a job that has it.
local function end_reservation(id, tenant)
  call('HDEL', P .. 'reserved', id)
  local j = call('HMGET', P .. 'job:' .. id, 'submitted', 'state')
  if not j[1] or j[2] == 'done' or j[2] == 'dead' then call('HDEL', backlog(tenant), id) end
end

-- Whether a reservation holds.
local function is_reserved(text)
  local name = noted(text)
  return name and entry_named(name) and true or false
end
