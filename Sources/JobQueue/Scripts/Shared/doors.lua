-- The ingress streams, in the order in which they are admitted from. What somebody waits for does not stand in line
-- behind a million entries of somebody else.
--
-- An entry's name is its id with the suffix of its door, since two streams may give the same id. It is the id of the job
-- when the producer gave none.
local DOORS = {
  {stream = 'in:interactive', suffix = '-i', priority = 'interactive', share = 2},
  {stream = 'in', suffix = '', share = 1},
}
