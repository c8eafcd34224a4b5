import Edits
import ServiceTesting
import MinilabTesting
import NIOHTTP1
import Testing

@testable import BlobStore

@Suite("Small objects", .timeLimit(.minutes(10))) struct HedgingTests {
    private let key: BlobKey

    init() throws {
        key = try BlobKey("current/a")
    }

    @Test func `what is usual is known after twenty, and is 300 ms at least`() {
        var policy = HedgePolicy()
        for _ in 0..<19 { policy.succeeded(after: .milliseconds(1)) }
        #expect(policy.delay == nil)
        policy.succeeded(after: .milliseconds(1))
        #expect(policy.delay == .milliseconds(300))
        for _ in 0..<5 { policy.succeeded(after: .seconds(2)) }
        #expect(policy.delay == .seconds(2))
        for _ in 0..<HedgePolicy.samplesMax { policy.succeeded(after: .milliseconds(1)) }
        #expect(policy.delay == .milliseconds(300))
    }

    @Test func `one in twenty may be asked for twice`() {
        var policy = HedgePolicy()
        for _ in 0..<19 { policy.succeeded(after: .zero) }
        let early = policy.pay()
        policy.succeeded(after: .zero)
        let due = policy.pay()
        let again = policy.pay()
        #expect(!early && due && !again)
        for _ in 0..<1_000 { policy.succeeded(after: .zero) }
        var paid = 0
        while policy.pay() { paid += 1 }
        #expect(paid == HedgePolicy.hedgesMax)
    }

    @Test func `a late one is asked for again, and the second answer counts`() async throws {
        let stub = try await StubServer.start { request in
            request.number == 21 ? .silence : .reply(200, [("etag", "t")], "\(request.number)")
        }
        try await withClient(of: stub) { client async throws in
            for _ in 0..<20 { _ = try await client.bytes(key, atMost: 10) }
            // In the world of tests a wait is over at once, so the second one is sent at once.
            let read = try await client.bytes(key, atMost: 10)
            #expect(read.bytes == Array("22".utf8))
        }
    }

    @Test func `bytes that are not the digest's are read again, and then refused`() async throws {
        let digest = BlobDigest(of: "right".utf8)
        for (answers, expected) in [
            (["wrong", "right"], nil as BlobErrorCode?), (["wrong", "wrong"], .corrupt),
        ] {
            let stub = try await StubServer.start { request in
                .reply(
                    200, [("etag", "t"), ("x-amz-checksum-sha256", digest.base64)],
                    answers[request.number - 1])
            }
            let error = try await withClient(of: stub) { client async throws in
                await failure { () throws(BlobError) in try await client.bytes(key, atMost: 9) }
            }
            #expect(error?.code == expected)
        }
    }

    @Test func `an object that is too large is not read`() async throws {
        let stub = try await StubServer.start { _ in .reply(200, [("etag", "t")], "0123456789") }
        let error = try await withClient(of: stub) { client async throws in
            await failure { () throws(BlobError) in try await client.bytes(key, atMost: 9) }
        }
        #expect(error?.code == .invalid)
        #expect(error?.message.contains("more than the 9 bytes") == true)
    }
}
