-- Jobs that were submitted: their producers received the result at once (submit.lua), and admission must honour it.
--
-- Hash reserved has `<entry> <tenant>` for each id that is not yet a job, with a leading `-` if the job was cancelled
-- meanwhile and has ended. A reservation is valid while its entry is in the ingress stream. If the entry was dropped unread, or
-- taken by a worker of an earlier release, the reservation is void, and `tend` removes it.
-- Hash backlog:<tenant> has the ids of the tenant's submitted jobs that have not ended, and `batch:<batch>` for each such batch. The
-- value is the bytes of an entry that is not yet a job (Shared/stored.lua), otherwise 1.
-- Their records have the field `submitted`. The hash has ids and not a number, so that an id that is written twice counts once,
-- and the doctor can check each.
local function backlog(tenant) return P .. 'backlog:' .. tenant end

-- Uncounts the bytes of an entry that is not a reserved one any more.
local function end_entry(id, tenant)
  local entry = call('HGET', backlog(tenant), id)
  if not entry or entry == '1' then return end
  unstore(tenant, entry)
  call('HSET', backlog(tenant), id, '1')
end

-- Returns the entry and the tenant of a reservation's text, and whether the job was cancelled.
local function noted(text)
  local mark, entry, tenant = text:match('^(%-?)(%S+) (.*)$')
  return entry, tenant, mark == '-'
end

-- Returns the entry of the ingress stream with a given name, in the form of XRANGE; nil if it is gone. A client may ask for
-- any name: Redis accepts ids with numbers below 2^64 and fails for others.
local function entry_named(name)
  local door, id = door_of(name)
  if not door or id:find(string.rep('%d', 20)) then return nil end
  return call('XRANGE', P .. door.stream, id, id)[1]
end

-- Returns the fields of the entry that reserves an id, and its name; nil if there is none.
local function reserved_entry(id)
  local text = call('HGET', P .. 'reserved', id)
  local name, _, is_cancelled = noted(text or ' ')
  local entry = name and not is_cancelled and entry_named(name)
  if not entry then return nil end
  local f = {}
  for i = 1, #entry[2], 2 do f[entry[2][i]] = entry[2][i + 1] end
  return f, name
end

-- Ends a reservation whose entry is gone, and removes the id from the backlog unless an open job has it.
local function end_reservation(id, tenant)
  call('HDEL', P .. 'reserved', id)
  end_entry(id, tenant)
  local j = call('HMGET', P .. 'job:' .. id, 'submitted', 'state')
  if not j[1] or j[2] == 'done' or j[2] == 'dead' then call('HDEL', backlog(tenant), id) end
end

-- Returns whether a reservation is valid.
local function is_reserved(text)
  local name = noted(text)
  return name and entry_named(name) and true or false
end
