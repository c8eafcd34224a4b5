-- Dead jobs counted by cause, so that nobody has to walk through a million of them to see what they died of.
--
-- Hash dead:groups has for each group `<code>:<tenant>:<edit>` the text `<jobs> <first> <last> <job>`: how many of them are dead,
-- when the first and the last of them died since the group came up, in ms, and the last one. `<edit>` is the beginning of the
-- SHA-1 of the edit's text, or `-` when there is none. Of more causes than GROUPS_MAX the rest counts in group `other`.
-- Field `epoch` says which count this is. The record of a dead job says in `group` `<epoch> <group>`: one of another epoch is
-- in no group, because it died under an earlier release, or because the doctor counts anew.
local GROUPS_MAX = 1000

-- Counts a job that died at a time. Returns what its record is to say.
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

-- Counts a job that is dead no more; `text` is what its record says.
local function leave_group(text)
  local epoch, group = (text or ''):match('^(%d+) (.*)$')
  if not group then return end
  local there = call('HMGET', P .. 'dead:groups', 'epoch', group)
  local jobs, rest = (there[2] or ''):match('^(%d+)( .*)$')
  if not jobs or (there[1] or '1') ~= epoch then return end
  if tonumber(jobs) <= 1 then return call('HDEL', P .. 'dead:groups', group) end
  call('HSET', P .. 'dead:groups', group, int(jobs - 1) .. rest)
end
