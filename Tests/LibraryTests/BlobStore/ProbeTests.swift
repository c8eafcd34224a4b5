import Edits
import ServiceTesting
import MinilabTesting
import NIOHTTP1
import Synchronization
import Testing

@testable import BlobStore

@Suite("Probe of conditions", .timeLimit(.minutes(10))) struct ProbeTests {
    /// A store of one object that keeps what it is asked to keep.
    private final class OneObject: Sendable {
        let absent: Bool
        let match: Bool
        private let version = Mutex(0)

        init(absent: Bool, match: Bool) {
            self.absent = absent
            self.match = match
        }

        func answer(_ request: StubServer.Request) -> StubServer.Answer {
            version.withLock { version in
                guard request.method == "PUT" else {
                    return version == 0
                        ? .reply(404)
                        : .reply(
                            200,
                            [
                                ("etag", "v\(version)"), ("content-length", "32"),
                                ("server", "Sloppy 1.0"),
                            ])
                }
                let tag = request.headers["if-match"].first
                let exists = version > 0 && request.headers["if-none-match"] == ["*"]
                let differs = tag != nil && tag != "v\(version)"
                if absent && exists || match && differs {
                    return .reply(412, [], errorBody("PreconditionFailed"))
                }
                version += 1
                return .reply(200, [("etag", "v\(version)")])
            }
        }
    }

    private static func probe(
        _ answer: @escaping @Sendable (StubServer.Request) -> StubServer.Answer
    ) async throws -> (server: String?, error: BlobError?) {
        let stub = try await StubServer.start(answer: answer)
        return try await withClient(of: stub) { client async throws in
            let key = try BlobKey("edits/probe")
            var server: String?
            let error = await failure { () throws(BlobError) in
                server = try await client.probe(key)
            }
            return (server, error)
        }
    }

    @Test func `a store that keeps both conditions passes, each time`() async throws {
        let store = OneObject(absent: true, match: true)
        for _ in 0..<2 {
            let result = try await Self.probe { store.answer($0) }
            #expect(result.error == nil)
            #expect(result.server == "Sloppy 1.0")
        }
    }

    @Test(arguments: [(false, true, "If-None-Match: *"), (true, false, "If-Match")])
    func `a store that ignores one is refused with its name`(
        absent: Bool, match: Bool, condition: String
    ) async throws {
        let store = OneObject(absent: absent, match: match)
        let error = try await Self.probe { store.answer($0) }.error
        #expect(error?.code == .conditionsIgnored)
        #expect(error?.message.contains("(Sloppy 1.0) ignores \(condition) on PUT") == true)
    }

    @Test func `a store that has no conditions is refused`() async throws {
        let error = try await Self.probe { _ in
            .reply(501, [], errorBody("NotImplemented"))
        }.error
        #expect(error?.code == .conditionsIgnored)
    }

    @Test func `a store that holds its own tag for a false one is refused`() async throws {
        let store = OneObject(absent: true, match: true)
        let error = try await Self.probe { request in
            request.headers["if-match"].isEmpty
                ? store.answer(request) : .reply(412, [], errorBody("PreconditionFailed"))
        }.error
        #expect(error?.code == .conditionsIgnored)
        #expect(error?.message.contains("on its own tag in 5 tries") == true)
    }

    @Test func `what is wrong with the rights is reported as it is`() async throws {
        let error = try await Self.probe { _ in .reply(403, [], errorBody("AccessDenied")) }.error
        #expect(error?.code == .denied)
    }
}
