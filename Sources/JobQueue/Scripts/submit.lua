-- Takes jobs from a producer that wants to be answered: whether each is taken, was sent before, or is refused. The plain
-- XADD stays as it is; what is taken here goes the same way, in the order in which it is given. An id that is sent
-- again is answered before the quota is asked: a producer that did not hear the first answer is not refused.
--
-- ARGV   P, events max, done max, reservations at most, (words of the entry, `1` for the urgent stream or ``, id or ``,
--        tenant, jobs of the tenant that were submitted and have not ended at most or ``, the entry's words: `asset`,
--        asset, `edit`, edit, then other names and values)*
-- Returns per job {OK, entry's name}; {SAME, state of the job, `incoming` or `dropped`}; {CONFLICT, ``}: the id has another
--         asset or edit; {ENDED, `dead`, `cancelled` or `dropped`}: the same job ended like this and is not run again;
--         {QUOTA, how many have not ended}; {FULL, ``}: too much is reserved, because nobody admits
-- Crash  A job has entry, reservation and place in the backlog, or nothing: one script does it. Called again: SAME, if
--        the job has an id.
local reserved_max = tonumber(ARGV[4])
local reserved = call('HLEN', P .. 'reserved')

local function submit(id, tenant, quota, stream, suffix, first, last)
  local is_letter
  if id ~= '' then
    local before, _, has_letter = earlier(id)
    if before then
      if before.digest ~= digest(ARGV[first + 1], ARGV[first + 3]) then return {'CONFLICT', ''} end
      return before.ended and {'ENDED', before.ended} or {'SAME', before.state}
    end
    is_letter = has_letter
  end
  local waiting = quota and call('HLEN', backlog(tenant))
  if quota and waiting >= quota then return {'QUOTA', int(waiting)} end
  if reserved >= reserved_max then return {'FULL', ''} end
  if is_letter then
    drop_letter(id)
    call('HSET', P .. 'seen:new', id, 'malformed:1:')  -- so that the job is the second generation of its id
  end
  local entry = call('XADD', P .. stream, '*', unpack(ARGV, first, last)) .. suffix
  if id == '' then id = entry end
  call('HSET', P .. 'reserved', id, entry .. ' ' .. tenant)
  call('HSET', backlog(tenant), id, '1')
  reserved = reserved + 1
  return {'OK', entry}
end

local out, at = {}, 5
while at <= #ARGV do
  local door, first = DOORS[ARGV[at + 1] == '1' and 1 or 2], at + 5
  local last = first + tonumber(ARGV[at]) - 1
  out[#out + 1] = submit(ARGV[at + 2], ARGV[at + 3], tonumber(ARGV[at + 4]), door.stream, door.suffix, first, last)
  at = last + 1
end
return out
