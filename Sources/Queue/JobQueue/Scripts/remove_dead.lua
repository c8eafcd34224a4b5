-- Removes dead jobs: an operator discards them, or a worker has written them to a file.
--
-- ARGV     P, events max, done max, the file that contains them or ``, (id, generation)*
-- Returns  the number of jobs that were removed. Jobs that were replayed, or died again since, stay.
-- Crash    A job that is written and not removed is written again; readers of the file drop repeats.
local file, removed = ARGV[4], 0

local function remove(id, generation)
  local j = load(id)
  -- Redis lost its record, or it is not dead: its id would stand in front of those that can be removed.
  if not j or j.state ~= 'dead' then
    call('ZREM', P .. 'dead:large', id)
    return call('ZREM', P .. 'dead', id)
  end
  if j.generation ~= generation or is_later(j) then return end
  call('ZREM', P .. 'dead', id)
  call('ZREM', P .. 'dead:large', id)
  leave_group(j.group)
  if j.batch then member_gone(j.batch) end
  remove_record(id)
  removed = removed + 1
end

-- The doctor finds the parts of a damaged one that could not be removed.
for i = 5, #ARGV, 2 do guarded(remove, ARGV[i], ARGV[i + 1]) end
if removed > 0 then
  count(file == '' and 'deadDropped' or 'deadSpilled', removed)
  if file ~= '' then call('HINCRBY', P .. 'spilled', file, int(removed)) end
end
settle()
return removed
