-- Makes delayed jobs that are due ready, the longest due first.
--
-- A job that waits for its notBefore is due by the server's clock. One that waits for another attempt (zset retrying) is due after a delay:
-- it is due now if its time lies further ahead than that (field `delay`).
--
-- ARGV     P, events max, done max, maximum jobs, longest delay of an attempt in ms
-- Returns  {jobs that were promoted, jobs that were postponed}
-- Crash    A job is either delayed or ready, never both and never neither.
local most, promoted, later = ARGV[4], 0, 0
local due = int(believed())
local late = beyond('retrying', MS + tonumber(ARGV[5]), tonumber(most))
for i = 1, #late, 2 do
  -- A worker with other settings may have given a longer one.
  if tonumber(late[i + 1]) > MS + stated_delay(late[i]) then
    call('ZREM', P .. 'retrying', late[i])
    call('ZADD', P .. 'delayed', 'XX', due, late[i])
  end
end
-- A job whose record has a later format is left to a newer worker: it is postponed by this time, so that it does not block
-- other jobs.
local PUT_OFF = 60 * 1000  -- ms
local function put_off(id)
  later = later + 1
  call('ZADD', P .. 'delayed', 'XX', int(MS + PUT_OFF), id)
  call('ZADD', P .. 'retrying', int(MS + PUT_OFF), id)
end

local function promote(id)
  local j = load(id)
  if j and is_later(j) then return put_off(id) end
  if j then require_whole(j) end
  call('ZREM', P .. 'retrying', id)
  call('ZREM', P .. 'delayed', id)
  if j then make_ready(j) end  -- otherwise Redis lost its record
  promoted = promoted + 1
end

for _, id in ipairs(call('ZRANGEBYSCORE', P .. 'delayed', '-inf', due, 'LIMIT', '0', most)) do
  -- A damaged record is one that the doctor tells of; it blocks no other, either.
  if guarded(promote, id) then put_off(id) end
end
settle()
return {promoted, later}
