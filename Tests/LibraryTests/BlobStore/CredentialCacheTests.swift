import Edits
import MinilabTesting
import Synchronization
import Testing

@testable import BlobStore

@Suite("Renewal of credentials", .timeLimit(.minutes(10))) struct CredentialCacheTests {
    /// Gives keys `K1`, `K2` … that hold for an hour, or errors; may be paused.
    private final class Source: CredentialSource {
        struct State {
            var count = 0
            var fails = false
            var isPaused = false
            var waiters: [CheckedContinuation<Void, Never>] = []
        }

        let name = "a test"
        let state = Mutex(State())

        var count: Int { state.withLock { $0.count } }

        func fetch() async throws(BlobError) -> Credentials? {
            let (number, fails) = state.withLock { state in
                state.count += 1
                return (state.count, state.fails)
            }
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.isPaused { state.waiters.append(continuation) }
                    return !state.isPaused
                }
                if goesOn { continuation.resume() }
            }
            if fails { throw BlobError(.noCredentials, "Not now.") }
            return Credentials(
                accessKey: "K\(number)", secretKey: "S", expires: BlobTime(seconds: number * 3_600))
        }

        func pause() { state.withLock { $0.isPaused = true } }

        func release() {
            let waiters = state.withLock { state in
                state.isPaused = false
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    private func key(_ cache: CredentialCache, at seconds: Int) async throws -> String {
        try await cache.current(at: BlobTime(seconds: seconds)).accessKey
    }

    @Test func `many who ask at once fetch once`() async throws {
        let source = Source()
        source.pause()
        let cache = CredentialCache(source)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await key(cache, at: 0) } }
            try await eventually("one fetches") {
                source.state.withLock { $0.waiters.isEmpty ? nil : true }
            }
            source.release()
            for try await key in group { #expect(key == "K1") }
        }
        #expect(source.count == 1)
    }

    @Test func `keys that end soon serve while new ones are fetched`() async throws {
        let source = Source()
        let cache = CredentialCache(source)
        #expect(try await key(cache, at: 0) == "K1")
        #expect(try await key(cache, at: 3_299) == "K1")
        #expect(source.count == 1)
        source.pause()
        #expect(try await key(cache, at: 3_300) == "K1")
        source.release()
        try await eventually("they are renewed") {
            try await key(cache, at: 3_300) == "K2" ? true : nil
        }
        #expect(source.count == 2)
    }

    @Test func `keys that have ended do not serve`() async throws {
        let source = Source()
        let cache = CredentialCache(source)
        #expect(try await key(cache, at: 0) == "K1")
        source.state.withLock { $0.fails = true }
        let error = await failure { () throws(BlobError) in
            try await cache.current(at: BlobTime(seconds: 3_600))
        }
        #expect(error?.message == "Not now.")
    }

    @Test func `a renewal that failed is tried again after a pause`() async throws {
        let source = Source()
        let cache = CredentialCache(source)
        _ = try await key(cache, at: 0)
        source.state.withLock { $0.fails = true }
        #expect(try await key(cache, at: 3_400) == "K1")
        try await eventually("it failed") { source.count == 2 ? true : nil }
        // It is over when asking again within the pause no longer joins it.
        for _ in 0..<50 { #expect(try await key(cache, at: 3_429) == "K1") }
        #expect(source.count == 2)
        source.state.withLock { $0.fails = false }
        try await eventually("it is renewed") {
            try await key(cache, at: 3_430) == "K3" ? true : nil
        }
    }

    @Test func `keys that a store refused are fetched anew, once for all who were refused`()
        async throws
    {
        let source = Source()
        let cache = CredentialCache(source)
        let first = try await cache.current(at: BlobTime(seconds: 0))
        await cache.refused(first)
        #expect(try await key(cache, at: 0) == "K2")
        await cache.refused(first)
        #expect(try await key(cache, at: 0) == "K2")
        #expect(source.count == 2)
    }

    @Test func `keys that cannot stand in a header are refused and not shown`() async throws {
        for keys in [
            Credentials(accessKey: "A", secretKey: "hidden\nX: y"),
            Credentials(accessKey: "", secretKey: "hidden"),
            Credentials(accessKey: "A", secretKey: "hidden", sessionToken: "to ken"),
        ] {
            let cache = CredentialCache(FixedCredentials(keys))
            let error = await failure { () throws(BlobError) in
                try await cache.current(at: TestRuntime.time)
            }
            #expect(error?.code == .noCredentials)
            #expect(error?.message.contains("hidden") == false)
        }
    }

    @Test func `no keys anywhere is reported with what to do`() async throws {
        let cache = CredentialCache(CredentialChain([EnvironmentCredentials([:])]))
        let error = await failure { () throws(BlobError) in
            try await cache.current(at: TestRuntime.time)
        }
        #expect(error?.message.contains("the environment has none. Set AWS_ACCESS_KEY_ID") == true)
    }
}
