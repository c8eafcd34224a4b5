-- The ingress streams ("doors"), in the order of admission. A job that a person waits for does not queue behind a million entries
-- of another tenant.
--
-- An entry's name is its id with the suffix of its stream, because two streams may use the same id. The name is the id of the
-- job if the producer chose none.
local DOORS = {
  {stream = 'in:interactive', suffix = '-i', priority = 'interactive', share = 2},
  {stream = 'in', suffix = '', share = 1},
}

-- Returns the stream of an entry's name, and the entry's id in it; nil if the name has another form.
local function door_of(name)
  local id, suffix = name:match('^(%d+%-%d+)(.*)$')
  for _, door in ipairs(DOORS) do
    if id and door.suffix == suffix then return door, id end
  end
end
