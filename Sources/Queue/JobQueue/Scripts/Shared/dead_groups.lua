-- Dead jobs counted by cause, so that no client must read a million jobs to find their causes.
--
-- Hash dead:groups has for each group `<code>:<tenant>:<edit>` the text `<jobs> <first> <last> <job>`: the number of dead jobs,
-- the times at which the first and the last of them died since the group appeared, in ms, and the last job. `<edit>` is the start
-- of the SHA-1 of the edit's text, or `-` if there is none. Causes beyond GROUPS_MAX are counted in group `other`.
-- Field `epoch` is the number of the count. The record of a dead job has `<epoch> <group>` in its field `group`. A job of another
-- epoch is in no group, because it died under an earlier release, or because the doctor counts the groups anew.
local GROUPS_MAX = 1000

-- Counts a job that died at a time. Returns the value for the field `group` of its record.
local function join_group(id, code, tenant, edit, at)
  local key, group = P .. 'dead:groups', code .. ':' .. tenant .. ':' .. (edit and redis.sha1hex(edit):sub(1, 16) or '-')
  local there = call('HMGET', key, 'epoch', group)
  local text = there[2]
  if not text and call('HLEN', key) >= GROUPS_MAX then
    group = 'other'
    text = call('HGET', key, group)
  end
  local jobs, first, last, newest = (text or ''):match('^(%d+) (%d+) (%d+) (.*)$')
  if not jobs then jobs, first, last, newest = 0, at, at, id end
  if tonumber(at) >= tonumber(last) then last, newest = at, id end
  if tonumber(at) < tonumber(first) then first = at end
  call('HSET', key, group, int(jobs + 1) .. ' ' .. first .. ' ' .. last .. ' ' .. newest)
  return (there[1] or '1') .. ' ' .. group
end

-- Uncounts a job that is no longer dead; `text` is the field `group` of its record.
local function leave_group(text)
  local epoch, group = (text or ''):match('^(%d+) (.*)$')
  if not group then return end
  local there = call('HMGET', P .. 'dead:groups', 'epoch', group)
  local jobs, rest = (there[2] or ''):match('^(%d+)( .*)$')
  if not jobs or (there[1] or '1') ~= epoch then return end
  if tonumber(jobs) <= 1 then return call('HDEL', P .. 'dead:groups', group) end
  call('HSET', P .. 'dead:groups', group, int(jobs - 1) .. rest)
end
