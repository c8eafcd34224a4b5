-- Appended to Scripts/Shared by filling.py: jobs that wait, and jobs that died, made by the queue's own functions, so that
-- records, flows, groups, counters and events are those that workers would have left.
--
-- ARGV   P, events max, done max, first number, count, `waiting` or `dead`, tenants, edit
local first, jobs, kind, tenants, edit = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7]), ARGV[8]
local CODES = {'damagedPhoto', 'missingAsset', 'unsupportedFormat'}
for number = first, first + jobs - 1 do
  local tenant = 'bench' .. (tenants > 1 and int(number % tenants) or '')
  local id = tenant .. '.' .. kind:sub(1, 1) .. int(number)
  local j = setmetatable({id = id, asset = tenant .. '/2026/IMG_' .. int(number) .. kind .. '.JPG', tenant = tenant,
    priority = 'normal', sequence = int(call('INCR', P .. 'sequence')), arrival = int(US), named = '1'}, DEFAULTS)
  call('SET', P .. 'edit:' .. id, edit)
  create_job(j)
  if kind == 'dead' then
    local code = CODES[number % #CODES + 1]
    local message = 'The photo could not be read at byte ' .. int(number) .. '.'
    leave_flow(j.priority, tenant, id)
    leave_asset(j)
    remember(id, '{"at":"' .. stamp() .. '","code":"' .. code .. '","message":"' .. message
      .. '","fence":"1","worker":"bench"}')
    make_dead(j, code, message, death(j, 1, code, message, 'bench'))
  end
end
settle()
return jobs
