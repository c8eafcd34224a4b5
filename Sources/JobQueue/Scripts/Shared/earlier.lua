-- Whether the id of a job that is sent is free.

-- How the job of an id ended that is not run again.
local function ending(state, outcome) return state == 'dead' and 'dead' or outcome == 'cancelled' and 'cancelled' or nil end

-- The job that has or had an id: its `digest`, its `state` (`incoming` while it is reserved, `dropped` when only its name
-- is left) and how it `ended`, if not well; nil when the id is free. Then the generation of a new one, and whether a dead
-- letter has the id: that never was a job, and gives it to the job that is sent in its stead.
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

-- Takes a dead letter away whose id is needed.
local function drop_letter(id)
  call('ZREM', P .. 'dead', id)
  leave_group(call('HGET', P .. 'job:' .. id, 'group'))
  call('UNLINK', P .. 'job:' .. id)
end
