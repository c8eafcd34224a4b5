import Edits
import ServiceTesting
import NIOHTTP1
import Testing

@testable import BlobStore

@Suite("Answers to S3Client", .timeLimit(.minutes(10))) struct AnswersTests {
    private let key: BlobKey

    init() throws {
        key = try BlobKey("current/a b.jpg")
    }

    @Test func `a refusal names the key, the code and the right, and no secret`() async throws {
        let stub = try await StubServer.start { _ in .reply(403, [], errorBody("AccessDenied")) }
        let error = try await withClient(of: stub) { client async throws in
            await failure { () throws(BlobError) in try await client.put(key, [1]) }
        }
        #expect(error?.code == .denied)
        for part in ["AKTEST", "403 AccessDenied", "Said so.", "s3:PutObject", "a b.jpg"] {
            #expect(error?.message.contains(part) == true, "\(part)")
        }
        #expect(error.map { "\($0)" }?.contains("hidden") == false)
        #expect(stub.requests.count == 1)
    }

    @Test func `an archived object is to be restored, and no right is asked for`() async throws {
        let stub = try await StubServer.start { _ in
            .reply(403, [], errorBody("InvalidObjectState"))
        }
        let error = try await withClient(of: stub) { client async throws in
            await failure { () throws(BlobError) in try await client.get(key) { _ in } }
        }
        #expect(error?.message.contains("restore it") == true, "\(error?.message ?? "none")")
        #expect(error?.message.contains("policy") == false)
    }

    @Test func `an error under status 200 is one`() async throws {
        let stub = try await StubServer.start { request in
            request.number == 1
                ? .reply(200, [], errorBody("InternalError"))
                : .reply(200, [], "<CopyObjectResult><ETag>\"t\"</ETag></CopyObjectResult>")
        }
        try await withClient(of: stub) { client async throws in
            let tag = try await client.copy(key, BlobTag("v1"), to: try BlobKey("b"))
            #expect(tag.text == "t")
        }
        #expect(stub.requests.count == 2)
        let headers = try #require(stub.requests.first?.headers)
        #expect(headers["x-amz-copy-source"] == ["photos/lib/current/a%20b.jpg"])
        #expect(headers["x-amz-copy-source-if-match"] == ["v1"])
    }

    @Test func `an answer that is no S3's is reported`() async throws {
        for body in ["<html><body>Welcome</body></html>", "Welcome", ""] {
            let stub = try await StubServer.start { _ in .reply(200, [], body) }
            let error = try await withClient(of: stub) { client async throws in
                await failure { () throws(BlobError) in try await client.list() }
            }
            #expect(error?.code == .corrupt)
            #expect(error?.message.contains("proxy or website") == true)
        }
    }

    @Test func `a page that is out of order or has no end is not believed`() async throws {
        func entry(_ key: String) -> String {
            "<Contents><Key>\(key)</Key><Size>1</Size><ETag>t</ETag></Contents>"
        }
        for content in [
            entry("lib/b") + entry("lib/a"), "<IsTruncated>true</IsTruncated>",
            "<Contents><Key>lib/a</Key></Contents>",
        ] {
            let stub = try await StubServer.start { _ in
                .reply(200, [], "<ListBucketResult>\(content)</ListBucketResult>")
            }
            let error = try await withClient(of: stub) { client async throws in
                await failure { () throws(BlobError) in try await client.list() }
            }
            #expect(error?.code == .corrupt, "\(content)")
        }
    }

    @Test func `a page may be in the order of bytes or in that of folders, and in no other`()
        async throws
    {
        let lists = [
            (["a", "a-b", "a/b", "ab"], true), (["a", "a/b", "a-b", "ab"], true),
            (["a/b", "a-b", "a/c"], false), (["a/b", "a-b", "c-d", "c/d"], false),
        ]
        for (keys, isBelieved) in lists {
            let content = keys.map {
                "<Contents><Key>lib/\($0)</Key><Size>1</Size><ETag>t</ETag></Contents>"
            }
            let stub = try await StubServer.start { _ in
                .reply(200, [], "<ListBucketResult>\(content.joined())</ListBucketResult>")
            }
            let listed = try await withClient(of: stub) { client async throws in
                do throws(BlobError) {
                    return try await client.list().entries.map(\.key.text)
                } catch {
                    return []
                }
            }
            #expect(listed == (isBelieved ? keys : []))
        }
    }

    @Test func `what is left of a deletion is reported for each key`() async throws {
        let stub = try await StubServer.start { _ in
            .reply(
                200, [],
                "<DeleteResult><Error><Key>lib/a&amp;b</Key><Code>AccessDenied</Code>"
                    + "<Message>No.</Message></Error></DeleteResult>")
        }
        try await withClient(of: stub) { client async throws in
            let key = try BlobKey("a&b")
            let left = try await client.delete([key, self.key])
            #expect(left.keys.map(\.text) == ["a&b"])
            #expect(left[key]?.code == .denied)
            #expect(try await client.delete([]).isEmpty)
        }
        let request = try #require(stub.requests.first)
        #expect(request.text.contains("<Key>lib/a&amp;b</Key>"))
        #expect(request.uri == "/photos?delete=")
        #expect(request.headers["content-md5"].first?.hasSuffix("==") == true)
    }
}
