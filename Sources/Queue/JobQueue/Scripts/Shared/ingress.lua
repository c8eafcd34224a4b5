-- The key of the facts about an ingress stream: hash ingress, or ingress:interactive.
local function ingress_facts(stream) return P .. 'ingress' .. stream:sub(#'in' + 1) end

-- Returns the state of an ingress stream, with the known number of entries that have left it.
local function ingress_state(stream)
  local state = stream_state(P .. stream)
  if not state then return nil end
  local known = call('HGET', ingress_facts(stream), 'gone')
  -- Unknown: the stream is new, or a version with one stream and without this record has emptied it so far.
  state.known = known and tonumber(known)
    or stream == 'in' and call('EXISTS', P .. 'sequence') == 1 and state.gone or 0
  return state
end

-- Records that entries were admitted, reports entries that vanished otherwise, and makes the stream usable again.
-- A stream that a person deleted and created anew counts from its own beginning.
local function keep_ingress(stream, state, admitted)
  if not state then return end
  local facts, lost = ingress_facts(stream), state.gone - state.known
  if lost > 0 then
    call('HINCRBY', facts, 'lost', int(lost))
    call('HSET', facts, 'lostAt', NOW)
    report_trimmed(stream, lost)
  end
  if lost ~= 0 or admitted > 0 then call('HSET', facts, 'gone', int(state.gone + admitted)) end
  state.length = state.length - admitted
  if renew(stream, state) then
    call('HINCRBY', facts, 'renewals', '1')
    call('HSET', facts, 'renewedAt', NOW)
  end
end
