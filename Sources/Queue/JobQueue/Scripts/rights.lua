-- Asks whether the user may run commands, and runs none of them. A server whose scripts cannot do what all scripts here do fails.
--
-- ARGV     P, events max, done max, (number of words, word*)*
-- Returns  {numbers of the commands that the user may not run, numbers of those that the server does not have}; an empty list if
--          the server cannot be asked
int(0.5)  -- refused by Lua 5.3 and later
if not redis.acl_check_cmd then return {} end
local forbidden, unknown, at, number = {}, {}, 4, 0
while ARGV[at] do
  local words = tonumber(ARGV[at])
  local is_known, may = pcall(redis.acl_check_cmd, unpack(ARGV, at + 1, at + words))
  number, at = number + 1, at + 1 + words
  if not is_known then unknown[#unknown + 1] = number
  elseif not may then forbidden[#forbidden + 1] = number end
end
if #forbidden + #unknown == 0 then call('EXISTS', P .. 'virtual') end  -- a key that is not declared
return {forbidden, unknown}
