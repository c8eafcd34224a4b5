import FoundationEssentials
package import JobQueue
package import Redis

/// The endpoints of a queue's webhooks in Redis: hash `minilab:{queue}:webhooks` has a JSON record by id, and further keys have the
/// progress of each. The script that changes a record also announces the change in the control stream.
package struct WebhookStore: Sendable {
    /// The maximum number of endpoints of a queue.
    package static let endpointsMax = 1_000
    /// The maximum number of endpoints of a tenant.
    package static let endpointsOfTenantMax = 20
    /// The number of attempts of a change while other clients change the same record.
    static let triesMax = 5

    let records: RecordHash
    let redis: RedisClient
    /// The queue.
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
        records = RecordHash(
            redis: redis, key: queue.keys.webhooks, stream: queue.keys.control, field: "webhook",
            countMax: Self.endpointsMax)
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
        let newest = try await send([
            "XREVRANGE", RedisArgument(queue.keys.events), "+", "-", "COUNT", "1",
        ]).array?.first?.array?.first?.string
        _ = try await send([
            "HSET", RedisArgument(state(endpoint.id)), "cursor",
            RedisArgument(newest ?? EventReader.beginning),
        ])
        let change = try await replace(
            endpoint.id, nil,
            with: StoredEndpoint(endpoint: endpoint, secret: secret).encoded(),
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
        try await all().values.compactMap { result in
            switch result {
            case .success(let stored): stored.endpoint
            case .failure: nil
            }
        }
        .filter { owner == nil || $0.owner == owner }
        .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// Returns an endpoint; nil if there is none.
    ///
    /// - Throws: `damagedEndpoint`, `laterFormat`, `redis`.
    package func get(_ id: String) async throws(WebhookError) -> WebhookEndpoint? {
        try await stored(id)?.endpoint
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
        for _ in 0..<Self.triesMax {
            guard let old = try await record(id) else { return false }
            if try await replace(id, old, with: nil) == .made {
                try await removeProgress(id)
                return true
            }
        }
        throw contended(id)
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
