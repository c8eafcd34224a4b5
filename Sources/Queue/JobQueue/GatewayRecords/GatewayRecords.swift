import Edits
package import Logging
package import Redis

/// The place of the gateway's records. Up to release 0.5 they were among the queue's keys, where a worker's user of Redis could write
/// a key for itself; a gateway of this release moves them once.
///
/// Each key is moved by a script of its own, by its name, so a move takes the same time for one record and for a million, may end
/// anywhere, and goes on with the next call. In the place of each key that a queue has once, a text stays: a gateway of release 0.5
/// that still runs can then neither read nor change it, nor begin a second one beside it. What such a gateway begins anew of the
/// others, and what a gateway of this release wrote before a backup of 0.5 came back under it, is put together with what is there.
/// After the move nothing of the old places is looked at: a worker cannot put a key there for the next start of a gateway.
package struct GatewayRecords: Sendable {
    private let queue: JobQueue
    private let now: GatewayKeys
    private let earlier: GatewayKeys

    /// The text that stays in the old place of a key.
    static let left = "moved to minilab-gateway by release 0.6"
    /// The values of ``GatewayKeys/moved``.
    static let (begun, done) = ("begun", "done")
    /// The number of keys of one step of the search for those of which a queue has several.
    private static let step = 1000
    /// The maximum number of searches: a gateway of release 0.5 that still runs may write some anew all the while.
    private static let walksMax = 10

    package init(_ queue: JobQueue) {
        self.queue = queue
        now = queue.name.gatewayKeys
        earlier = .earlier(queue.name)
    }

    package init(redis: RedisClient, queue: QueueName) {
        self.init(JobQueue(name: queue, redis: redis))
    }

    /// Moves what release 0.5 left; a repeated call asks once and does nothing.
    ///
    /// A gateway calls it again and again: after a failover to a replica that lacks the last second, the move may have to go on.
    ///
    /// - Returns: The number of keys that were moved.
    /// - Throws: `unsafeServer` if the user of Redis may not reach them; `damagedRecord` if both places have keys that cannot be put
    ///   together; `redis`.
    package func settle() async throws(QueueError) -> Int {
        let state = try await self.state
        if state == Self.done { return 0 }
        var count = 0
        let hasEarlier = try await self.hasEarlier
        if state == Self.begun || hasEarlier {
            try await note(Self.begun)
            for (old, new) in zip(earlier.single, now.single) {
                count += try await move(old, new, leaving: Self.left)
            }
            count += try await moveSeveral()
        }
        try await note(Self.done)
        return count
    }

    /// The same for a gateway, whose log says what was moved: at its start, or later after Redis came back or another one took over.
    package func settle(telling logger: Logger) async throws(QueueError) {
        let moved = try await settle()
        guard moved > 0 else { return }
        logger.notice(
            "keys, sessions, webhooks and the audit log of release 0.5 have other keys of Redis now",
            metadata: ["moved": "\(moved)"])
    }

    /// Moves the keys of which a queue has several, until a search finds none: another server that took over amid one may have
    /// passed over some.
    private func moveSeveral() async throws(QueueError) -> Int {
        var count = 0
        for _ in 0..<Self.walksMax {
            let before = count
            try await queue.scan("SCAN", nil, count: Self.step) { keys throws(QueueError) in
                for old in keys.compactMap(\.string) where earlier.isOneOfSeveral(old) {
                    let name = old.dropFirst(earlier.prefix.count)
                    count += try await move(old, now.prefix + name, leaving: "")
                }
            }
            if count == before { break }
        }
        return count
    }

    /// Returns the keys under which the records are at this moment, for a command that changes them: while gateways of release 0.5
    /// serve the queue, its changes must be theirs too.
    ///
    /// - Throws: as ``settle()``.
    package func keys() async throws(QueueError) -> GatewayKeys {
        let keys = try await keysToRead()
        if keys == now { _ = try await settle() }
        return keys
    }

    /// The same for a command that only looks: it moves nothing and writes nothing, so a server that accepts no write answers it.
    ///
    /// - Throws: `unsafeServer` if the user of Redis may not reach them; `redis`.
    package func keysToRead() async throws(QueueError) -> GatewayKeys {
        if try await state == nil, try await hasEarlier { return earlier }
        return now
    }

    private var state: String? {
        get async throws(QueueError) { try await send("GET", now.moved).string }
    }

    /// Whether a gateway or a command of release 0.5 has used the queue. Keys of which a queue has several are never there alone.
    private var hasEarlier: Bool {
        get async throws(QueueError) { try await send("EXISTS", earlier.single).int != 0 }
    }

    private func note(_ state: String) async throws(QueueError) {
        _ = try await run(Self.noteScript, [now.moved], state)
    }

    private func move(
        _ old: String, _ new: String, leaving text: String
    ) async throws(QueueError) -> Int {
        let reply = try await run(Self.moveScript, [old, new], text)
        guard let moved = reply.int, moved >= 0 else {
            throw QueueError(
                .damagedRecord,
                "\(old) of release 0.5 cannot be moved, because \(new) is there already and of another type: look at both as user "
                    + "admin, and rename the one that is not needed (redis-cli RENAME).")
        }
        return Int(moved)
    }

    private func run(
        _ script: RedisScript, _ keys: [String], _ argument: String
    ) async throws(QueueError) -> RedisReply {
        do {
            return try await queue.redis.run(
                script, keys: keys, arguments: [RedisArgument(argument)])
        } catch {
            throw QueueError(
                .redis, "queue \(queue.name), \(script.name): \(error)", cause: error)
        }
    }

    private func send(_ command: any Arguments...) async throws(QueueError) -> RedisReply {
        do throws(QueueError) {
            return try await queue.sendAll([command])[0]
        } catch {
            guard error.isNotPermitted else { throw error }
            throw QueueError(
                .unsafeServer,
                ServerVerdict.missing(
                    ofRecords: ["\(command[0])"], user: queue.redis.user, queue: queue.name),
                cause: error.cause)
        }
    }

    /// The scripts of a move. They also run while Redis is full: a gateway that starts then must find its keys.
    static let scripts = [moveScript, noteScript]

    private static let noteScript = RedisScript(
        name: "note_move",
        source: """
            #!lua flags=allow-oom
            -- KEYS   the note
            -- ARGV   begun, done
            -- Returns the note
            -- Crash  The note is written or not.
            if ARGV[1] == 'done' or redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1]) end
            return redis.call('GET', KEYS[1])
            """)

    private static let moveScript = RedisScript(
        name: "move_record",
        source: """
            #!lua flags=allow-oom
            -- KEYS   the place up to release 0.5, the place now
            -- ARGV   the text that stays in the first place, or `` for none
            -- Returns 1 moved, 0 nothing was there, -1 both are there and differ in type
            -- Crash  The key is moved, with its end, or it is not.
            local has = redis.pcall('GET', KEYS[1])
            if has and has == ARGV[1] then return 0 end
            if has and redis.call('EXISTS', KEYS[2]) == 0 then
              redis.call('RENAME', KEYS[1], KEYS[2])
            elseif has then
              -- What is there now stays, and gets what it lacks.
              local function are(one, other) return type(one) == 'number' and type(other) == 'number' end
              if are(redis.pcall('HLEN', KEYS[1]), redis.pcall('HLEN', KEYS[2])) then
                local fields = redis.call('HGETALL', KEYS[1])
                for i = 1, #fields, 2 do redis.call('HSETNX', KEYS[2], fields[i], fields[i + 1]) end
              elseif are(redis.pcall('ZCARD', KEYS[1]), redis.pcall('ZCARD', KEYS[2])) then
                local members = redis.call('ZRANGE', KEYS[1], '0', '-1', 'WITHSCORES')
                for i = 1, #members, 2 do redis.call('ZADD', KEYS[2], 'NX', members[i + 1], members[i]) end
              elseif are(redis.pcall('XLEN', KEYS[1]), redis.pcall('XLEN', KEYS[2])) then
                -- By their times. No entry of minilab has as many as a hundred fields.
                local entries, order = {}, {}
                for _, key in ipairs(KEYS) do
                  for _, entry in ipairs(redis.call('XRANGE', key, '-', '+')) do
                    local ms, number = string.match(entry[1], '(%d+)-(%d+)')
                    order[entry] = ('0'):rep(20 - #ms) .. ms .. ('0'):rep(20 - #number) .. number
                    if #entry[2] < 200 then entries[#entries + 1] = {ms .. '-*', entry} end
                  end
                end
                table.sort(entries, function(a, b) return order[a[2]] < order[b[2]] end)
                redis.call('UNLINK', KEYS[2])
                for _, entry in ipairs(entries) do redis.call('XADD', KEYS[2], entry[1], unpack(entry[2][2])) end
              elseif are(redis.pcall('LLEN', KEYS[1]), redis.pcall('LLEN', KEYS[2])) then
                local element = redis.call('LPOP', KEYS[1])
                while element do
                  redis.call('RPUSH', KEYS[2], element)
                  element = redis.call('LPOP', KEYS[1])
                end
              elseif not are(redis.pcall('STRLEN', KEYS[1]), redis.pcall('STRLEN', KEYS[2])) then return -1 end
              redis.call('UNLINK', KEYS[1])
            end
            if ARGV[1] ~= '' then redis.call('SET', KEYS[1], ARGV[1]) end
            return has and 1 or 0
            """)
}
