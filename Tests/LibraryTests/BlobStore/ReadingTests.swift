import Edits
import ServiceTesting
import NIOHTTP1
import Testing

@testable import BlobStore

@Suite("Reading of S3Client", .timeLimit(.minutes(10))) struct ReadingTests {
    private let key: BlobKey

    init() throws {
        key = try BlobKey("current/a b.jpg")
    }

    @Test func `a body that breaks is taken up where it broke, from the same content`() async throws
    {
        let stub = try await StubServer.start { request in
            switch request.number {
            case 1: .cut(200, [("etag", "\"v1\"")], "01234", announced: 10)
            case 2:
                .cut(
                    206, [("etag", "\"v1\""), ("content-range", "bytes 5-9/10")], "56",
                    announced: 5)
            default:
                .reply(206, [("etag", "\"v1\""), ("content-range", "bytes 7-9/10")], "789")
            }
        }
        try await withClient(of: stub) { client async throws in
            #expect(try await client.text(key) == "0123456789")
        }
        #expect(
            stub.requests.map { $0.headers["range"] } == [[], ["bytes=5-9"], ["bytes=7-9"]])
        #expect(stub.requests.map { $0.headers["if-match"] } == [[], ["v1"], ["v1"]])
    }

    @Test func `content that was replaced meanwhile is not mixed`() async throws {
        let stub = try await StubServer.start { request in
            request.number == 1
                ? .cut(200, [("etag", "v1")], "01234", announced: 10)
                : .reply(412, [], errorBody("PreconditionFailed"))
        }
        let error = try await withClient(of: stub) { client async throws in
            await failure { () throws(BlobError) in try await client.text(key) }
        }
        #expect(error?.code == .changed)
    }

    @Test func `a server that ignores ranges or conditions is not believed`() async throws {
        let answers: [StubServer.Answer] = [
            .reply(200, [("etag", "v1")], "0123456789"),
            .reply(206, [("etag", "v1"), ("content-range", "bytes 0-3/10")], "0123"),
            .reply(206, [("etag", "v2"), ("content-range", "bytes 2-5/10")], "2345"),
            .reply(206, [("etag", "v1"), ("content-range", "bytes 2-9/10")], "23456789"),
            .reply(206, [("etag", "v1"), ("content-range", "bytes 2-3/10")], "23"),
            .reply(206, [("content-range", "bytes 2-5/10")], "2345"),
        ]
        for answer in answers {
            let stub = try await StubServer.start { _ in answer }
            let error = try await withClient(of: stub) { client async throws in
                await failure { () throws(BlobError) in
                    try await client.text(key, 2..<6, ifMatch: BlobTag("v1"))
                }
            }
            #expect(error?.code == .corrupt, "\(answer)")
        }
    }

    @Test func `an error of the sink ends the call and is kept`() async throws {
        struct Full: Error {}
        let stub = try await StubServer.start { _ in .reply(200, [("etag", "t")], "abc") }
        let error = try await withClient(of: stub) { client async throws in
            await failure { () throws(BlobError) in
                try await client.get(key) { _ in throw Full() }
            }
        }
        #expect(error?.code == .local)
        #expect(error?.cause is Full)
        #expect(stub.requests.count == 1)
    }
}
