-- How the ingress stream was found: its state, and what is known of what left it before.
local function ingress_state()
  local state = stream_state(P .. 'in')
  if not state then return nil end
  local known = call('HGET', P .. 'ingress', 'gone')
  -- Not known: the queue is new, or an older version has emptied the stream so far.
  state.known = known and tonumber(known) or call('EXISTS', P .. 'sequence') == 1 and state.gone or 0
  return state
end

-- Writes down that entries were taken, tells of those that went without, and makes the stream usable again.
-- A stream that was deleted and made anew, by somebody who may, counts from its own beginning.
local function keep_ingress(state, taken)
  if not state then return end
  local lost = state.gone - state.known
  if lost > 0 then
    call('HINCRBY', P .. 'ingress', 'lost', int(lost))
    call('HSET', P .. 'ingress', 'lostAt', NOW)
    tell_trimmed('in', lost)
  end
  if lost ~= 0 or taken > 0 then call('HSET', P .. 'ingress', 'gone', int(state.gone + taken)) end
  state.length = state.length - taken
  if renew('in', state) then
    call('HINCRBY', P .. 'ingress', 'renewals', '1')
    call('HSET', P .. 'ingress', 'renewedAt', NOW)
  end
end
