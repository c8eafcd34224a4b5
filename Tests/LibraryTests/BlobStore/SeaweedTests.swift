import Edits
import MinilabTesting
import SystemPackage
import ServiceTesting
import Testing

@testable import BlobStore

@Suite("S3Client with stores that are really there", .timeLimit(.minutes(10)))
struct SeaweedTests {
    private func withStore(
        _ server: StoreServer, keys: StoreKeys = .admin, bucket: String = SharedSeaweed.bucket,
        _ configure: (inout S3Configuration) -> Void = { _ in },
        body: (S3Client) async throws -> Void
    ) async throws {
        guard server.isHere else { try Test.cancel("\(server.needs)") }
        try await TestStore(on: server, bucket: bucket)
            .withClient(keys: keys, configure, body: body)
    }

    @Test(arguments: StoreServer.allCases)
    func `what is written is read, listed, copied and removed`(
        server: StoreServer
    ) async throws {
        try await withStore(server) { client async throws in
            let key = try BlobKey("a b+c/ä%&<\u{1F4F7}>'\".jpg")
            let tag = try await client.put(
                key, Array("photo".utf8), BlobAttributes(mediaType: "image/jpeg"))
            let blob = try await client.head(key)
            #expect(blob.tag == tag)
            #expect(blob.size == 5)
            #expect(blob.digest == BlobDigest(of: "photo".utf8))
            #expect(try await client.text(key) == "photo")
            #expect(try await client.text(key, 1..<3) == "ho")
            #expect(try await client.text(key, 3..<99, ifMatch: tag) == "to")

            let copy = try BlobKey("copy")
            try await client.copy(key, tag, to: copy)
            #expect(try await client.text(copy) == "photo")
            let page = try await client.list()
            #expect(page.entries.map(\.key) == [key, copy])
            #expect(page.entries.first?.tag == tag)
            #expect(page.next == nil)

            #expect(try await client.delete([key, copy, try BlobKey("never")]).isEmpty)
            #expect(try await client.list().entries.isEmpty)
            let gone = await failure { () throws(BlobError) in try await client.head(key) }
            #expect(gone?.code == .notFound)
        }
    }

    @Test(arguments: StoreServer.allCases)
    func `an object may be empty`(
        server: StoreServer
    ) async throws {
        try await withStore(server) { client async throws in
            let key = try BlobKey("empty")
            try await client.put(key, [])
            #expect(try await client.head(key).size == 0)
            #expect(try await client.text(key) == "")
        }
    }

