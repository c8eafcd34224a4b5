import Edits
import JobQueue
import Logging
import MinilabTesting
import Redis
import Synchronization
import Testing

@testable import AccessKeys

/// Keys of a queue of their own, on a real Redis that all tests of this process share.
struct KeyFixture: Sendable {
    let server: RedisServer
    private(set) var redis: RedisClient
    let queue: JobQueue
    let time = TestTime()

    /// - Parameter server: a server of the test's own, when it is going to be harmed.
    init(on server: RedisServer? = nil) async throws {
        if let server { self.server = server } else { self.server = try await SharedRedis.server() }
        redis = try Self.client(self.server)
        queue = JobQueue(
            name: try QueueName("q-\(UInt64.random(in: 0...UInt64.max))"), redis: redis)
    }

    static func client(_ server: RedisServer) throws -> RedisClient {
        RedisClient(
            RedisConfiguration(url: try RedisURL(server.url)), logger: Logger(label: "test"))
    }

    /// The same with a new connection: one that was made before the server ended may notice that with the next call.
    func reconnected() throws -> KeyFixture {
        var copy = self
        copy.redis = try Self.client(server)
        return copy
    }

    func store(keysMax: Int = KeyStore.keysMax) -> KeyStore {
        KeyStore(redis: redis, queue: queue.name, keysMax: keysMax) { [time] in time.milliseconds }
    }

    /// A ring as a gateway has it, with clients of its own.
    func ring(_ uptime: TestTime? = nil) throws -> KeyRing {
        let own = try Self.client(server)
        let start = ContinuousClock.now
        return KeyRing(
            store: KeyStore(redis: own, queue: queue.name, keysMax: 100) { [time] in
                time.milliseconds
            },
            queue: JobQueue(name: queue.name, redis: own), controlReads: try Self.client(server),
            logger: Logger(label: "test"),
            clock: { uptime.map { start + .milliseconds($0.milliseconds) } ?? .now })
    }

    static func terms(_ tenant: String = "acme", expiresAt: Int? = nil) throws -> KeyTerms {
        try KeyTerms(
            tenant: try JobID(tenant), assetPrefix: try AssetPrefix("\(tenant)/"),
            scopes: [.enqueue, .read], expiresAt: expiresAt)
    }
}

/// A clock that stands until a test moves it. It begins in September 2026.
final class TestTime: Sendable {
    private let value = Mutex(1_790_000_000_000)

    var milliseconds: Int { value.withLock { $0 } }
    func pass(_ milliseconds: Int) { value.withLock { $0 += milliseconds } }
}

/// The code of the error that a call throws; nil when it does not.
func code(_ body: () async throws -> some Any) async -> KeyErrorCode? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? KeyError)?.code
    }
}
