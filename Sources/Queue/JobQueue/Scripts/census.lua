-- Counts the contents of all structures: a small queue at one moment, a large one page by page.
--
-- ARGV     P, events max, done max, maximum flows and batch streams, positions to continue from: a rank in flows:<priority> for each
--          priority, a cursor of HSCAN in capped, a rank in lanes; `-` for a structure that is complete
-- Returns  {(state, number)*, {priority, tenant, ready jobs, virtual start, capped (1) or ``}*, jobs in batches,
--          positions to continue from*}: the numbers and flows of this page
local most, at = tonumber(ARGV[4]), {unpack(ARGV, 5)}
local flows, in_streams, left = {}, 0, most
-- Returns the size of one of many structures as it was answered. One of another type has none: it must not keep all others from being
-- counted.
local function size(answer) return type(answer) == 'number' and answer or 0 end

local function add(priority, tenant, tag, capped)
  left = left - 1
  flows[#flows + 1] = {priority, tenant, size(redis.pcall('ZCARD', P .. 'ready:' .. priority .. ':' .. tenant)), tag, capped}
end

-- Returns the members of a zset from a rank on, up to the limit of the page, with their scores.
local function page(zset, position)
  if at[position] == '-' or left <= 0 then return {} end
  local from = tonumber(at[position])
  local members = call('ZRANGE', P .. zset, int(from), int(from + left - 1), 'WITHSCORES')
  at[position] = #members == 2 * left and int(from + left) or '-'
  return members
end

for position, priority in ipairs(PRIORITIES) do
  local head = page('flows:' .. priority, position)
  for i = 1, #head, 2 do add(priority, head[i], head[i + 1], '') end
end
if at[5] ~= '-' and left > 0 then
  local scan = call('HSCAN', P .. 'capped', at[5], 'COUNT', int(left))
  for i = 1, #scan[2], 2 do
    local priority, tenant = scan[2][i]:match('^(%a+):(.*)$')
    if priority then add(priority, tenant, scan[2][i + 1], '1') end
  end
  at[5] = scan[1] == '0' and '-' or scan[1]
end
left = most
local batches = page('lanes', 6)
for i = 1, #batches, 2 do in_streams = in_streams + size(redis.pcall('XLEN', P .. 'lane:' .. batches[i])) end
local counts = {'incoming', int(call('XLEN', P .. 'in:interactive') + call('XLEN', P .. 'in')), 'active', int(call('ZCARD', P .. 'lease'))}
for state in pairs(LISTED) do
  counts[#counts + 1] = state
  counts[#counts + 1] = int(call('ZCARD', P .. state))
end
return {counts, flows, in_streams, at}
