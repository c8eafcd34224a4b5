-- Decides whether the id of a job that a producer sends is free.

-- Returns how the previous job of an id ended, if that forbids another run.
local function ending(state, outcome) return state == 'dead' and 'dead' or outcome == 'cancelled' and 'cancelled' or nil end

-- Returns the job that has or had an id: its `digest`, its `state` (`incoming` while the id is reserved, `dropped` if only its
-- name is left) and how it `ended`, unless it succeeded; nil if the id is free. The second and third values are the generation
-- of a new job, and whether a dead letter has the id. A dead letter never was a job; it yields the id to a job that is sent again.
local function earlier(id)
  local job = call('HMGET', P .. 'job:' .. id, 'asset', 'malformed', 'digest', 'state', 'outcome')
  if job[1] and not job[2] then
    return {digest = job[3] or digest(job[1], call('GET', P .. 'edit:' .. id) or ''), state = job[4],
      ended = ending(job[4], job[5])}
  end
  local f = reserved_entry(id)
  if f then return {digest = digest(f.asset or '', f.edit or ''), state = 'incoming'} end
  if job[2] then return nil, '2', true end
  local before = seen(id)
  if not before then return nil end
  local hash, ended = remembered(before)
  if ended == 'malformed' then return nil, '2' end
  return {digest = hash, state = 'dropped', ended = ended}
end

-- Removes a dead letter whose id is needed.
local function remove_malformed(id)
  local o = call('HMGET', P .. 'job:' .. id, 'group', 'batch', 'stored')
  unstore('default', o[3])
  call('ZREM', P .. 'dead', id)
  leave_group(o[1])
  call('UNLINK', P .. 'job:' .. id)
  if o[2] then member_gone(o[2]) end
end
