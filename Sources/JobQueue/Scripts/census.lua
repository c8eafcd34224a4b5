-- Counts what is where, at one moment.
--
-- ARGV   P, events max, done max, flows at most, lanes at most
-- Returns {{name, number}*, {priority, tenant, ready jobs, virtual start, capped (1) or ``}*}
local flows_max, lanes_max = tonumber(ARGV[4]), tonumber(ARGV[5])
local flows, ready = {}, 0
local function add(priority, tenant, tag, capped)
  if #flows >= flows_max then return end
  local jobs = call('ZCARD', P .. 'ready:' .. priority .. ':' .. tenant)
  ready = ready + jobs
  flows[#flows + 1] = {priority, tenant, jobs, tag, capped}
end
for _, priority in ipairs(PRIORITIES) do
  local head = call('ZRANGE', P .. 'flows:' .. priority, '0', int(flows_max - 1), 'WITHSCORES')
  for i = 1, #head, 2 do add(priority, head[i], head[i + 1], '') end
end
local capped = call('HGETALL', P .. 'capped')
for i = 1, #capped, 2 do
  local priority, tenant = capped[i]:match('^(%a+):(.*)$')
  add(priority, tenant, capped[i + 1], '1')
end
local lane = 0
for _, batch in ipairs(call('ZRANGE', P .. 'lanes', '0', int(lanes_max - 1))) do
  lane = lane + call('XLEN', P .. 'lane:' .. batch)
end
return {{
  {'incoming', call('XLEN', P .. 'in:interactive') + call('XLEN', P .. 'in')}, {'lanes', lane}, {'ready', ready},
  {'delayed', call('ZCARD', P .. 'delayed')}, {'parked', call('ZCARD', P .. 'parked')},
  {'active', call('ZCARD', P .. 'lease')}, {'dead', call('ZCARD', P .. 'dead')},
  {'stuck', call('ZCARD', P .. 'stuck')}, {'done', call('LLEN', P .. 'done')}, {'batches', call('ZCARD', P .. 'batches')},
}, flows}
