-- Opens or seals a batch, or both, for a producer that waits for the result. The batch is open when the reply arrives. Its stream
-- can be filled then, as it could be before.
--
-- ARGV     P, events max, done max, maximum submitted jobs of the tenant that have not ended or ``, its maximum bytes or ``,
--          maximum bytes of all tenants or ``, (name,
--          value)* as in an entry of the ingress stream: `batch`; to open it `edit`, and perhaps `tenant`, `priority`, `cost`,
--          `cap`, `folder` (of the key that opens it); to seal it `seal`, and perhaps `total`
-- Returns  {CREATED, SAME, OTHER, USED, QUOTA, STORED or SHARE of opening, SEALED, SAME, NONE, AT, GIVEN or USED of sealing, each `` if
--          it was not requested or not reached; number: of jobs with QUOTA, AT, GIVEN; of bytes with STORED, SHARE; with USED, ms
--          since 1970 or -1}
-- Crash    Open or not, sealed or not: one script does it. Called again: SAME.
local f, quota = {submitted = '1'}, tonumber(ARGV[4])
for i = 7, #ARGV, 2 do f[ARGV[i]] = ARGV[i + 1] end
local tenant, number, opened, sealed = f.tenant or 'default', -1, '', ''
if f.edit then
  if call('EXISTS', P .. 'batch:' .. f.batch .. ':edit') == 0 and not seen('batch:' .. f.batch) then
    local waiting = quota and call('HLEN', backlog(tenant)) or 0
    if quota and waiting >= quota then return {'QUOTA', '', waiting} end
    local why, stored = refused_bytes(tenant, BATCH_BYTES + #f.edit, tonumber(ARGV[5]), tonumber(ARGV[6]))
    if why then return {why, '', tonumber(stored)} end
  end
  opened = open_batch(f)
  if opened == 'CREATED' then call('HSET', backlog(tenant), 'batch:' .. f.batch, '1') end
end
if f.seal and (not f.edit or opened == 'CREATED' or opened == 'SAME') then
  sealed, number = seal_batch(f.batch, f.seal, f.total)
  -- A batch that is sealed twice loses nothing.
  if sealed == 'USED' and call('EXISTS', P .. 'lane:' .. f.batch) == 0 then sealed = 'SAME' end
end
if opened == 'USED' or sealed == 'USED' then number = remembered_until('batch:' .. f.batch) end
if opened == 'CREATED' or sealed == 'SEALED' then signal_admission() end
settle()
return {opened, sealed, number or -1}
