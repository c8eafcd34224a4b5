public import BlobStore
import Logging
public import MinilabTesting

/// A place of one test in an object store that is really there.
public struct TestStore: Sendable {
    /// The kind of server.
    public let server: StoreServer
    /// The port of the server on 127.0.0.1.
    public let port: Int
    /// The bucket, with the others' places in it.
    public let bucket: String
    /// The beginning of its keys, without a slash at its end.
    public let prefix: String

    /// The longest silence: a slow machine is none.
    private static let silenceMax = Duration.seconds(60)

    /// A place that is empty.
    public init(
        on server: StoreServer = .seaweed, bucket: String = SharedSeaweed.bucket
    ) async throws {
        self.server = server
        self.bucket = bucket
        port = try await server.port()
        // Of one length, so that a test can use what is left of a key.
        prefix = "t\(UInt32.random(in: 1_000_000_000 ... .max))"
    }

    /// Where the server is, without a bucket.
    public var endpoint: String { "http://127.0.0.1:\(port)" }

    /// As programs are told of it.
    public var url: String { "s3://\(bucket)/\(prefix)?endpoint=\(endpoint)" }

    /// Runs the test's body with a client, which is closed after it.
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
    /// Whether parts of an upload are left here.
    public func hasUpload() async throws -> Bool {
        try StoreKeys.admin.curl("GET", "\(endpoint)/\(bucket)?prefix=\(prefix)&uploads=")
            .contains("<UploadId>")
    }
}
