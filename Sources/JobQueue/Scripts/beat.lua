-- Renews the leases of a worker's jobs.
--
-- ARGV   P, lease ms, (id, fence)*
-- Returns one answer per job: K keep, L lost: somebody else has it or it ended
-- Crash  Nothing to survive: a beat that did not arrive leaves the lease as it was.
local lease, out = tonumber(ARGV[2]), {}
local us, ms = clock()
local ends = int(ms + lease)
for i = 3, #ARGV, 2 do
  local j = redis.call('HMGET', P .. 'job:' .. ARGV[i], 'state', 'fence')
  if fenced(j, ARGV[i + 1]) or (j[1] ~= 'active' and j[1] ~= 'committing') then
    out[#out + 1] = 'L'
  else
    redis.call('ZADD', P .. 'lease', 'XX', ends, ARGV[i])
    out[#out + 1] = 'K'
  end
end
return out
