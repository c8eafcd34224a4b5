import Edits
import ServiceTesting
import Logging
import MinilabTesting
import NIOHTTP1
import NIOSSL
import SystemPackage
import Testing

@testable import BlobStore

@Suite("Requests of S3Client", .timeLimit(.minutes(10))) struct RequestsTests {
    private let key: BlobKey

    init() throws {
        key = try BlobKey("current/a b.jpg")
    }

    @Test func `a request names the bucket, the key and everything that is set`() async throws {
        let stub = try await StubServer.start { _ in .reply(200, [("etag", "\"t\"")]) }
        try await withClient(of: stub) {
            $0.encryption = .keyService(keyID: "k1")
            $0.storageClass = "STANDARD_IA"
            $0.expectedBucketOwner = "111122223333"
            $0.requesterPays = true
        } body: { client async throws in
            let tag = try await client.put(
                key, Array("abc".utf8), if: .unchanged(BlobTag("\"old\"")),
                BlobAttributes(mediaType: "image/jpeg", usesStorageClass: true))
            #expect(tag.text == "t")
        }
        let request = try #require(stub.requests.first)
        #expect(request.method == "PUT")
        #expect(request.uri == "/photos/lib/current/a%20b.jpg")
        #expect(request.text == "abc")
        let digest = BlobDigest(of: "abc".utf8)
        for (name, value) in [
            ("host", "127.0.0.1:\(stub.port)"), ("if-match", "old"), ("content-length", "3"),
            ("content-type", "image/jpeg"), ("x-amz-storage-class", "STANDARD_IA"),
            ("x-amz-server-side-encryption", "aws:kms"),
            ("x-amz-server-side-encryption-aws-kms-key-id", "k1"),
            ("x-amz-expected-bucket-owner", "111122223333"),
            ("x-amz-request-payer", "requester"), ("x-amz-date", "20240102T030405Z"),
            ("x-amz-content-sha256", digest.hex), ("x-amz-meta-sha256", digest.hex),
            ("x-amz-checksum-sha256", digest.base64),
        ] {
            #expect(request.headers[name] == [value], "\(name)")
        }
    }

    @Test(arguments: [
        ("s3://photos?region=eu-west-1", "photos.s3.eu-west-1.amazonaws.com", "/k"),
        ("s3://my.photos", "s3.us-east-1.amazonaws.com", "/my.photos/k"),
        ("s3://photos?region=cn-north-1", "photos.s3.cn-north-1.amazonaws.com.cn", "/k"),
        ("s3://photos?style=path", "s3.us-east-1.amazonaws.com", "/photos/k"),
        ("s3://photos?endpoint=https://minio:9000", "minio:9000", "/photos/k"),
        ("s3://photos/p?endpoint=http://minio:9&style=virtual", "photos.minio:9", "/p/k"),
        (
            "s3://photos?endpoint=https://s3.us-west-2.amazonaws.com",
            "photos.s3.us-west-2.amazonaws.com", "/k"
        ),
    ]) func `a bucket has its host and path`(url: String, host: String, path: String) throws {
        let location = S3Location(try BlobURL(url))
        #expect(location.authority == host)
        #expect(location.path(try BlobKey("k")) == path)
    }

    @Test func `a certificate of the given authority is accepted, another refused`() async throws {
        let certificates = try await TestCertificates()
        let tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(
                    certificates.server.certificate
                ).map { .certificate($0) },
                privateKey: .privateKey(
                    try NIOSSLPrivateKey(file: certificates.server.key, format: .pem))))
        let stub = try await StubServer.start(tls: tls) { _ in .reply(200, [("etag", "t")]) }
        for (authority, expected) in [
            (certificates.authority, nil as BlobErrorCode?),
            (certificates.otherAuthority, .misconfigured),
        ] {
            let error = try await withClient(of: stub, scheme: "https", host: "localhost") {
                $0.caCertificateFile = authority
            } body: { client async throws in
                await failure { () throws(BlobError) in try await client.put(key, [1]) }
            }
            #expect(error?.code == expected, "\(error?.message ?? "accepted")")
            if let error {
                #expect(error.message.contains("CA file") && !error.message.contains(".cc"))
            }
        }
    }

    @Test func `a CA file that cannot be read is named`() async throws {
        var configuration = S3Configuration(url: try BlobURL("s3://photos"))
        configuration.caCertificateFile = "/no/such/ca.pem"
        let error = #expect(throws: BlobError.self) {
            try S3Client(
                configuration, credentials: FixedCredentials(testKeys),
                logger: .init(label: "test"))
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("/no/such/ca.pem") == true)
    }

    @Test func `a link holds as long as the keys, at most`() async throws {
        let stub = try await StubServer.start { _ in .hangUp }
        let keys = Credentials(
            accessKey: "A", secretKey: "S", sessionToken: "T",
            expires: BlobTime(seconds: TestRuntime.time.seconds + 600))
        try await withClient(of: stub, credentials: FixedCredentials(keys)) { client async throws in
            let link = try await client.link(key, for: .seconds(3_600))
            #expect(link.expires.seconds == TestRuntime.time.seconds + 600)
            #expect(link.url.contains("/photos/lib/current/a%20b.jpg?X-Amz-Algorithm="))
            #expect(link.url.contains("X-Amz-Expires=600&"))
            for time in [Duration.zero, .seconds(7 * 86_400 + 1)] {
                let error = await failure { () throws(BlobError) in
                    try await client.link(key, for: time)
                }
                #expect(error?.code == .invalid)
            }
        }
    }

    @Test func `keys and ranges that cannot be are refused before they are sent`() async throws {
        let stub = try await StubServer.start { _ in .hangUp }
        let long = try BlobKey(
            Array(repeating: String(repeating: "x", count: 200), count: 5).joined(separator: "/"))
        try await withClient(of: stub, prefix: "/" + String(repeating: "p", count: 100)) {
            client async throws in
            let tooLong = await failure { () throws(BlobError) in try await client.head(long) }
            #expect(tooLong?.code == .invalid)
            let empty = await failure { () throws(BlobError) in try await client.text(key, 3..<3) }
            #expect(empty?.code == .invalid)
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func `a file that ends early is our own fault, and nothing is repeated`() async throws {
        let folder = try TemporaryFolder()
        let file = try FileDescriptor.open(
            FilePath(folder.file("f")), .readWrite, options: .create, permissions: .ownerReadWrite)
        defer { try! file.close() }
        try file.writeAll(toAbsoluteOffset: 0, [1, 2, 3])
        let stub = try await StubServer.start { _ in .reply(200, [("etag", "t")]) }
        try await withClient(of: stub) { client async throws in
            let error = await failure { () throws(BlobError) in
                try await client.put(
                    key, .file(file, size: 9), digest: BlobDigest(of: [1, 2, 3]))
            }
            #expect(error?.code == .local)
            #expect(error?.message.contains("the file ends at byte 3") == true)
            #expect(client.retryTokens == RetryBudget.tokensMax)
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func `a call that is cancelled says so`() async throws {
        let stub = try await StubServer.start { _ in .silence }
        try await withClient(of: stub) { client async throws in
            let call = Task {
                await failure { () throws(BlobError) in try await client.put(key, [1]) }
            }
            try await eventually("it is sent") { stub.requests.isEmpty ? nil : true }
            call.cancel()
            #expect(await call.value?.code == .cancelled)
        }
    }
}
