-- Compares the bytes that a tenant is counted to store with what a walk has summed up.
--
-- The walk takes many calls. It proves something only if nothing was written or removed from its begin to now.
--
-- ARGV     P, events max, done max, whether to repair (1), `storedTurn` at the begin of the walk, (tenant, sum of the walk)*
-- Returns  {kind, tenant, detail, repaired (1) or ``}*
-- Crash    All of a call or nothing; a repeated walk finds the rest.
local is_still = (call('HGET', P .. 'virtual', 'storedTurn') or '0') == ARGV[5]
for i = 6, is_still and #ARGV or 0, 2 do
  local tenant, sum = ARGV[i], tonumber(ARGV[i + 1])
  local counted = call('HGET', P .. 'stored', tenant) or '0'
  if tonumber(counted) ~= sum then
    fault('storedMiscounted', tenant, counted .. '/' .. int(sum), function() store(tenant, sum - counted) end)
  end
end
settle_stored()

-- The sum is compared with its parts at one moment, unless these are very many.
local TENANTS_MAX = 10000
if call('HLEN', P .. 'stored') <= TENANTS_MAX then
  local sum, parts = 0, call('HGETALL', P .. 'stored')
  for i = 2, #parts, 2 do sum = sum + parts[i] end
  local counted = call('HGET', P .. 'virtual', 'storedBytes') or '0'
  if tonumber(counted) ~= sum then
    fault('storedMiscounted', 'all', counted .. '/' .. int(sum), function()
      call('HSET', P .. 'virtual', 'storedBytes', int(sum))
    end)
  end
end
return faults
