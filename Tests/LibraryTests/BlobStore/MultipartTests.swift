import Edits
import ServiceTesting
import MinilabTesting
import NIOHTTP1
import Synchronization
import Testing

@testable import BlobStore

@Suite("Objects in parts", .timeLimit(.minutes(10))) struct MultipartTests {
    /// 11 MiB: three parts of the least size.
    private static let bytes = [UInt8](repeating: 7, count: 11 << 20)
    private static let digest = BlobDigest(of: bytes)

    private static func put(
        to stub: StubServer, if condition: BlobCondition = .always
    ) async throws -> BlobError? {
        let key = try BlobKey("r.jpg")
        return try await withClient(of: stub) {
            $0.wholePutBytesMax = 1 << 20
            $0.partBytes = 1
        } body: { client async throws in
            await failure { () throws(BlobError) in
                try await client.put(
                    key, .bytes(bytes), digest: digest, if: condition)
            }
        }
    }

    private static func answer(_ request: StubServer.Request) -> StubServer.Answer {
        switch request.method {
        case "POST" where request.uri.hasSuffix("?uploads="):
            .reply(
                200, [],
                "<InitiateMultipartUploadResult><UploadId>u/1</UploadId>"
                    + "</InitiateMultipartUploadResult>")
        case "POST":
            .reply(
                200, [],
                "<CompleteMultipartUploadResult><ETag>\"done-3\"</ETag>"
                    + "</CompleteMultipartUploadResult>")
        case "PUT": .reply(200, [("etag", "\"p\(request.body.count)\"")])
        case "HEAD":
            .reply(
                200,
                [
                    ("etag", "\"found\""), ("content-length", "\(bytes.count)"),
                    ("x-amz-meta-sha256", digest.hex),
                ])
        default: .reply(204)
        }
    }

    @Test func `every part has its digest, and the end names them in order`() async throws {
        let stub = try await StubServer.start { Self.answer($0) }
        #expect(try await Self.put(to: stub) == nil)
        let requests = stub.requests
        #expect(requests.count == 5)
        #expect(requests.first?.headers["x-amz-checksum-algorithm"] == ["SHA256"])
        let parts = requests.filter { $0.method == "PUT" }
        #expect(
            parts.map(\.uri).sorted()
                == (1...3).map {
                    "/photos/lib/r.jpg?partNumber=\($0)&uploadId=u%2F1"
                })
        #expect(parts.map(\.body.count).sorted() == [1 << 20, 5 << 20, 5 << 20])
        for part in parts {
            #expect(
                part.headers["x-amz-checksum-sha256"] == [BlobDigest(of: part.body).base64])
        }
        let end = try XMLNode(document: try #require(requests.last?.body))
        #expect(end.children.map { $0.text(of: "PartNumber") } == ["1", "2", "3"])
        #expect(end.children.last?.text(of: "ETag") == "p\(1 << 20)")
    }

    @Test func `an upload that fails is thrown away`() async throws {
        let stub = try await StubServer.start { request in
            request.uri.contains("partNumber=2")
                ? .reply(403, [], errorBody("AccessDenied")) : Self.answer(request)
        }
        #expect(try await Self.put(to: stub)?.code == .denied)
        // A part that was on its way may come after it.
        let removed = stub.requests.filter { $0.method == "DELETE" }
        #expect(removed.map(\.uri) == ["/photos/lib/r.jpg?uploadId=u%2F1"])
    }

    @Test func `a completion whose answer was lost is found done`() async throws {
        let completions = Mutex(0)
        let stub = try await StubServer.start { request in
            guard request.method == "POST", !request.uri.hasSuffix("?uploads=") else {
                return Self.answer(request)
            }
            let number = completions.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? .hangUp : .reply(404, [], errorBody("NoSuchUpload"))
        }
        #expect(try await Self.put(to: stub) == nil)
        #expect(stub.requests.last?.method == "HEAD")
    }

    @Test func `a completion without a tag is looked up`() async throws {
        let stub = try await StubServer.start { request in
            request.uri.hasSuffix("uploadId=u%2F1") && request.method == "POST"
                ? .reply(
                    200, [], "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>")
                : Self.answer(request)
        }
        #expect(try await Self.put(to: stub) == nil)
        #expect(stub.requests.last?.method == "HEAD")
    }

    @Test func `large objects have no condition`() async throws {
        let stub = try await StubServer.start { Self.answer($0) }
        #expect(try await Self.put(to: stub, if: .absent)?.code == .invalid)
        #expect(stub.requests.isEmpty)
    }
}
