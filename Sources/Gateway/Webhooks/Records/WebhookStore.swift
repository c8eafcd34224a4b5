import AccessKeys
import Edits
import FoundationEssentials
package import JobQueue
package import Redis

/// The endpoints of a queue's webhooks in Redis: hash `minilab-gateway:{queue}:webhooks` has a JSON record by id, and further keys have the
/// progress of each. The script that changes a record also announces the change in the control stream.
package struct WebhookStore: Sendable {
    package static let endpointsMax = 1_000
    package static let endpointsOfTenantMax = 20

    let records: RecordStore<StoredEndpoint>
    let redis: RedisClient
    package let queue: QueueName
    /// Returns the time in ms since 1970.
    let now: @Sendable () -> Int

    /// - Parameter now: Returns the time in ms since 1970.
    package init(
        redis: RedisClient, queue: QueueName,
        now: @escaping @Sendable () -> Int = { Int(Date.now.timeIntervalSince1970 * 1000) }
    ) {
        self.redis = redis
        self.queue = queue
        self.now = now
        records = RecordStore(
            RecordHash(
                redis: redis, key: queue.gatewayKeys.webhooks, stream: queue.gatewayKeys.control,
                field: "webhook", countMax: Self.endpointsMax), of: queue)
    }

    /// Creates an endpoint, which receives the events from now on. Only this method and ``rotate(_:)`` return its secret.
    ///
    /// The form of the URL is checked here; its addresses are checked at each delivery, and by ``WebhookSender/check(_:)``.
    ///
    /// - Throws: `invalidURL`, `invalidEventTypes`, `tooManyEndpoints`, `redis`.
    package func create(
        owner: WebhookOwner, url: String, eventTypes: some Sequence<String> = []
    ) async throws(WebhookError) -> (endpoint: WebhookEndpoint, secret: WebhookSecret) {
        let url = try WebhookURL(url)
        let names = Array(eventTypes)
        let types = names.isEmpty ? WebhookEventTypes.usual : try WebhookEventTypes.read(names)
        let endpoint = WebhookEndpoint(
            id: WebhookEndpoint.makeID(), owner: owner, url: url.string, eventTypes: types,
            state: .active, createdAt: now())
        let secret = WebhookSecret()
        // The cursor is written before the record, so that the delivering gateway finds the position to begin at.
        let newest = try await newestEvent
        _ = try await send([
            "HSET", RedisArgument(state(endpoint.id)), "cursor",
            RedisArgument(newest ?? EventReader.beginning),
        ])
        let change = try await records.replace(
            endpoint.id, nil, with: StoredEndpoint(endpoint: endpoint, secret: secret),
            within: owner.tenant.map {
                RecordHash.Share(
                    of: $0, at: "endpoint.owner.tenant", countMax: Self.endpointsOfTenantMax)
            })
        guard change == .made else {
            try await removeProgress(endpoint.id)
            throw WebhookError(
                .tooManyEndpoints,
                change == .share
                    ? "tenant \(owner.tenant ?? "") has \(Self.endpointsOfTenantMax) endpoints, as many as it may have; delete one."
                    : "queue \(queue) has \(Self.endpointsMax) endpoints, as many as it may have.")
        }
        return (endpoint, secret)
    }

    /// Returns all endpoints, or those of an owner, the oldest first. Records that cannot be decoded are left out.
    ///
    /// - Throws: `redis`.
    package func list(of owner: WebhookOwner? = nil) async throws(WebhookError)
        -> [WebhookEndpoint]
    {
        try await records.allDecoded().values.compactMap { result in
            switch result {
            case .success(let stored): stored.endpoint
            case .failure: nil
            }
        }
        .filter { owner == nil || $0.owner == owner }
        .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// The records that are decoded in one turn: some 2 ms of a core.
    private static let turnCount = 50

    /// Returns all endpoints, as ``list(of:)``, for a caller whose turns others wait for: each holds some records.
    ///
    /// - Parameter turn: Runs what it is given in a turn.
    /// - Throws: `redis`; the error of `turn`.
    package func list(
        inTurns turn: (_ decode: () -> [WebhookEndpoint]) async throws -> [WebhookEndpoint]
    ) async throws -> [WebhookEndpoint] {
        var (endpoints, rest) = ([WebhookEndpoint](), Array(try await records.all())[...])
        repeat {
            let some = rest.prefix(Self.turnCount)
            rest = rest.dropFirst(Self.turnCount)
            endpoints += try await turn { some.compactMap { Self.endpoint(in: $0.value, $0.key) } }
        } while !rest.isEmpty
        return endpoints.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    private static func endpoint(in record: [UInt8], _ id: String) -> WebhookEndpoint? {
        do throws(WebhookError) {
            return try StoredEndpoint.decode(record, of: id).endpoint
        } catch {
            return nil  // ``WebhookService`` logs it
        }
    }

    /// Returns an endpoint; nil if there is none.
    ///
    /// - Throws: `damagedEndpoint`, `laterFormat`, `redis`.
    package func get(_ id: String) async throws(WebhookError) -> WebhookEndpoint? {
        try await records.record(id)?.endpoint
    }

    /// Changes an endpoint; nil leaves a property unchanged.
    ///
    /// - Parameter isActive: True makes a disabled endpoint continue from its position; false disables it.
    /// - Throws: `noSuchEndpoint`, `invalidURL`, `invalidEventTypes`, `contended`, `redis`.
    package func update(
        _ id: String, url: String? = nil, eventTypes: [String]? = nil, isActive: Bool? = nil
    ) async throws(WebhookError) -> WebhookEndpoint {
        let url = try url.map { text throws(WebhookError) in try WebhookURL(text).string }
        let types = try eventTypes.map { names throws(WebhookError) in
            try WebhookEventTypes.read(names)
        }
        let time = now()
        let stored = try await change(id) { stored in
            if let url { stored.endpoint.url = url }
            if let types { stored.endpoint.eventTypes = types }
            switch (isActive, stored.endpoint.isActive) {
            case (true, false): stored.endpoint.state = .active
            case (false, true): stored.endpoint.state = .disabled(.owner, since: time)
            default: break
            }
        }
        // An old failure must not disable the endpoint again at once.
        if isActive == true { try await forgive(id) }
        return stored.endpoint
    }

    /// Removes an endpoint with all its waiting messages.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `contended`, `redis`.
    package func delete(_ id: String) async throws(WebhookError) -> Bool {
        try await records.untilMade("endpoint \(id)") { () throws(WebhookError) -> Bool? in
            guard let old = try await records.bytes(id) else { return false }
            guard try await records.replace(id, old, with: nil) == .made else { return nil }
            try await removeProgress(id)
            return true
        }
    }

    /// Replaces the secret of an endpoint; for a day messages are signed with both.
    ///
    /// - Throws: `noSuchEndpoint`, `contended`, `redis`.
    package func rotate(_ id: String) async throws(WebhookError) -> WebhookSecret {
        let secret = WebhookSecret()
        let time = now()
        _ = try await change(id) { $0.rotate(to: secret, at: time) }
        return secret
    }

    /// Stops deliveries until the owner enables the endpoint again.
    func disable(_ id: String, _ reason: WebhookEndpoint.Reason) async throws(WebhookError) {
        let time = now()
        _ = try await change(id) { stored in
            if stored.endpoint.isActive {
                stored.endpoint.state = .disabled(reason, since: time)
            }
        }
    }
}

extension WebhookStore {
    /// - Throws: `noSuchEndpoint`, `damagedEndpoint`, `laterFormat`, `redis`.
    func stored(_ id: String) async throws(WebhookError) -> StoredEndpoint {
        guard let stored = try await records.record(id) else { throw missing(id) }
        return stored
    }

    func missing(_ id: String) -> WebhookError {
        WebhookError(.noSuchEndpoint, "queue \(queue) has no endpoint \(id.debugDescription).")
    }

    /// - Throws: `noSuchEndpoint`, `contended`, `redis`.
    func change(
        _ id: String, _ edit: (inout StoredEndpoint) -> Void
    ) async throws(WebhookError) -> StoredEndpoint {
        try await records.untilMade("endpoint \(id)") { () throws(WebhookError) in
            guard let old = try await records.bytes(id) else { throw missing(id) }
            var stored = try StoredEndpoint.decode(old, of: id)
            let before = stored
            edit(&stored)
            if stored == before { return stored }
            return try await records.replace(id, old, with: stored) == .made ? stored : nil
        }
    }

    /// The id of the newest event; nil if there is none.
    var newestEvent: String? {
        get async throws(WebhookError) {
            try await send(["XREVRANGE", RedisArgument(queue.keys.events), "+", "-", "COUNT", "1"])
                .array?.first?.array?.first?.string
        }
    }

    func send(_ command: [RedisArgument]) async throws(WebhookError) -> RedisReply {
        do {
            return try await redis.send(command)
        } catch {
            throw records.failure(error)
        }
    }
}

/// The progress of an endpoint, and the ways in which its owner can change it.
extension WebhookStore {
    /// Repeats the events since a time: sets the endpoint's cursor back. Repeated messages have the same `webhook-id` as before.
    ///
    /// - Parameter since: The time by the clock of Redis, which events have, in ms since 1970. Events that the stream does not have any
    ///   more are reported as a gap.
    /// - Throws: `noSuchEndpoint`, `invalidTime`, `redis`.
    package func replay(_ id: String, since: Int) async throws(WebhookError) {
        let time = try await send(["TIME"]).array?.compactMap(\.int) ?? []
        let now = time.count == 2 ? time[0] * 1000 + time[1] / 1000 : 0
        guard (0...max(0, Int(now))).contains(since) else {
            throw WebhookError(.invalidTime, "\(since) is no time in ms since 1970 in the past.")
        }
        // The position is before the first event of that millisecond, because an event at a position counts as read.
        let cursor = since == 0 ? EventReader.beginning : "\(since - 1)-\(UInt64.max)"
        let isThere = try await run(
            Self.setBackScript, [state(id), queue.gatewayKeys.control],
            [RedisArgument(id), RedisArgument(cursor)])
        guard isThere else { throw missing(id) }
    }

    private static let setBackScript = RedisScript(
        name: "set_back",
        source: """
            #!lua flags=allow-oom
            -- KEYS   hash state, stream of changes, hash webhooks
            -- ARGV   endpoint, cursor
            -- Returns 1, or 0 if there is no such endpoint
            -- Crash  The check precedes the writes. The gateway that delivers now remembers the old position; without its
            --        fence it must read the new one.
            if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 0 then return 0 end
            redis.call('HSET', KEYS[1], 'cursor', ARGV[2], 'fence', '', 'owner', '')
            redis.call('XADD', KEYS[2], 'MAXLEN', '~', '1000', '*', 'webhook', ARGV[1])
            return 1
            """)

    /// Returns the last deliveries, the newest first; at most ``WebhookDelivery/rememberedMax``.
    ///
    /// - Throws: `redis`.
    package func deliveries(_ id: String) async throws(WebhookError) -> [WebhookDelivery] {
        let reply = try await send([
            "LRANGE", RedisArgument(queue.gatewayKeys.webhook(id, "deliveries")), "0",
            RedisArgument(WebhookDelivery.rememberedMax - 1),
        ])
        return (reply.array ?? []).compactMap(\.bytes).compactMap { bytes in
            // A record that a later minilab wrote in another form is skipped.
            try? JSONDecoder().decode(WebhookDelivery.self, from: Data(bytes))
        }
    }

    /// Adds a delivery at the front of the list of an endpoint that was not removed meanwhile.
    func remember(_ delivery: WebhookDelivery, of id: String) async throws(WebhookError) {
        try await run(
            Self.rememberScript, [queue.gatewayKeys.webhook(id, "deliveries")],
            [
                RedisArgument(id), RedisArgument(try delivery.json()),
                RedisArgument(WebhookDelivery.rememberedMax),
            ])
    }

    private static let rememberScript = RedisScript(
        name: "remember_delivery",
        source: """
            #!lua flags=allow-oom
            -- KEYS   list deliveries, hash webhooks
            -- ARGV   endpoint, the delivery, most deliveries
            -- Returns 1, or 0 if there is no such endpoint
            -- Crash  The check precedes the writes.
            if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then return 0 end
            redis.call('LPUSH', KEYS[1], ARGV[2])
            redis.call('LTRIM', KEYS[1], '0', string.format('%d', tonumber(ARGV[3]) - 1))
            return 1
            """)

    /// Runs a script that does nothing for an endpoint that was removed: nobody would remove what it writes.
    ///
    /// - Parameters:
    ///   - keys: the keys of the script, to which the hash of endpoints is added.
    ///   - arguments: the endpoint's id first.
    /// - Returns: Whether there is such an endpoint.
    /// - Throws: `redis`.
    @discardableResult
    func run(
        _ script: RedisScript, _ keys: [String], _ arguments: [RedisArgument]
    ) async throws(WebhookError) -> Bool {
        do {
            return try await redis.run(
                script, keys: keys + [queue.gatewayKeys.webhooks], arguments: arguments
            ).int == 1
        } catch {
            throw records.failure(error)
        }
    }

    /// Returns the key of the hash with the endpoint's progress.
    func state(_ id: String) -> String { queue.gatewayKeys.webhook(id, "state") }

    func forgive(_ id: String) async throws(WebhookError) {
        _ = try await send([
            "HDEL", RedisArgument(state(id)), "failingSince", "failedAt", "failures",
        ])
    }

    func removeProgress(_ id: String) async throws(WebhookError) {
        _ = try await send(
            ["UNLINK"]
                + ["state", "parked", "deliveries"].map {
                    RedisArgument(queue.gatewayKeys.webhook(id, $0))
                })
    }
}

package struct WebhookProgress: Sendable, Equatable {
    package let parked: Int
    /// The time between its position in the event stream and the newest event, in ms. The position of an endpoint with few
    /// events is recorded only now and then, so a value below ``WebhookSettings/lease`` has no meaning.
    package let lag: Int
}

extension WebhookStore {
    /// The maximum number of endpoints of one call.
    package static let progressMax = 200

    /// Returns the progress of endpoints, by id; only of the first ``progressMax``.
    ///
    /// - Throws: `redis`.
    package func progress(
        of ids: [String]
    ) async throws(WebhookError) -> [String: WebhookProgress] {
        let ids = Array(ids.prefix(Self.progressMax))
        let newest = try await newestEvent.map(EventReader.milliseconds)
        let replies = await redis.sendAll(
            ids.flatMap { id -> [[RedisArgument]] in
                [
                    ["ZCARD", RedisArgument(queue.gatewayKeys.webhook(id, "parked"))],
                    ["HGET", RedisArgument(state(id)), "cursor"],
                ]
            })
        var progress: [String: WebhookProgress] = [:]
        for (index, id) in ids.enumerated() {
            let parked: Int64?
            let cursor: Int?
            do {
                parked = try replies[2 * index].get().int
                cursor = try replies[2 * index + 1].get().string.map(EventReader.milliseconds)
            } catch {
                throw records.failure(error)
            }
            // 0 is the position before the first event.
            let lag = cursor.flatMap { $0 > 0 ? (newest ?? $0) - $0 : nil } ?? 0
            progress[id] = WebhookProgress(parked: Int(parked ?? 0), lag: max(0, lag))
        }
        return progress
    }
}
