public import BlobStore
import Logging
public import MinilabTesting

/// The prefix of one test in a real object store.
public struct TestStore: Sendable {
    /// The kind of server.
    public let server: StoreServer
    /// The port of the server on 127.0.0.1.
    public let port: Int
    /// The name of the bucket, which other tests share.
    public let bucket: String
    /// The prefix of the test's keys, without a trailing slash.
    public let prefix: String

    /// The longest wait for a response, long enough for a slow machine.
    private static let silenceMax = Duration.seconds(60)

    /// Chooses a new, empty prefix.
    public init(
        on server: StoreServer = .seaweed, bucket: String = SharedSeaweed.bucket
    ) async throws {
        self.server = server
        self.bucket = bucket
        port = try await server.port()
        // All prefixes have the same length, so that a test can compute the remaining length of a key.
        prefix = "t\(UInt32.random(in: 1_000_000_000 ... .max))"
    }

    /// The URL of the server, without a bucket.
    public var endpoint: String { "http://127.0.0.1:\(port)" }

    /// The library URL, as programs accept it.
    public var url: String { "s3://\(bucket)/\(prefix)?endpoint=\(endpoint)" }

    /// Runs a test's body with a client, and closes the client afterwards.
    public func withClient<Result>(
        keys: StoreKeys = .admin, _ configure: (inout S3Configuration) -> Void = { _ in },
        body: (S3Client) async throws -> Result
    ) async throws -> Result {
        var configuration = S3Configuration(url: try BlobURL(url))
        configuration.silenceMax = Self.silenceMax
        configure(&configuration)
        let client = try S3Client(
            configuration,
            credentials: FixedCredentials(
                Credentials(accessKey: keys.accessKey, secretKey: keys.secretKey)),
            logger: Logger(label: "test"))
        do {
            let result = try await body(client)
            await client.close()
            return result
        } catch {
            await client.close()
            throw error
        }
    }
}

extension TestStore {
    /// Returns whether parts of an unfinished upload are left under this prefix.
    public func hasUpload() async throws -> Bool {
        try StoreKeys.admin.curl("GET", "\(endpoint)/\(bucket)?prefix=\(prefix)&uploads=")
            .contains("<UploadId>")
    }
}
