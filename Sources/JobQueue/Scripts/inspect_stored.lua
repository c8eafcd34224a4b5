-- Compares the bytes that a tenant is counted to store with what a walk has summed up.
--
-- The walk takes many calls. It proves something only of a tenant whose count was the same at its begin as it is now.
--
-- ARGV     P, events max, done max, whether to repair (1), (tenant, count at the begin of the walk, sum of the walk)*
-- Returns  {kind, tenant, detail, repaired (1) or ``}*
-- Crash    All of a call or nothing; a repeated walk finds the rest.
for i = 5, #ARGV, 3 do
  local tenant, before, sum = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])
  local now = call('HGET', P .. 'stored', tenant) or '0'
  if now == before and tonumber(now) ~= sum then
    fault('storedMiscounted', tenant, now .. '/' .. int(sum), function() store(tenant, sum - now) end)
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
