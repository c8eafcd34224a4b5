-- Submits jobs for a producer that waits for the result: each is accepted, was sent before, or is refused. The plain
-- XADD remains available; a job that is accepted here takes the same way, in the order of the arguments. For an id that is sent
-- again, the repeat is detected before the quota is checked: a producer that lost the first reply is not refused.
--
-- ARGV     P, events max, done max, maximum reservations, maximum bytes of all tenants or ``,
--          (number of fields and values of the entry, `1` for the urgent stream or ``, id or ``,
--          tenant, maximum submitted jobs of the tenant that have not ended or ``, its maximum bytes or ``, the entry's fields and
--          values: `asset`, asset, `edit`, edit, then other names and values)*
-- Returns  per job {OK, entry's name}; {SAME, state of the job, `incoming` or `dropped`}; {CONFLICT, ``}: the id has another
--          asset, edit or fields; {ENDED, `dead`, `cancelled` or `dropped`}: the same job ended like this and is not run again;
--          {QUOTA, number of jobs that have not ended}; {FULL, ``}: too many reservations, because no worker admits;
--          {STORED or SHARE, bytes}: these are stored already (refused_bytes); {CLOSED, entries}: a producer has closed the stream, and
--          takes these with it until they are admitted; {ERROR, reason}: what Redis has of the job's id or tenant is damaged
-- Crash    A job has entry, reservation and place in the backlog, or nothing: one script does it. Called again: SAME, if
--          the job has an id. No job is refused for what another of the call is refused for.
local reserved_max, all_max = tonumber(ARGV[4]), tonumber(ARGV[5])
local reserved = call('HLEN', P .. 'reserved')

-- Returns the value of a field among the arguments; nil if it is not there.
local function value(name, from, last)
  for i = from, last, 2 do
    if ARGV[i] == name then return ARGV[i + 1] end
  end
end

-- Appends a job's fields to an ingress stream. Returns the entry, or nil and the number of entries of a stream that Redis adds nothing
-- to. An empty one is renewed at once. For another one the worker that admits is called, which admits the last entry before its turn.
local function append(stream, first, last)
  local entry = redis.pcall('XADD', P .. stream, '*', unpack(ARGV, first, last))
  if not entry.err then return entry end
  local state = ingress_state(stream)
  if not state or state.last ~= HIGHEST then error(entry) end
  keep_ingress(stream, state, 0)
  if state.length == 0 then return call('XADD', P .. stream, '*', unpack(ARGV, first, last)) end
  signal_admission()
  return nil, int(state.length)
end

local function submit(id, tenant, quota, bytes_max, stream, suffix, first, last)
  local is_letter
  if id ~= '' then
    local before, _, has_letter = earlier(id)
    if before then
      if before.digest ~= digest(ARGV[first + 1], ARGV[first + 3], value('fields', first + 4, last)) then
        return {'CONFLICT', ''}
      end
      return before.ended and {'ENDED', before.ended} or {'SAME', before.state}
    end
    is_letter = has_letter
  end
  local waiting = call('HLEN', backlog(tenant))  -- without a quota, too: it fails before the first write if the key is damaged
  if quota and waiting >= quota then return {'QUOTA', int(waiting)} end
  if reserved >= reserved_max then return {'FULL', ''} end
  local bytes = RECORD_BYTES
  for i = first, last do bytes = bytes + #ARGV[i] end
  local why, stored = refused_bytes(tenant, bytes, bytes_max, all_max)
  if why then return {why, stored} end
  local entry, before = append(stream, first, last)
  if not entry then return {'CLOSED', before} end
  if is_letter then
    remove_malformed(id)
    call('HSET', P .. 'seen:new', id, 'malformed:1:')  -- makes the job the second generation of its id
  end
  entry = entry .. suffix
  if id == '' then id = entry end
  call('HSET', P .. 'reserved', id, entry .. ' ' .. tenant)
  call('HSET', backlog(tenant), id, int(bytes))
  store(tenant, bytes)
  reserved = reserved + 1
  return {'OK', entry}
end

local out, at = {}, 6
while at <= #ARGV do
  local door, first = DOORS[ARGV[at + 1] == '1' and 1 or 2], at + 6
  local last = first + tonumber(ARGV[at]) - 1
  local answer = guarded(submit, ARGV[at + 2], ARGV[at + 3], tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5]), door.stream, door.suffix,
    first, last)
  out[#out + 1] = type(answer) == 'table' and answer or {'ERROR', answer}
  at = last + 1
end
settle_stored()
settle_counters()
return out