    @Test(arguments: StoreServer.allCases)
    func `only one of those who write an absent object wins`(
        server: StoreServer
    ) async throws {
        try await withStore(server) { client async throws in
            let key = try BlobKey("current/a")
            let codes = await withTaskGroup(of: BlobErrorCode?.self) { group in
                for number in 0..<12 {
                    group.addTask {
                        await failure { () throws(BlobError) in
                            try await client.put(key, [UInt8(number)], if: .absent)
                        }?.code
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes.filter { $0 == nil }.count == 1)
            #expect(codes.filter { $0 == .precondition }.count == 11)
        }
    }

    @Test(arguments: StoreServer.allCases)
    func `a write on a tag happens while the tag is current`(
        server: StoreServer
    ) async throws {
        try await withStore(server) { client async throws in
            let key = try BlobKey("current/a")
            let first = try await client.put(key, [1], if: .absent)
            let second = try await client.put(key, [2], if: .unchanged(first))
            #expect(second != first)
            for call in [BlobCondition.unchanged(first), .absent] {
                let error = await failure { () throws(BlobError) in
                    try await client.put(key, [3], if: call)
                }
                #expect(error?.code == .precondition)
            }
            let stale = await failure { () throws(BlobError) in
                try await client.text(key, ifMatch: first)
            }
            #expect(stale?.code == .changed)
            let none = await failure { () throws(BlobError) in
                try await client.put(try BlobKey("b"), [3], if: .unchanged(first))
            }
            #expect(none?.code == .precondition)
            #expect(try await client.head(key).tag == second)
        }
    }

    @Test(arguments: StoreServer.allCases)
    func `the probe passes, also when several ask at one time`(
        server: StoreServer
    ) async throws {
        try await withStore(server) { client async throws in
            let key = try BlobKey("edits/probe")
            _ = try await concurrentMap([1, 2], atOnce: 2) { _ throws(BlobError) in
                try await client.probe(key)
            }
            #expect(try await client.bytes(key, atMost: 100).bytes.count == 32)
        }
    }

    @Test(arguments: StoreServer.allCases)
    func `a large file goes in parts and comes in ranges`(
        server: StoreServer
    ) async throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator()
        random.printSeed()
        var bytes = [UInt8](repeating: 0, count: (12 << 20) + 12_345)
        for offset in stride(from: 0, to: bytes.count, by: 4_096) {
            bytes[offset] = .random(in: .min ... .max, using: &random)
        }
        let file = try FileDescriptor.open(
            FilePath(folder.file("in")), .readWrite, options: .create,
            permissions: .ownerReadWrite)
        defer { try! file.close() }
        try file.writeAll(toAbsoluteOffset: 0, bytes)
        let digest = BlobDigest(of: bytes)
        try await withStore(server) {
            $0.wholePutBytesMax = 1 << 20
            $0.partBytes = 5 << 20
        } body: { client async throws in
            let key = try BlobKey("render.jpg")
            let tag = try await client.put(
                key, .file(file, size: bytes.count), digest: digest)
            let blob = try await client.head(key)
            #expect(blob.tag == tag && blob.size == bytes.count && blob.digest == digest)
            let out = try FileDescriptor.open(
                FilePath(folder.file("out")), .readWrite, options: .create,
                permissions: .ownerReadWrite)
            defer { try! out.close() }
            try await client.download(key, blob, into: out)
            var read = [UInt8](repeating: 0, count: bytes.count + 1)
            let count = try read.withUnsafeMutableBytes {
                try out.read(fromAbsoluteOffset: 0, into: $0)
            }
            #expect(count == bytes.count)
            #expect(BlobDigest(of: read.prefix(count)) == digest)
        }
    }

    @Test(arguments: StoreServer.allCases)
    func `a body that is not its digest is not kept`(
        server: StoreServer
    ) async throws {
        try await withStore(server) { client async throws in
            let key = try BlobKey("harmed")
            let error = await failure { () throws(BlobError) in
                try await client.put(
                    key, .bytes([1, 2, 3]), digest: BlobDigest(of: [4]), if: .always)
            }
            #expect(error?.code == .corrupt)
            let gone = await failure { () throws(BlobError) in try await client.head(key) }
            #expect(gone?.code == .notFound)
        }
    }

    @Test(arguments: StoreServer.allCases)
    func `a list has pages, and each begins after a key`(
        server: StoreServer
    ) async throws {
        try await withStore(server) { client async throws in
            let keys = try (0..<1_003).map { try BlobKey("p/\(10_000 + $0)") }
            _ = try await concurrentMap(keys, atOnce: 16) { key throws(BlobError) in
                try await client.put(key, [0])
            }
            try await client.put(try BlobKey("q"), [0])
            let first = try await client.list("p/")
            #expect(first.entries.map(\.key) == Array(keys.prefix(1_000)))
            #expect(first.next == keys[999])
            let second = try await client.list("p/", after: first.next)
            #expect(second.entries.map(\.key) == Array(keys.suffix(3)))
            #expect(second.next == nil)
            #expect(try await client.delete(keys).isEmpty)
            #expect(try await client.list().entries.map(\.key.text) == ["q"])
        }
    }

    @Test(arguments: StoreServer.allCases)
    func `a link reads without credentials, and a changed one does not`(
        server: StoreServer
    ) async throws {
        try await withStore(server) { client async throws in
            let key = try BlobKey("a b.jpg")
            try await client.put(key, Array("photo".utf8))
            let link = try await client.link(key, for: .seconds(60))
            let port = try await server.port()
            let path = String(link.url.dropFirst("http://127.0.0.1:\(port)".count))
            // HTTP/1.0, so that the server closes.
            let answer = try await HTTPExchange.send(
                "GET \(path) HTTP/1.0\r\nHost: 127.0.0.1:\(port)\r\n\r\n",
                port: port)
            #expect(answer.status == 200)
            #expect(answer.body == "photo")
            let forged = try await HTTPExchange.send(
                "GET \(path.replacing("X-Amz-Expires=60", with: "X-Amz-Expires=61")) HTTP/1.0\r\n"
                    + "Host: 127.0.0.1:\(port)\r\n\r\n", port: port)
            #expect(forged.status == 403)
        }
    }

    @Test(arguments: StoreServer.allCases)
    func `wrong keys, a read-only role and a missing bucket are distinguished`(
        server: StoreServer
    ) async throws {
        let key = try BlobKey("a")
        func code(
            keys: StoreKeys, bucket: String = "photos"
        ) async throws -> BlobError? {
            var error: BlobError?
            try await withStore(server, keys: keys, bucket: bucket) { client async throws in
                error = await failure { () throws(BlobError) in try await client.put(key, [1]) }
            }
            return error
        }
        let wrongSecret = try await code(
            keys: StoreKeys(
                name: "minilab", accessKey: StoreKeys.admin.accessKey, secretKey: "wrong-secret"))
        #expect(wrongSecret?.code == .denied)
        #expect(wrongSecret?.message.contains("Check the secret key.") == true)
        #expect(wrongSecret?.message.contains("wrong-secret") == false)
        let stranger = try await code(
            keys: StoreKeys(name: "nobody", accessKey: "nobody", secretKey: "x"))
        #expect(stranger?.message.contains("Check the access key.") == true)
        let reader = try await code(keys: .reader)
        #expect(reader?.message.contains("s3:PutObject") == true)
        let bucket = try await code(keys: .admin, bucket: "no-such-bucket")
        #expect(bucket?.code == .misconfigured)
        #expect(bucket?.message.contains("Make the bucket no-such-bucket") == true)
    }
}
