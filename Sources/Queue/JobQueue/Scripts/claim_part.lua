-- Claims a part for the worker of its job, unless another worker runs it now.
--
-- ARGV     P, events max, done max, id, fence, number
-- Returns  {OURS: no other worker runs it, and none will; BUSY: another worker has it; or GONE, or FENCED; numbers of the
--          parts that other workers have ended*}
-- Crash    The next worker of the job creates the part again, or runs it.
local id, fence, number = ARGV[4], ARGV[5], ARGV[6]
local j = load(id)
local refused = refusal(j, fence)
if refused then return {refused} end
if j.state ~= 'active' then return {'GONE'} end
local p = load(part_id(id, number))
local is_busy = p and p.state == 'active'
if p and not is_busy then
  remove_part(p)
  call('HDEL', P .. 'parts:' .. id, number)
end
settle()
local out, parts = {is_busy and 'BUSY' or 'OURS'}, call('HGETALL', P .. 'parts:' .. id)
for i = 1, #parts, 2 do
  if parts[i + 1] == 'ended' then out[#out + 1] = parts[i] end
end
return out
