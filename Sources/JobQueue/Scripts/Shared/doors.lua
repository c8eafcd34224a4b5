-- The ingress streams, in the order in which they are admitted from. What somebody waits for does not stand in line
-- behind a million entries of somebody else.
--
-- An entry's name is its id with the suffix of its door, since two streams may give the same id. It is the id of the job
-- when the producer gave none.
local DOORS = {
  {stream = 'in:interactive', suffix = '-i', priority = 'interactive', share = 2},
  {stream = 'in', suffix = '', share = 1},
}

-- The door of an entry's name, and the entry's id in its stream; nil when it is no such name.
local function door_of(name)
  local id, suffix = name:match('^(%d+%-%d+)(.*)$')
  for _, door in ipairs(DOORS) do
    if id and door.suffix == suffix then return door, id end
  end
end
