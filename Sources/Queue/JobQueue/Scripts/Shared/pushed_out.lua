-- Events that newer ones push out of the stream. All tenants share the stream, so a busy tenant pushes out the events of the others,
-- perhaps before these are read. The last ones of each tenant are therefore kept in stream events:of:<tenant>, and the tenant that
-- has the most of them gives up its oldest. Zset events:kept has their number by tenant.
--
-- Hash events:cut states what is lost: `tenant:<tenant>` is the last event of a tenant that is not kept any more, and `all` that of
-- tenants that are not listed. It knows this of events from `from` on, as long as the stream begins no later than at `to`: XTRIM,
-- and the limit of `event`, cut without it. `kept` is the number of all that are kept.
local CUT_STEP = 100  -- the most events that are pushed out together
local CUT_STEPS_MAX = 20  -- steps of a call: 2,000 events a second, in 3 ms
local KEPT_SHARE = 10  -- so many times fewer events are kept by tenant than in the stream
local CUT_TENANTS_MAX = 10000  -- tenants in the hash

-- Drops kept events of the tenants that have the most, until the rest is no more than `most`. Returns the number of those left.
local function drop_kept(kept, most)
  while kept > most do
    local top = call('ZRANGE', P .. 'events:kept', '0', '0', 'REV', 'WITHSCORES')
    if not top[1] then return 0 end
    local stream, has = P .. 'events:of:' .. top[1], tonumber(top[2])
    local rows = call('XRANGE', stream, '-', '+', 'COUNT', int(math.min(has, kept - most, CUT_STEP)))
    if #rows > 0 then call('HSET', P .. 'events:cut', 'tenant:' .. top[1], rows[#rows][1]) end
    if #rows == has or #rows == 0 then
      call('UNLINK', stream)
      call('ZREM', P .. 'events:kept', top[1])
      kept = kept - has
    else
      call('XTRIM', stream, 'MAXLEN', int(has - #rows))
      call('ZADD', P .. 'events:kept', 'INCR', int(-#rows), top[1])
      kept = kept - #rows
    end
  end
  return kept
end

-- Moves some of the oldest events from the stream to those that are kept by tenant.
local function push_out(some)
  local key, cut, added = P .. 'events', P .. 'events:cut', {}
  local oldest = call('XRANGE', key, '-', '+', 'COUNT', int(some + 1))
  local facts = call('HMGET', cut, 'to', 'kept')
  local kept, next = tonumber(facts[2] or '0'), oldest[#oldest][1]
  if facts[1] ~= oldest[1][1] then
    call('UNLINK', cut)
    call('HSET', cut, 'from', oldest[1][1])
  end
  for i = 1, #oldest - 1 do
    local id, json = oldest[i][1], oldest[i][2][2] or ''
    -- The subject before it is JSON, in which a quotation mark has a backslash.
    local tenant = json:match('"time":"[^"]*","tenant":"([^"]*)"')
    if tenant then
      call('XADD', P .. 'events:of:' .. tenant, id, 'event', json)
      added[tenant] = (added[tenant] or 0) + 1
    elseif not json:find('"type":"org.minilab.stream.', 1, true) then
      call('HSET', cut, 'all', id)  -- earlier releases wrote no tenant
    end
  end
  call('XTRIM', key, 'MINID', next)
  for tenant, number in pairs(added) do
    call('ZADD', P .. 'events:kept', 'INCR', int(number), tenant)
    kept = kept + number
  end
  kept = drop_kept(kept, math.floor(EVENTS_MAX / KEPT_SHARE))
  if call('HLEN', cut) > CUT_TENANTS_MAX then
    local from = call('HGET', cut, 'from')
    call('UNLINK', cut)
    call('HSET', cut, 'from', from, 'all', next)
  end
  call('HSET', cut, 'to', next, 'kept', int(kept))
end

-- Keeps the stream of events at its limit. A fault in what is kept beside it stops neither the caller nor the limit.
local function bound_events()
  for _ = 1, CUT_STEPS_MAX do
    local excess = call('XLEN', P .. 'events') - EVENTS_MAX
    if excess <= 0 then return end
    if not pcall(push_out, math.min(excess, CUT_STEP)) then
      call('UNLINK', P .. 'events:cut')
      call('XTRIM', P .. 'events', 'MAXLEN', '~', EVENTS_MAX)
    end
  end
end
