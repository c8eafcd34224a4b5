import Redis

/// A script that tells all that Redis holds of a queue, one fact a line, and drops it.
///
/// What depends on the server's clock is `*`; fields of their usual value are left out, and so is what only a
/// script's own bookkeeping needs.
let queueContents = RedisScript(
    name: "contents",
    source: #"""
        local P, keep = ARGV[1], ARGV[2] == 'keep'
        local lines, keys = {}, redis.call('KEYS', P .. '*')
        local function say(...) lines[#lines + 1] = table.concat({...}, ' ') end
        local USUAL = {tenant = 'default', priority = 'normal', generation = '1', attempts = '0', crashes = '0',
          rebases = '0', carries = '0', voids = '0'}
        local CLOCK = {fence = 1, claimed = 1, enqueued = 1, ended = 1, message = 1, opened = 1, aloneUntil = 1,
          seenSince = 1, seenKeep = 1, laneTurn = 1, fed = 1, confirmed = 1,
          digest = 1}
        -- Times that scripts keep for themselves.
        local BOOKKEEPING = {time = 1, server = 1, floor = 1, ticked = 1, lived = 1, shift = 1, leapt = 1, since = 1, lease = 1, delay = 1,
          worked = 1, after = 1, ['after:in'] = 1, ['after:in:interactive'] = 1, milliseconds = 1, costMs = 1, storedTurn = 1, fleet = 1,
          eventBytes = 1, resultBytes = 1}
        local tell = {}
        function tell.string(name, key)
          local value = redis.call('GET', key)
          if name:match('^batch:.*:ended$') then
            for at = 0, #value * 8 - 1 do
              if redis.call('GETBIT', key, at) == 1 then say(name, at) end
            end
          else
            say(name, name:match('^result:') and '*' or value)
          end
        end
        function tell.hash(name, key)
          local h = redis.call('HGETALL', key)
          local kind = name:match('^%a+')
          for i = 1, #h, 2 do
            local field, value = h[i], h[i + 1]
            if field == 'arrival' and tonumber(value) > 1e12 then value = '*' end
            if (CLOCK[field] and kind ~= 'assets' and kind ~= 'counters') or kind == 'seen' then value = '*' end
            -- Times and a sample go with a group; an edit's digest does not tell which edit.
            if name == 'dead:groups' then field, value = field:gsub(':%x+$', ':*'), value:match('^%d+') end
            if kind == 'job' and field == 'group' then value = value:gsub(':%x+$', ':*') end
            if kind == 'job' and field == 'unable' then value = value:gsub('\t[^\n]*', ''):gsub('\n', ',') end
            if kind == 'job' and field == 'blamed' then value = select(2, value:gsub('%d+', '')) end
            local skip = (BOOKKEEPING[field] and kind ~= 'assets') or (kind == 'job' and USUAL[field] == value)
              or ((field == 'aheadJobs' or field == 'apartJobs' or field == 'storedBytes') and value == '0') or ((kind == 'batch' or kind == 'counters') and value == '0' and field ~= 'refill') or (kind == 'batch' and field == 'holes')
            if not skip then say(name, field, value) end
          end
        end
        function tell.list(name, key)
          if name:match('^attempts:') then return say(name, redis.call('LLEN', key)) end
          for i, value in ipairs(redis.call('LRANGE', key, 0, -1)) do say(name, i - 1, value) end
        end
        function tell.zset(name, key)
          local z = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
          local kind = name:match('^[%a:]+')
          for i = 1, #z, 2 do
            local score = z[i + 1]
            if name == 'lease' or name == 'delayed' then score = tonumber(score) < 1e9 and 'over' or '*'
            elseif kind == 'parked' or kind:match('^parked:') or kind:match('^later:') then score = tonumber(score) > 1e12 and '*' or score
            elseif name == 'lanes' then score = ({['0'] = 'new', ['9000000000000000'] = 'idle', inf = 'full'})[score] or '*'
            elseif name == 'dead' or name == 'stuck' or name == 'workers' or name == 'retrying' or name == 'batches' or name == 'batches:ended' then score = '*' end
            say(name, z[i], score)
          end
        end
        local function event(e, place, times)
          local data, id = e.data, e.id:match('^[^/]*/(.*)$')
          local detail, at = data.reason or data.dropped or '', place
          if data.error then detail = data.error.code .. ' ' .. (data.attempt or data.carries) end
          id = id:gsub('/(%a+)/%d+$', {stuck = '/stuck/*', retried = '/retried/*', previewed = '/previewed/*'})
          if e.type == 'org.minilab.batch.completed' then
            times[id] = (times[id] or 0) + 1
            at = 'time ' .. times[id]
            detail = data.jobs .. ' ' .. data.completed .. ' ' .. data.failed .. ' ' .. data.cancelled
          else
            place = place + 1
          end
          if e.traceparent then detail = detail .. ' in ' .. e.traceparent end
          say('events', at, id, e.type:sub(13), e.subject or '', detail)
          return place
        end
        function tell.stream(name, key)
          local place, times = 0, {}
          for i, entry in ipairs(redis.call('XRANGE', key, '-', '+')) do
            if name == 'events' then place = event(cjson.decode(entry[2][2]), place, times)
            elseif name == 'control' then say(name, i - 1, entry[2][1], entry[2][2])
            else say(name, entry[1]) end
          end
        end
        local HIDDEN = {wake = true, ['wake:others'] = true, bell = true, clock = true, ['events:marks'] = true}
        for _, key in ipairs(keys) do
          local name = key:sub(#P + 1)
          if not HIDDEN[name] and not name:match('^skips:') then tell[redis.call('TYPE', key).ok](name, key) end
        end
        -- A worker that sleeps is woken when there is something to claim.
        local claimable = false
        for _, priority in ipairs({'interactive', 'normal', 'bulk'}) do
          claimable = claimable or redis.call('EXISTS', P .. 'flows:' .. priority) == 1
        end
        if claimable and redis.call('EXISTS', P .. 'wake', P .. 'wake:others') == 0
          and redis.call('HEXISTS', P .. 'config', 'paused') == 0 then
          say('nobody is woken')
        end
        for _, key in ipairs(keys) do if not keep then redis.call('UNLINK', key) end end
        return table.concat(lines, '\n')
        """#)
