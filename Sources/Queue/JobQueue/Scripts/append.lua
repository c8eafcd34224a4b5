-- Adds members to the end of a batch's stream, as entries 1-1, 1-2, …; entries that exist already are skipped. The field
-- `arrived` of each has the time of the call, because its id does not.
--
-- Plain XADDs with these ids have the same effect as long as they arrive in order. A client that pipelines many of them and
-- loses its connection cannot know whether they did. This script detects a gap and adds nothing after it. It also refuses
-- members that would never become jobs. Without members it only reports whether some would be accepted.
--
-- ARGV     P, events max, done max, batch, edit of the batch or ``, number of the first from 0, maximum bytes of the tenant or ``,
--          maximum bytes of all tenants or ``, whether the batch must be open (1),
--          (asset, edit or ``, cost or ``, fields or ``)*
-- Returns  {OK, number of new members}; or, if none was added, {GAP, number of entries that the stream has had}; {CANCELLED, 0};
--          {SEALED, number of jobs}: the members are beyond it; {USED, ms since 1970 or -1}: a batch of this name ended and
--          was dropped, and the name is remembered until then at the latest; {OTHER, 0}: the batch has another edit;
--          {UNOPENED, 0}: no batch of this name is open; {STORED or SHARE, bytes}: these are stored already (refused_bytes);
--          {HARMED, number of entries that the stream has had}: its last id is not its number, so no member is known to be new
-- Crash    Either all members are in the stream or none; a repeated call adds none twice.
local batch, edit, first = ARGV[4], ARGV[5], tonumber(ARGV[6])
local key, stream = P .. 'batch:' .. batch, P .. 'lane:' .. batch
local b = call('HMGET', key, 'generation', 'cancel', 'sealed', 'tenant', 'cap')
if not b[1] and seen('batch:' .. batch) then return {'USED', remembered_until('batch:' .. batch) or -1} end
if not b[1] and ARGV[9] == '1' then return {'UNOPENED', 0} end
if b[1] and edit ~= '' and call('GET', key .. ':edit') ~= edit then return {'OTHER', 0} end
if b[2] then return {'CANCELLED', 0} end
if b[3] and first + (#ARGV - 9) / 4 > tonumber(b[3]) then return {'SEALED', tonumber(b[3])} end
if #ARGV == 9 then return {'OK', 0} end

-- The number of entries that the stream ever had, even if all have become jobs: that of the last one.
local state = stream_state(stream)
local had = state and state.gone + state.length or 0
if had > 0 and (state.last ~= '1-' .. int(had) or had > 10000000) then  -- ContractLimits.batchJobsMax
  -- Told once for a batch.
  if b[1] and call('HSETNX', key, 'unnumbered', state.last) == 1 then
    harmed('lane:' .. batch, 'renewed', 1, 'an entry of stream ' .. stream .. ' has the id ' .. state.last .. ' and is number ' .. int(had)
      .. ': a producer sent XADD with an id that is not the next of 1-1, 1-2, …. The batch takes no more members with numbers; what '
      .. 'arrived in its stream becomes jobs. Seal it at what it has, and send the rest in another batch.')
    settle_counters()
  end
  return {'HARMED', had}
end
if had < first then return {'GAP', had} end

-- The bytes of those that are new. The record of a batch that is not open can count none.
local bytes, whole = 0, math.min(tonumber(b[5] or nil) or MEMBERS_WHOLE, MEMBERS_WHOLE)
for i = b[1] and 10 or #ARGV + 1, #ARGV, 4 do
  local number = first + (i - 6) / 4
  if number > had then
    bytes = bytes + (number <= whole and RECORD_BYTES or MEMBER_BYTES) + #ARGV[i] + #ARGV[i + 1] + #ARGV[i + 3]
  end
end
local tenant = b[4] or 'default'
local why, stored = refused_bytes(tenant, bytes, tonumber(ARGV[7]), tonumber(ARGV[8]))
if why then return {why, tonumber(stored)} end

local added = 0
for i = 10, #ARGV, 4 do
  local number = first + (i - 6) / 4
  if number > had then
    local entry = {'asset', ARGV[i]}
    for at, name in ipairs({'edit', 'cost', 'fields'}) do
      if ARGV[i + at] ~= '' then
        entry[#entry + 1] = name
        entry[#entry + 1] = ARGV[i + at]
      end
    end
    call('XADD', stream, '1-' .. int(number), 'arrived', int(next_time()), unpack(entry))
    added = added + 1
  end
end
if bytes > 0 then
  call('HINCRBY', key, 'laneBytes', int(bytes))
  store(tenant, bytes)
  settle_stored()
end
if added > 0 then
  keep_time()
  call('ZADD', P .. 'lanes', 'XX', '0', batch)
  signal_admission()
end
return {'OK', added}
