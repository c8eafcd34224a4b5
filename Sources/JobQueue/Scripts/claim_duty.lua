-- Claims a duty that no worker has, or renews it. It also runs while Redis is full, because jobs must be able to end then.
--
-- ARGV     P, events max, done max, duty, worker, lease ms
-- Returns  whether the worker has it (1 or 0)
-- Crash    The duty expires after its lease.
local key, worker, lease = P .. 'duty:' .. ARGV[4], ARGV[5], ARGV[6]
local holder = call('GET', key)
if holder and holder ~= worker then return 0 end
call('SET', key, worker, 'PX', lease)
return 1
