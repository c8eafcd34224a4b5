-- Adds members to the end of a batch's lane, as entries 1-1, 1-2, …; those that are there already are passed over. Each
-- says in its field `arrived` when that was, since its id does not.
--
-- Plain XADDs with these ids do the same as long as they arrive in order. A client that sends many in one go and
-- loses its connection in between cannot know that; here a gap is seen, and nothing after it is added.
--
-- ARGV   P, events max, done max, batch, number of the first from 0, (asset, edit or ``, cost or ``)*
-- Returns {OK, how many were new}; or {GAP, how many the lane has had}; or {CANCELLED, 0}: the batch was
--         cancelled and takes no more
-- Crash  All of them are in the lane or none; called again, none is added twice.
local batch, first = ARGV[4], tonumber(ARGV[5])
local lane = P .. 'lane:' .. batch
if call('HEXISTS', P .. 'batch:' .. batch, 'cancel') == 1 then return {'CANCELLED', 0} end

-- The number of the last entry that the lane ever had, also when they have all become jobs.
local had = 0
if call('EXISTS', lane) == 1 then
  local info = call('XINFO', 'STREAM', lane)
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then
      local time, number = info[i + 1]:match('^(%d+)%-(%d+)$')
      had = time == '1' and tonumber(number) or 0
    end
  end
end
if had < first then return {'GAP', had} end

local added = 0
for i = 6, #ARGV, 3 do
  local number = first + (i - 3) / 3
  if number > had then
    local id, asset, edit, cost = '1-' .. int(number), ARGV[i], ARGV[i + 1], ARGV[i + 2]
    local arrived = int(US + added)
    if edit == '' and cost == '' then call('XADD', lane, id, 'asset', asset, 'arrived', arrived)
    elseif cost == '' then call('XADD', lane, id, 'asset', asset, 'edit', edit, 'arrived', arrived)
    elseif edit == '' then call('XADD', lane, id, 'asset', asset, 'cost', cost, 'arrived', arrived)
    else call('XADD', lane, id, 'asset', asset, 'edit', edit, 'cost', cost, 'arrived', arrived) end
    added = added + 1
  end
end
return {'OK', added}
