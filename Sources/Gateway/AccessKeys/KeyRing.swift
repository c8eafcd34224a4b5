import Edits
import FoundationEssentials
package import JobQueue
package import Logging
package import Redis
import Synchronization

/// The keys of one gateway: all of them in memory, kept up to date by the control stream.
///
/// A request needs no look-up in Redis. A flood of unknown keys causes only ``lookupsPerSecond`` look-ups, which serve keys that
/// another gateway created a moment ago.
package final class KeyRing: Sendable {
    /// The time for which keys are accepted without a reply from Redis.
    ///
    /// It exceeds a failover (10 to 30 s), during which downloads continue. If Redis is unavailable to all clients, no client
    /// can revoke a key either. If only this gateway is cut off, a key that is revoked meanwhile is accepted for at most this
    /// time.
    package static let trustedWithoutRedis = Duration.seconds(60)
    /// The duration of one wait for the control stream. An empty wait shows that Redis is available.
    static let listenWait = Duration.seconds(1)
    /// The interval at which all keys are read again, in case a message was trimmed from the control stream before it was read.
    static let reloadInterval = Duration.seconds(30)
    static let pause = Duration.seconds(1)
    /// The longest wait of a gateway between two tries to reach Redis. While it waits, it does not hear that a key is revoked, though
    /// Redis may be back; with the 20 s of workers, of which there are thousands, it did not for 15 s.
    package static let reconnectMax = Duration.seconds(1)
    /// The longest time from the return of Redis after an outage until a gateway has read all keys again.
    static let deafMax = reconnectMax + pause + listenWait
    /// The maximum number of unknown ids looked up per second.
    package static let lookupsPerSecond = 20

    private struct State {
        var keys: [String: Result<StoredKey, KeyError>] = [:]
        var records: [String: [UInt8]] = [:]
        /// The keys that were known and have no record any more, and the moment at which that was heard.
        var gone: [String: ContinuousClock.Instant] = [:]
        /// The time at which the last successful call to Redis was made.
        var heardAt: ContinuousClock.Instant?
        var lookups: TokenBucket
        /// The time of Redis in ms since 1970, and the moment at which it was told.
        var time: (milliseconds: Int, at: ContinuousClock.Instant)?
        /// The place in the control stream from which ``begin()`` has all keys, and the moment at which it read them.
        var begun: (position: String, at: ContinuousClock.Instant)?
    }

    private let store: KeyStore
    private let queue: JobQueue
    private let controlReads: RedisClient
    private let logger: Logger
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant
    private let state: Mutex<State>

    /// - Parameters:
    ///   - queue: The queue, whose control stream is read.
    ///   - controlReads: A client of its own, because waiting blocks its connection.
    package convenience init(
        store: KeyStore, queue: JobQueue, controlReads: RedisClient, logger: Logger
    ) {
        self.init(store: store, queue: queue, controlReads: controlReads, logger: logger) { .now }
    }

    init(
        store: KeyStore, queue: JobQueue, controlReads: RedisClient, logger: Logger,
        clock: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.store = store
        self.queue = queue
        self.controlReads = controlReads
        self.logger = logger
        self.clock = clock
        start = clock()
        state = Mutex(
            State(
                lookups: TokenBucket(
                    rate: Self.lookupsPerSecond, burst: Self.lookupsPerSecond, at: .zero)))
    }

    /// Whether keys can be accepted: the last contact with Redis is recent.
    package var isReady: Bool {
        state.withLock { $0.heardAt }.map { clock() - $0 < Self.trustedWithoutRedis } ?? false
    }

    /// The number of known keys, including expired and revoked ones.
    package var count: Int { state.withLock { $0.keys.count } }

    /// Returns the key with which a request was sent.
    ///
    /// - Throws: `malformedKey`, `unknownKey`, `expiredKey`, `revokedKey`, `laterFormat`, `damagedKey`; `keysUnavailable`
    ///   if that cannot be determined.
    package func authenticate(_ text: some StringProtocol) async throws(KeyError) -> AccessKey {
        let text = try KeyText(text)
        try checkContact()
        if let known = state.withLock({ $0.keys[text.id] }) {
            return try accept(text, known.get())
        }
        let mayLookUp = state.withLock { $0.lookups.consume(at: clock() - start) }
        guard mayLookUp, let stored = try await lookUp(text.id) else { throw Self.unknown(text) }
        // The record is not stored here, because the control stream announces it in order.
        return try accept(text, stored)
    }

    /// Returns the id of a key from its text; nil for one that is refused, or that this gateway has not heard of. It asks nobody.
    package func knownID(of text: some StringProtocol) -> String? {
        do throws(KeyError) {
            let text = try KeyText(text)
            guard let known = state.withLock({ $0.keys[text.id] }) else { return nil }
            return try accept(text, known.get()).id
        } catch {
            return nil  // whoever is to answer says why
        }
    }

    /// Returns the key with which a session was started: its holder has proved the secret before.
    ///
    /// - Throws: `unknownKey`, `expiredKey`, `revokedKey`, `laterFormat`, `damagedKey`; `keysUnavailable`.
    package func key(named id: String) async throws(KeyError) -> AccessKey {
        try checkContact()
        if let known = state.withLock({ $0.keys[id] }) { return try accept(known.get().key) }
        guard let stored = try await lookUp(id) else {
            throw Self.notKept(id)
        }
        return try accept(stored.key)
    }

    private static func notKept(_ id: String) -> KeyError {
        KeyError(.unknownKey, "key \(id) is not kept any more.")
    }

    /// Returns why a key that was accepted before is not accepted any more; nil if it is, or if this gateway cannot tell.
    ///
    /// It asks nobody: the ring has heard of a revocation within moments, and of an expiry it needs only the time of Redis, which it
    /// measures as often as it reads all keys.
    package func refusal(of id: String) -> KeyError? {
        let (known, isGone) = state.withLock { ($0.keys[id], $0.gone[id] != nil) }
        guard let known else { return isGone ? Self.notKept(id) : nil }
        do throws(KeyError) {
            _ = try accept(known.get().key)
            return nil
        } catch {
            return error
        }
    }

    /// Refuses while keys cannot be accepted.
    ///
    /// - Throws: `keysUnavailable`.
    package func checkContact() throws(KeyError) {
        if !isReady { throw notHeard }
    }

    private var notHeard: KeyError {
        KeyError(
            .keysUnavailable,
            "the keys of queue \(store.queue) were not heard of for \(Self.trustedWithoutRedis): Redis is out of reach. "
                + "Try again.")
    }

    /// The secret is checked first: a client without it learns nothing about the key.
    private func accept(_ text: KeyText, _ stored: StoredKey) throws(KeyError) -> AccessKey {
        guard stored.matches(text) else { throw Self.unknown(text) }
        return try accept(stored.key)
    }

    /// The time of Redis, in ms since 1970: that of the last ``load()``, and what has passed by a clock since that nobody sets. nil
    /// before the first one.
    private var now: Int? {
        state.withLock { $0.time }.map {
            $0.milliseconds + Int((clock() - $0.at) / .milliseconds(1))
        }
    }

    private func accept(_ key: AccessKey) throws(KeyError) -> AccessKey {
        guard let now else { throw notHeard }
        switch key.state(at: now) {
        case .active: return key
        case .expired:
            throw KeyError(.expiredKey, "key \(key.id) has expired; ask for another one.")
        case .revoked:
            throw KeyError(.revokedKey, "key \(key.id) was revoked; ask for another one.")
        }
    }

    private func lookUp(_ id: String) async throws(KeyError) -> StoredKey? {
        do {
            return try await store.records.record(id)
        } catch  where error.code == .redis {
            throw KeyError(
                .keysUnavailable, "key \(id) could not be looked up: \(error.message)",
                cause: error.cause)
        }
    }

    private static func unknown(_ text: KeyText) -> KeyError {
        KeyError(
            .unknownKey,
            "there is no key \(text.id) with this secret. Send one as minilab key create printed it."
        )
    }

    /// Reads all keys once, so that whoever calls a gateway as soon as it listens has a key that is known. ``run()`` goes on from there.
    ///
    /// A failure is logged, and left to ``run()``.
    package func begin() async {
        let asked = clock()
        do {
            let position = try await loadAll()
            state.withLock { $0.begun = (position: position, at: asked) }
            heard(asked)
        } catch {
            logger.warning("keys are not heard of", metadata: ["error": "\(error)"])
        }
    }

    /// Reads all keys.
    ///
    /// - Returns: the position in the control stream after which changes are still to be heard.
    private func loadAll() async throws -> String {
        // Until the records of an earlier release are here, nobody is let in, and nothing is written beside them.
        try await GatewayRecords(queue).settle(telling: logger)
        // The position is read first, so changes during the load are received afterwards.
        let newest = try await queue.controlPosition(in: .gateway)
        try await load()
        return newest
    }

    /// Keeps the keys up to date until the task is cancelled. It waits out failures of Redis and logs each failure once.
    package func run() async {
        let begun = state.withLock { $0.begun }
        var position = begun?.position
        var loadedAt = begun?.at ?? clock()
        var isFailing = false
        while !Task.isCancelled {
            let asked = clock()
            do {
                if position == nil || asked - loadedAt >= Self.reloadInterval {
                    let newest = try await loadAll()
                    position = position ?? newest
                    loadedAt = asked
                    heard(asked)
                }
                guard var from = position else { continue }
                let messages = try await queue.listen(
                    to: .gateway, from: &from, atMost: Self.listenWait, on: controlReads)
                for case .key(let id) in messages { try await update(id) }
                // A wait that was delayed may have missed more messages than the stream keeps.
                position = clock() - asked < Self.listenWait + Self.pause ? from : nil
                heard(asked)
                isFailing = false
            } catch {
                if Task.isCancelled { return }
                if !isFailing {
                    logger.warning(
                        "keys are not heard of", metadata: ["error": "\(error)"])
                }
                isFailing = true
                position = nil
                do { try await Task.sleep(for: Self.pause) } catch { return }
            }
        }
    }

    private func heard(_ time: ContinuousClock.Instant) {
        state.withLock { $0.heardAt = max($0.heardAt ?? time, time) }
    }

    private func update(_ id: String) async throws(KeyError) {
        let stored: Result<StoredKey, KeyError>?
        do throws(KeyError) {
            stored = try await store.records.record(id).map { .success($0) }
        } catch {
            guard error.code != .redis else { throw error }
            stored = .failure(error)
        }
        let now = clock()
        state.withLock { state in
            state.records[id] = nil
            if stored != nil {
                state.gone[id] = nil
            } else if state.keys[id] != nil {
                state.gone[id] = now
            }
            if state.keys[id] != nil || state.keys.count < KeyStore.keysMax {
                state.keys[id] = stored
            }
        }
    }

    private func load() async throws(KeyError) {
        let (known, records) = state.withLock { ($0.keys, $0.records) }
        let newest = try await store.records.all()
        let time = (milliseconds: try await store.now(), at: clock())
        var keys: [String: Result<StoredKey, KeyError>] = [:]
        for (id, record) in newest {
            if let same = known[id], records[id] == record {
                keys[id] = same
                continue
            }
            do throws(KeyError) {
                keys[id] = .success(try StoredKey.decode(record, of: id))
            } catch {
                keys[id] = .failure(error)
                logger.warning("a key is passed over", metadata: ["error": "\(error)"])
            }
        }
        state.withLock { state in
            // Calls that go on with one are broken off long before it is forgotten.
            state.gone = state.gone.filter {
                keys[$0.key] == nil && time.at - $0.value < Self.reloadInterval
            }
            for id in state.keys.keys where keys[id] == nil { state.gone[id] = time.at }
            (state.keys, state.records, state.time) = (keys, newest, time)
        }
    }
}

extension RedisConfiguration {
    /// The configuration of a gateway's connections.
    package var ofGateway: RedisConfiguration {
        var configuration = self
        configuration.backoffMax = KeyRing.reconnectMax
        return configuration
    }
}
