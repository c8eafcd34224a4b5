-- Gives a queue its library at the first use, or another one in its place, and tells which it has. Two libraries behind one queue
-- would each get a part of the edits of an asset.
--
-- ARGV     P, events max, done max, the library's id, its name for people, `1` to take the place of another or ``
-- Returns  {id, name} of the queue's library from now on
-- Crash    No effect, or the queue has the library: a repeated call finds it.
local key, id, name, takes_place = P .. 'library', ARGV[4], ARGV[5], ARGV[6] == '1'
local has = call('HMGET', key, 'id', 'name')
if has[1] and not takes_place then return {has[1], has[2] or ''} end
call('HSET', key, 'id', id, 'name', name, 'since', NOW)
return {id, name}
