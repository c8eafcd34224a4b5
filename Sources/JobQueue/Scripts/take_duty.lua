-- Takes a duty when nobody has it, or renews it: also while Redis is full, since jobs must come to their ends then.
--
-- ARGV   P, events max, done max, duty, worker, lease ms
-- Returns whether the worker has it (1 or 0)
-- Crash  It ends by itself after its lease.
local key, worker, lease = P .. 'duty:' .. ARGV[4], ARGV[5], ARGV[6]
local holder = call('GET', key)
if holder and holder ~= worker then return 0 end
call('SET', key, worker, 'PX', lease)
return 1
