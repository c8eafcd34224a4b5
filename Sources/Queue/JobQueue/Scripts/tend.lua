-- Ends batch streams and batches that would never end otherwise. Any worker may call it at any time. Once in `pace`
-- ms it does a bounded part of the following, for the whole queue, and each part continues from its last position.
--
-- Waiting batch streams are fed once even if no change is known. This finds entries that were dropped unread, a
-- stream that an id in the far future has blocked, and windows that a worker of an earlier version emptied. Batches without a
-- seal that have received no entry for a given time (by `lived`, Shared/records.lua) are sealed at their present size. Batch streams
-- without a batch that were untouched for a given time are removed, and those that no batch can have at once. Reservations of submitted
-- jobs whose entries are gone are ended. The stream of events is kept at its limit.
--
-- ARGV     P, events max, done max, pace ms, maximum batch streams, ms after which an idle batch is sealed, ms after which an
--          unopened batch stream is removed, keys of one step of SCAN, ms since the caller's last tick or ``
-- Returns  {batches sealed, batch streams removed, whether it was time (1 or 0)}
-- Crash    All or nothing; the next call continues.
local pace, most, idle_max, unopened_max, step =
  tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
local at = call('HMGET', P .. 'virtual', 'tended', 'tendNext', 'tendScan', 'tendReserved', 'tendUnopened')
for i = 1, 5 do at[i] = int(number_in(at[i], 0)) end
tick(ARGV[9])
-- A time in the future is that of a clock that was set back.
if MS - (at[1] or 0) < pace and MS >= tonumber(at[1]) then return {0, 0, 0} end
-- Rounds of checks set it anew; without an idle batch stream there are none.
if number_in(call('HGET', P .. 'virtual', 'laneTurn') or '0', US + 1) > US then call('HSET', P .. 'virtual', 'laneTurn', '0') end
local RESERVED_STEP = '100'  -- approximate number of reservations that one call inspects
local UNOPENED_STEP = '20'  -- approximate number of notes about batch streams without a batch that one call inspects
local sealed, removed = 0, 0

local function seal_if_idle(batch)
  local key = P .. 'batch:' .. batch
  local b = call('HMGET', key, 'sealed', 'opened', 'fed', 'admitted', 'idle', 'tenant', 'folder')
  if b[1] or not b[2] or call('XLEN', P .. 'lane:' .. batch) > 0 then return end
  -- A worker of an earlier version fed the stream and did not record the time.
  if not b[3] and b[4] ~= '0' then return call('HSET', key, 'fed', NOW) end
  -- `idle` has the time of the last entry, by the server's clock, and since when it is known, by `lived`.
  local last = b[3] or b[2]
  local known, since = (b[5] or ''):match('^(%d+) (%d+)$')
  if known ~= last then
    since = int(lived_time())
    call('HSET', key, 'idle', last .. ' ' .. since)
  end
  if lived_time() - since < idle_max then return end
  local reason = 'nothing was added since ' .. timestamp(tonumber(last))
  call('HSET', key, 'sealed', b[4], 'sealedBecause', reason)
  call('ZREM', P .. 'lanes', batch)
  count('batchesExpired')
  event('batch.sealed', 'batch/' .. batch .. '/sealed', nil, '{"batch":"' .. batch .. '","jobs":' .. b[4]
    .. ',"message":' .. quoted('batch ' .. batch .. ' was sealed at the ' .. b[4] .. ' jobs it has: ' .. reason
    .. '. Send more jobs in a batch of their own.') .. '}', nil, nil, b[6], b[7])
  complete_batch(batch)
  sealed = sealed + 1
end

local next = tonumber(at[2] or '0')
local batches = call('ZRANGE', P .. 'lanes', int(next), int(next + most - 1), 'WITHSCORES')
for i = 1, #batches, 2 do
  if tonumber(batches[i + 1]) >= tonumber(IDLE) then call('ZADD', P .. 'lanes', '-1', batches[i]) end
  guarded(seal_if_idle, batches[i])  -- feed and the doctor report a damaged batch
end
-- Feed returns woken batches to their positions before the next ones; sealed batches are removed.
next = #batches < 2 * most and 0 or next + #batches / 2 - sealed

local found = call('SCAN', at[3] or '0', 'MATCH', P .. 'lane:*', 'COUNT', step)
local function note_unopened(batch)
  -- No batch can have such a name, so none will be opened.
  if (#batch > SHOWN_NAME_MAX or not batch:match('^[%w][%w%._%-]*$')) and call('EXISTS', P .. 'batch:' .. batch) == 0 then
    end_unopened(batch)
    removed = removed + 1
    return
  end
  local unchanged, had = unopened_for(batch)
  if unchanged and unchanged >= unopened_max then
    end_unopened(batch)
    removed = removed + 1
  elseif unchanged == 0 then
    call('HSET', P .. 'unopened', batch, had .. ' ' .. int(lived_time()))
  end
end
for _, stream in ipairs(found[2]) do guarded(note_unopened, stream:sub(#P + #'lane:' + 1)) end
local notes = call('HSCAN', P .. 'reserved', at[4] or '0', 'COUNT', RESERVED_STEP)
local function end_invalid(id, text)
  if is_reserved(text) then return end
  local _, tenant = noted(text)
  end_reservation(id, tenant or 'default')
end
for i = 1, #notes[2], 2 do guarded(end_invalid, notes[2][i], notes[2][i + 1]) end
-- Notes of batch streams that somebody removed.
local unopened = call('HSCAN', P .. 'unopened', at[5] or '0', 'COUNT', UNOPENED_STEP)
for i = 1, #unopened[2], 2 do
  if call('EXISTS', P .. 'lane:' .. unopened[2][i]) == 0 then call('HDEL', P .. 'unopened', unopened[2][i]) end
end
bound_events()
call('HSET', P .. 'virtual', 'tended', NOW, 'tendNext', int(next), 'tendScan', found[1], 'tendReserved', notes[1],
  'tendUnopened', unopened[1], 'time', int(queue_time()))
settle()
return {sealed, removed, 1}
