-- Opening and sealing a batch: admit.lua reports faults by events, submit_batch.lua by its reply.
-- Opens a batch of fields batch, edit, and perhaps tenant, priority, cost, cap, submitted, folder. Returns CREATED; SAME: it was opened
-- before with this edit; OTHER: with another edit; or USED: a batch of this name has ended, and the name is remembered.
local function open_batch(f)
  local key = P .. 'batch:' .. f.batch
  local edit = call('GET', key .. ':edit')
  if edit then return edit == f.edit and 'SAME' or 'OTHER' end
  -- Redis lost the edit, and the record counts members of it.
  if call('HEXISTS', key, 'generation') == 1 then return 'OTHER' end
  if seen('batch:' .. f.batch) then return 'USED' end
  call('HSET', key, 'tenant', f.tenant or 'default', 'priority', f.priority or 'bulk', 'generation', '1',
    'finished', '0', 'admitted', '0', 'opened', NOW, 'stored', int(BATCH_BYTES + #f.edit))
  store(f.tenant or 'default', BATCH_BYTES + #f.edit)
  if f.cost then call('HSET', key, 'cost', f.cost) end
  if f.cap then call('HSET', key, 'cap', f.cap) end
  if f.submitted then call('HSET', key, 'submitted', '1') end
  if f.folder then call('HSET', key, 'folder', f.folder) end
  call('SET', key .. ':edit', f.edit)
  call('ZADD', P .. 'batches', NOW, f.batch)
  call('ZADD', P .. 'lanes', '0', f.batch)
  call('HDEL', P .. 'unopened', f.batch)
  return 'CREATED'
end

-- Seals a batch. Returns SEALED; SAME: it is sealed already; NONE: no such batch was opened; USED: as above; AT, number of jobs:
-- it is sealed at another number; or GIVEN, number of jobs: it has more jobs already.
local function seal_batch(batch, seal, total)
  local key = P .. 'batch:' .. batch
  local b = call('HMGET', key, 'generation', 'sealed', 'admitted')
  if call('EXISTS', key .. ':edit') == 0 then return not b[1] and seen('batch:' .. batch) and 'USED' or 'NONE' end
  -- For a batch without a generation, Redis lost the record, but not the edit.
  if not b[1] or b[2] == seal then return 'SAME' end
  if b[2] then return 'AT', tonumber(b[2]) end
  -- Jobs beyond the seal would be counted, but completion would not wait for them.
  local given = (b[3] or 0) + call('XLEN', P .. 'lane:' .. batch)
  if given > tonumber(seal) then return 'GIVEN', given end
  call('HSET', key, 'sealed', seal)
  feed_next(batch)
  if total then call('HSET', key, 'costTotal', total) end
  complete_batch(batch)
  return 'SEALED'
end
