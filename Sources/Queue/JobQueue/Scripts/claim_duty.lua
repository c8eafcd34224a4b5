-- Claims a duty that no worker has, or renews it. It also runs while Redis is full, because jobs must be able to end then.
--
-- Hash duties has for each duty `<end of the lease, ms> <worker>`. A key with a time to live would stay for as long as the server's clock
-- is set back; an end that lies further ahead than a lease is over.
--
-- ARGV     P, events max, done max, duty, worker, lease ms
-- Returns  whether the worker has it (1 or 0)
-- Crash    The duty expires after its lease.
local duty, worker, lease = ARGV[4], ARGV[5], tonumber(ARGV[6])
local ends, holder = (call('HGET', P .. 'duties', duty) or ''):match('^(%d+) (.*)$')
if holder and holder ~= worker and tonumber(ends) > MS and tonumber(ends) <= MS + lease then return 0 end
call('HSET', P .. 'duties', duty, int(MS + lease) .. ' ' .. worker)
return 1
