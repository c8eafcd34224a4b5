-- Raises the format of the queue, which hash virtual has in `format` and `least` (QueueFormat.swift). Workers and gateways run it.
--
-- A worker is known until it leaves, or for ten leases after its last heartbeat. One whose description names no format has format 1.
--
-- ARGV     P, events max, done max, format, least
-- Returns  `` if the queue has the format or a later one from now on; otherwise a worker of an earlier format
-- Crash    Both fields or none: a repeated call finds them.
local format, least = tonumber(ARGV[4]), tonumber(ARGV[5])
local has = call('HMGET', P .. 'virtual', 'format', 'least')
if number_in(has[1], 0) >= format then return '' end
for _, worker in ipairs(call('ZRANGE', P .. 'workers', '0', '-1')) do
  local is_read, info = pcall(cjson.decode, call('HGET', P .. 'workers:info', worker) or '')
  if (is_read and type(info) == 'table' and tonumber(info.queueFormat) or 1) < format then return worker end
end
call('HSET', P .. 'virtual', 'format', int(format), 'least', int(math.max(least, number_in(has[2], 1))))
return ''
