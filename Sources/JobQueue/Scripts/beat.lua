-- Renews the leases of a worker's jobs, confirms their claims, and tells that the worker lives.
--
-- ARGV   P, events max, done max, lease ms, worker, what it is (JSON), (id, fence, stage)*
-- Returns one answer per job: K keep; C cancel; E ended by this hold, and its worker is about to hear so; L lost:
--         somebody else has it, or ended it
-- Crash  Nothing to survive: a beat that did not arrive leaves the lease as it was.
local lease, worker, out = tonumber(ARGV[4]), ARGV[5], {}
local ends = int(MS + lease)
for i = 7, #ARGV, 3 do
  local k = P .. 'job:' .. ARGV[i]
  local j = call('HMGET', k, 'state', 'fence', 'cancel', 'stage', 'batch', 'handedOn', 'confirmed')
  if not j[1] or j[2] ~= ARGV[i + 1] then
    out[#out + 1] = 'L'
  elseif j[6] or j[1] ~= 'active' and j[1] ~= 'committing' then
    out[#out + 1] = (j[6] or j[1] == 'done' or j[1] == 'stuck') and 'E' or 'L'
  else
    call('ZADD', P .. 'lease', 'XX', ends, ARGV[i])
    if j[7] ~= ARGV[i + 1] then call('HSET', k, 'confirmed', ARGV[i + 1]) end
    if ARGV[i + 2] ~= '' and j[4] ~= ARGV[i + 2] then call('HSET', k, 'stage', ARGV[i + 2]) end
    local cancelled = j[3] or j[5] and call('HGET', P .. 'batch:' .. j[5], 'cancel')
    out[#out + 1] = cancelled and j[1] == 'active' and 'C' or 'K'
  end
end
-- Gone from here when it says nothing for ten leases: see reap.
call('ZADD', P .. 'workers', NOW, worker)
call('HSET', P .. 'workers:info', worker, ARGV[6])
return out
