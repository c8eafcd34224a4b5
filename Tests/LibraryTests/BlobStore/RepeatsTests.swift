import Edits
import ServiceTesting
import Logging
import NIOHTTP1
import Synchronization
import Testing

@testable import BlobStore

@Suite("Repeats of S3Client", .timeLimit(.minutes(10))) struct RepeatsTests {
    private let key: BlobKey

    init() throws {
        key = try BlobKey("current/a b.jpg")
    }

    @Test func `what may pass is tried again, with another wait each time`() async throws {
        let stub = try await StubServer.start { request in
            switch request.number {
            case 1: .reply(503, [], errorBody("SlowDown"))
            case 2: .reply(500, [], errorBody("InternalError"))
            default: .reply(200, [("etag", "t"), ("content-length", "7")])
            }
        }
        let runtime = TestRuntime()
        try await withClient(of: stub, runtime: runtime) { client async throws in
            #expect(try await client.head(key).size == 7)
            #expect(client.gate.limit == client.configuration.requestsAtOnceMax / 2)
            #expect(client.retryTokens == 500 - 10 + 1)
        }
        #expect(runtime.waits == [.milliseconds(250), .milliseconds(50)])
    }

    @Test func `an outage that lasts is reported with what was asked`() async throws {
        let stub = try await StubServer.start { _ in .reply(500, [], errorBody("InternalError")) }
        let error = try await withClient(of: stub) { client async throws in
            await failure { () throws(BlobError) in try await client.text(key) }
        }
        #expect(error?.code == .unavailable, "\(error?.message ?? "")")
        #expect(error?.storeCode == "InternalError")
        #expect(
            error?.message.contains("GET s3://photos/lib/current/a b.jpg failed 5 times") == true)
        #expect(stub.requests.count == 5)
    }

    @Test func `a conditional write whose answer was lost has an unknown fate`() async throws {
        let stub = try await StubServer.start { request in
            request.number <= 2
                ? .hangUp : .reply(412, [], errorBody("PreconditionFailed"))
        }
        let error = try await withClient(of: stub) { client async throws in
            await failure { () throws(BlobError) in try await client.put(key, [1], if: .absent) }
        }
        #expect(error?.code == .unknownFate)
        let sent = stub.requests.map { $0.headers["if-none-match"] }
        #expect(sent == [["*"], ["*"], ["*"]])
    }

    @Test func `a fate stays unknown when keys are missing afterwards`() async throws {
        let stub = try await StubServer.start { request in
            request.number <= 2 ? .hangUp : .reply(400, [], errorBody("ExpiredToken"))
        }
        let error = try await withClient(of: stub, credentials: CountingSource(max: 1)) {
            client async throws in
            await failure { () throws(BlobError) in try await client.put(key, [1], if: .absent) }
        }
        #expect(error?.code == .unknownFate)
        #expect(error?.message.contains("No more keys. It may have been done") == true)
    }

    @Test func `silence is no answer, and costs twice as much of the budget`() async throws {
        let stub = try await StubServer.start { _ in .silence }
        try await withClient(of: stub) {
            $0.silenceMax = .milliseconds(20)
        } body: { client async throws in
            let error = await failure { () throws(BlobError) in try await client.head(key) }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("was silent") == true)
            #expect(client.retryTokens == 500 - 4 * 10)
        }
    }

    @Test(arguments: [301, 307, 400])
    func `a bucket in another region is signed for anew`(status: Int) async throws {
        let code = status == 400 ? "AuthorizationHeaderMalformed" : "PermanentRedirect"
        let stub = try await StubServer.start { request in
            request.region == "eu-west-3"
                ? .reply(200, [("etag", "t")])
                : .reply(status, [("x-amz-bucket-region", "eu-west-3")], errorBody(code))
        }
        try await withClient(of: stub) { client async throws in
            try await client.put(key, [1])
            try await client.put(key, [2])
        }
        #expect(stub.requests.map(\.region) == ["us-east-1", "eu-west-3", "eu-west-3"])
    }

    @Test func `the region may be in the document alone`() async throws {
        let stub = try await StubServer.start { request in
            request.region == "garage"
                ? .reply(200, [("etag", "t")])
                : .reply(
                    400, [],
                    errorBody("AuthorizationHeaderMalformed", "<Region>garage</Region>"))
        }
        try await withClient(of: stub) { client async throws in
            _ = try await client.put(key, [1])
        }
        #expect(stub.requests.count == 2)
    }

    @Test func `a clock that is off is corrected by the server's, once for all`() async throws {
        let stub = try await StubServer.start { request in
            request.headers["x-amz-date"] == ["20240102T030405Z"]
                ? .reply(
                    403, [("date", "Tue, 02 Jan 2024 03:24:05 GMT")],
                    errorBody("RequestTimeTooSkewed"))
                : .reply(200, [("etag", "t")])
        }
        try await withClient(of: stub) { client async throws in
            try await client.put(key, [1])
            try await client.put(key, [2])
            #expect(client.clockOffset == 1_200)
        }
        #expect(
            stub.requests.map { $0.headers["x-amz-date"] } == [
                ["20240102T030405Z"], ["20240102T032405Z"], ["20240102T032405Z"],
            ])
    }

    @Test(arguments: [
        (400, "ExpiredToken"), (403, "InvalidAccessKeyId"), (403, "SignatureDoesNotMatch"),
        (403, "InvalidToken"),
    ]) func `keys that ended or were replaced are renewed`(status: Int, code: String) async throws {
        let stub = try await StubServer.start { request in
            request.headers["x-amz-security-token"] == ["token-2"]
                ? .reply(200, [("etag", "t")]) : .reply(status, [], errorBody(code))
        }
        try await withClient(of: stub, credentials: CountingSource()) { client async throws in
            _ = try await client.put(key, [1])
        }
        #expect(stub.requests.count == 2)
    }

    @Test func `bytes that were harmed are sent once more`() async throws {
        let stub = try await StubServer.start { request in
            request.number == 1
                ? .reply(400, [], errorBody("BadDigest")) : .reply(200, [("etag", "t")])
        }
        try await withClient(of: stub) { client async throws in
            _ = try await client.put(key, [1])
        }
        #expect(stub.requests.map(\.body) == [[1], [1]])
    }

    @Test func `a store that cannot be reached has done nothing, also on a condition`() async throws
    {
        var configuration = S3Configuration(
            // Port 1 belongs to tcpmux, which nobody runs.
            url: try BlobURL("s3://photos?endpoint=http://127.0.0.1:1"))
        configuration.connectTimeout = .seconds(60)
        let client = try S3Client(
            configuration, credentials: FixedCredentials(testKeys), logger: .init(label: "test"),
            runtime: TestRuntime().values)
        let error = await failure { () throws(BlobError) in
            try await client.put(key, [1], if: .absent)
        }
        await client.close()
        #expect(error?.code == .unavailable, "\(error?.message ?? "")")
        #expect(error?.message.contains("127.0.0.1:1 cannot be reached") == true)
    }
}

/// Gives other keys each time.
private final class CountingSource: CredentialSource {
    let name = "a test"
    private let max: Int
    private let count = Mutex(0)

    init(max: Int = .max) {
        self.max = max
    }

    func fetch() async throws(BlobError) -> Credentials? {
        let number = count.withLock { count in
            count += 1
            return count
        }
        guard number <= max else { throw BlobError(.noCredentials, "No more keys.") }
        return Credentials(accessKey: "A", secretKey: "S", sessionToken: "token-\(number)")
    }
}
