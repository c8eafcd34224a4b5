-- Gives a queue its library at the first use, or another one in its place, and tells which it has. Two libraries behind one queue
-- would each get a part of the edits of an asset.
--
-- The record also has whether a worker has seen resources in the folder of its `--resources`: one whose folder is empty then has the
-- mount point of that disk.
--
-- ARGV     P, events max, done max, the library's id, its name for people, `1` to take the place of another or ``, `1` if the worker has
--          seen resources or ``
-- Returns  {id, name, `1` if resources were seen or ``} of the queue's library from now on
-- Crash    No effect, or the queue has the library: a repeated call finds it.
local key, id, name, takes_place, seen_resources = P .. 'library', ARGV[4], ARGV[5], ARGV[6] == '1', ARGV[7] == '1'
local has = call('HMGET', key, 'id', 'name', 'resources')
if has[1] and not takes_place then
  if not seen_resources or has[1] ~= id then return {has[1], has[2] or '', has[3] or ''} end
  if not has[3] then call('HSET', key, 'resources', '1') end
  return {id, has[2] or '', '1'}
end
-- An operator who gives the queue a library begins anew.
call('HDEL', key, 'resources', 'generation', 'turn', 'mark', 'seen', 'seenAt')
-- What the library remembers of an earlier queue is no loss of this one.
if takes_place then call('HSET', key, 'begun', '1') end
call('HSET', key, 'id', id, 'name', name, 'since', NOW)
if seen_resources then call('HSET', key, 'resources', '1') end
return {id, name, seen_resources and '1' or ''}
