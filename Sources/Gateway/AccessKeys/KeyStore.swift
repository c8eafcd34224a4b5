import Edits
import FoundationEssentials
package import JobQueue
package import Redis

/// The keys of a queue's clients in Redis: hash `minilab-gateway:{queue}:keys`, a JSON record by id.
///
/// The script that makes a change also announces it in the gateways' control stream, so that every gateway receives it at once.
package struct KeyStore: Sendable {
    /// The maximum number of keys of a queue, including expired and revoked ones: some 7 MB in Redis and in each gateway.
    package static let keysMax = 10_000
    /// The number of expired or revoked keys that are removed together to make room for new ones.
    static let removedAtOnce = 100

    let records: RecordStore<StoredKey>
    let queue: QueueName
    private let clock: @Sendable () async throws -> Int

    /// - Parameter keys: The place of the records; nil for that of this release.
    package init(redis: RedisClient, queue: QueueName, at keys: GatewayKeys? = nil) {
        let jobs = JobQueue(name: queue, redis: redis)
        self.init(redis: redis, queue: queue, at: keys, keysMax: Self.keysMax) {
            try await jobs.now()
        }
    }

    /// - Parameters:
    ///   - keys: The place of the records; nil for that of this release.
    ///   - clock: Returns the time in ms since 1970.
    init(
        redis: RedisClient, queue: QueueName, at keys: GatewayKeys? = nil, keysMax: Int,
        clock: @escaping @Sendable () async throws -> Int
    ) {
        let keys = keys ?? queue.gatewayKeys
        records = RecordStore(
            RecordHash(
                redis: redis, key: keys.accessKeys, stream: keys.control, field: "key",
                countMax: keysMax), of: queue)
        self.queue = queue
        self.clock = clock
    }

    /// Returns the time of Redis in ms since 1970. Keys begin and end by it alone: the clocks of gateways and of operators' machines
    /// differ from it, and from each other.
    ///
    /// - Throws: `redis`.
    package func now() async throws(KeyError) -> Int {
        do {
            return try await clock()
        } catch {
            throw KeyError(.redis, "the time of queue \(queue): \(error)", cause: error)
        }
    }

    /// Creates a key. Its text is returned here and never again.
    ///
    /// - Parameter lifetime: The time from now until it ends; nil for the end of its terms.
    /// - Throws: `tooManyKeys`, `invalidTerms` (an end in the past), `redis`.
    package func create(
        _ terms: KeyTerms, endingAfter lifetime: Duration? = nil
    ) async throws(KeyError) -> (key: AccessKey, text: KeyText) {
        let time = try await now()
        let end = lifetime.map { time + Int($0 / .milliseconds(1)) } ?? terms.expiresAt
        guard end.map({ $0 > time }) ?? true else {
            throw KeyError(.invalidTerms, "the key would have ended before it is made.")
        }
        let ending = try terms.with(expiresAt: end)
        return try await records.untilMade("a new key of queue \(queue)") { () throws(KeyError) in
            let text = KeyText()
            let key = AccessKey(id: text.id, terms: ending, createdAt: time)
            switch try await records.replace(text.id, nil, with: StoredKey(key: key, text: text)) {
            case .made: return (key, text)
            case .changed: break  // The id is in use: once in 2^60.
            case .full, .share: try await removeEnded()
            }
            return nil
        }
    }

    /// Returns all keys, the oldest first. Records that this minilab cannot decode are left out.
    ///
    /// - Throws: `redis`.
    package func list() async throws(KeyError) -> [AccessKey] {
        try await records.allDecoded().values.compactMap { result in
            switch result {
            case .success(let stored): stored.key
            case .failure: nil
            }
        }.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// Returns a key; nil if there is none.
    ///
    /// - Throws: `damagedKey`, `laterFormat`, `redis`.
    package func find(_ id: String) async throws(KeyError) -> AccessKey? {
        try await records.record(id)?.key
    }

    /// Changes the quotas of a key; every gateway applies them within a second.
    ///
    /// - Parameter change: Changes the present quotas; it may be called several times.
    /// - Returns: The key; nil if there is none.
    /// - Throws: `revokedKey`, `invalidTerms`, `damagedKey`, `laterFormat`, `contended`, `redis`.
    package func change(
        _ id: String, _ change: (inout KeyQuotas) -> Void
    ) async throws(KeyError) -> AccessKey? {
        try await records.untilMade("key \(id) of queue \(queue)") {
            () throws(KeyError) -> AccessKey?? in
            guard let old = try await records.bytes(id) else { return .some(nil) }
            var stored = try StoredKey.decode(old, of: id)
            guard stored.key.revokedAt == nil else {
                throw KeyError(
                    .revokedKey, "key \(id) was revoked; make another one with minilab key create.")
            }
            var quotas = stored.key.quotas
            change(&quotas)
            stored.key.terms = try stored.key.terms.with(quotas)
            return try await records.replace(id, old, with: stored) == .made
                ? .some(stored.key) : nil
        }
    }

    /// Revokes a key; a repeated call changes nothing. A record that cannot be decoded is removed.
    ///
    /// - Returns: The key; nil if there is none that can be decoded.
    /// - Throws: `contended`, `redis`.
    @discardableResult
    package func revoke(_ id: String) async throws(KeyError) -> AccessKey? {
        try await records.untilMade("key \(id) of queue \(queue)") {
            () throws(KeyError) -> AccessKey?? in
            guard let old = try await records.bytes(id) else { return .some(nil) }
            var stored: StoredKey?
            do throws(KeyError) {
                stored = try StoredKey.decode(old, of: id)
            } catch {
                guard [.damagedKey, .laterFormat].contains(error.code) else { throw error }
            }
            if stored?.key.revokedAt != nil { return stored?.key }
            stored?.key.revokedAt = try await now()
            return try await records.replace(id, old, with: stored) == .made
                ? .some(stored?.key) : nil
        }
    }

    /// Removes the keys that expired or were revoked first; requests with them then fail with `unknownKey`.
    private func removeEnded() async throws(KeyError) {
        let time = try await now()
        let ended = try await records.all().compactMap { id, record -> (Int, String, [UInt8])? in
            // A record that cannot be decoded is not a valid key here, but may be a later minilab's.
            guard let key = try? StoredKey.decode(record, of: id).key,
                key.state(at: time) != .active
            else { return nil }
            return (min(key.revokedAt ?? .max, key.expiresAt ?? .max), id, record)
        }
        guard !ended.isEmpty else {
            throw KeyError(
                .tooManyKeys,
                "queue \(queue) has \(records.hash.countMax) keys, and none of them has ended; revoke one with minilab key "
                    + "revoke.")
        }
        for (_, id, record) in ended.sorted(by: { $0.0 < $1.0 }).prefix(Self.removedAtOnce) {
            _ = try await records.replace(id, record, with: nil)
        }
    }
}

/// A key as stored in Redis: with the digest of its secret, and the format of the record.
package struct StoredKey: StoredRecord {
    var key: AccessKey
    /// SHA-256 of the secret, in hexadecimal.
    let secretSHA256: String
    private let format: Int

    package typealias Code = KeyErrorCode
    package static let formatKnown = 1
    package static let (noun, nouns) = ("key", "keys")
    package static let advice = (
        later: "Upgrade this one, or make another key.", damaged: "Revoke it, and make another one."
    )

    init(key: AccessKey, text: KeyText) {
        self.key = key
        secretSHA256 = Self.hex(text.digest)
        format = Self.formatKnown
    }

    /// Returns whether the text has the key's secret; the time does not depend on the position of a difference.
    func matches(_ text: KeyText) -> Bool {
        let own = secretSHA256.utf8
        let other = Self.hex(text.digest).utf8
        guard own.count == other.count else { return false }
        return zip(own, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// Avoids a string per byte, because every request with a key calls it.
    private static func hex(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = digits[Int(byte >> 4)]
                text[2 * index + 1] = digits[Int(byte & 15)]
            }
            return 2 * bytes.count
        }
    }
}
