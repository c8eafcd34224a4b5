import Synchronization

/// The permits for test messages that clients request. Each test holds a connection for up to 15 s.
final class TrialPermits: Sendable {
    /// The most tests of one gateway.
    static let most = 32
    /// The most tests of one key.
    static let perKeyMax = 4

    private let open = Mutex<[String: Int]>([:])

    /// Runs `body` while the key holds a permit.
    ///
    /// - Throws: `tooManyTrials`; the error of `body`.
    func withPermit<Result>(by key: String, _ body: () async throws -> Result) async throws
        -> Result
    {
        let isThere = open.withLock { open in
            guard open.values.reduce(0, +) < Self.most, open[key, default: 0] < Self.perKeyMax
            else { return false }
            open[key, default: 0] += 1
            return true
        }
        guard isThere else {
            throw Problem(
                .tooManyTrials,
                "Too many messages are tried: at most \(Self.perKeyMax) at a time for a key and \(Self.most) for this "
                    + "gateway. Ask again when one has ended.", retryAfter: 5)
        }
        defer {
            open.withLock { open in
                open[key, default: 1] -= 1
                if open[key] == 0 { open[key] = nil }
            }
        }
        return try await body()
    }
}
