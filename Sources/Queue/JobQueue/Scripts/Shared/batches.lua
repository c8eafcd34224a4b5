-- Batches: many jobs with one edit, counted together.
--
-- Hash batch:<batch> has the request and the counts `admitted`, `done`, `dead`, `cancelled`; string
-- batch:<batch>:edit the edit; stream lane:<batch> the entries that are not yet jobs; bitmap batch:<batch>:ended one bit
-- per job that has ended. A job's bit states whether the job is counted, so no job can be counted twice, and a
-- sweep finds the jobs that have not ended. Members are called <batch>:<number>, from 0 in the stream's order. `apart` counts those of
-- them that have not ended and were passed on (field `unable` of their records): they take no places of the window, so those behind them
-- reach the workers that can do them; up to APART_SHARE windows. A batch with a cap counts all.
local APART_SHARE = 9
local tallies = {}

local function tally(batch, name, by)
  local t = tallies[batch] or {}
  tallies[batch] = t
  t[name] = (t[name] or 0) + by
end

-- Counts a member that ended: `how` is done, dead or cancelled; `ms` is the time for which a worker held it.
local function member_ended(j, how, ms, is_render)
  local number = j.batch and j.id:match(':(%d+)$')
  if not number or call('SETBIT', P .. 'batch:' .. j.batch .. ':ended', number, '1') == 1 then return end
  tally(j.batch, how, 1)
  if j.unable then tally(j.batch, 'apart', -1) end
  if ms > 0 then tally(j.batch, 'milliseconds', ms) end
  if is_render then add_cost(P .. 'batch:' .. j.batch, ms, j.cost) end
  if j.cost then tally(j.batch, 'costEnded', tonumber(j.cost)) end
end

-- Makes the stream of a batch whose window was full eligible for feeding again, if no more than `most` of its members are open.
local function refill(batch, most)
  local key = P .. 'batch:' .. batch
  local b = call('HMGET', key, 'admitted', 'done', 'dead', 'cancelled', 'holes', 'apart', 'cap')
  local apart = b[7] and 0 or math.min(number_in(b[6], 0), APART_SHARE * most)
  if b[1] - (b[2] or 0) - (b[3] or 0) - (b[4] or 0) + (b[5] or 0) - apart > most then return end
  call('HDEL', key, 'refill')
  call('ZADD', P .. 'lanes', 'XX', '0', batch)
  signal_admission()
end

-- Reports once per generation that all members have ended.
local function complete_batch(batch)
  local key = P .. 'batch:' .. batch
  local b = call('HMGET', key, 'sealed', 'done', 'dead', 'cancelled', 'generation', 'finished', 'tenant',
    'opened', 'milliseconds', 'refill', 'submitted', 'folder')
  if b[10] then refill(batch, tonumber(b[10])) end
  local done, dead, cancelled = tonumber(b[2] or 0), tonumber(b[3] or 0), tonumber(b[4] or 0)
  if not b[1] or b[5] == b[6] or done + dead + cancelled < tonumber(b[1]) then return end
  call('HSET', key, 'finished', b[5], 'ended', NOW)
  if b[11] then call('HDEL', P .. 'backlog:' .. b[7], 'batch:' .. batch) end
  call('ZADD', P .. 'batches:ended', NOW, batch)
  count('batches')
  event('batch.completed', 'batch/' .. batch .. '/' .. b[5] .. '/completed', nil,
    '{"batch":"' .. batch .. '","cancelled":' .. int(cancelled) .. ',"completed":' .. int(done)
    .. ',"failed":' .. int(dead) .. ',"generation":' .. b[5] .. ',"jobs":' .. b[1]
    .. ',"milliseconds":' .. (b[9] or '0') .. ',"openedAt":"' .. timestamp(tonumber(b[8]))
    .. '","tenant":' .. quoted(b[7]) .. '}', nil, nil, b[7], b[12])
end

-- Writes all tallies of this script. A damaged batch loses its own alone, and the doctor tells of it. A sum of the whole queue that is
-- damaged fails the call when the others are written.
local function settle()
  for batch, names in pairs(tallies) do
    guarded(function()
      for name, by in pairs(names) do call('HINCRBY', P .. 'batch:' .. batch, name, int(by)) end
      complete_batch(batch)
    end)
  end
  local failed
  for _, part in ipairs({settle_costs, settle_running, settle_ahead, settle_stored, wake_workers, settle_counters}) do
    local answer = guarded(part)
    if type(answer) == 'string' and answer:sub(1, 6) == 'ERROR ' then failed = answer:sub(7) end
  end
  if failed then error({err = failed}) end
end

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
