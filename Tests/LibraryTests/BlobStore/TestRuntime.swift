import ServiceTesting
import Logging
import MinilabTesting
import NIOCore
import Synchronization
import Testing

@testable import BlobStore

/// A runtime in which waits take no time and are remembered.
final class TestRuntime: Sendable {
    /// The time on the machine's clock, always: 2024-01-02 03:04:05.
    static let time = BlobTime(seconds: 1_704_164_645)

    private let slept = Mutex<[Duration]>([])

    /// The waits so far.
    var waits: [Duration] { slept.withLock { $0 } }

    var values: ClientRuntime {
        ClientRuntime(
            now: { Self.time },
            sleep: { delay in
                try Task.checkCancellation()
                self.slept.withLock { $0.append(delay) }
            },
            random: { 0.5 })
    }
}

let testKeys = Credentials(accessKey: "AKTEST", secretKey: "hidden-secret")

/// A client of a stub for the test's body, closed after it.
func withClient<Result>(
    of stub: StubServer, prefix: String = "/lib", query: String = "", scheme: String = "http",
    host: String = "127.0.0.1", credentials: (any CredentialSource)? = nil,
    runtime: TestRuntime = TestRuntime(), configure: (inout S3Configuration) -> Void = { _ in },
    body: (S3Client) async throws -> Result
) async throws -> Result {
    var configuration = S3Configuration(
        url: try BlobURL(
            "s3://photos\(prefix)?endpoint=\(scheme)://\(host):\(stub.port)\(query)"))
    // Silence is what a test asks for; a slow machine is no silence.
    configuration.silenceMax = .seconds(60)
    configuration.connectTimeout = .seconds(60)
    configure(&configuration)
    let client = try S3Client(
        configuration, credentials: credentials ?? FixedCredentials(testKeys),
        logger: Logger(label: "test"), runtime: runtime.values)
    do {
        let result = try await body(client)
        await client.close()
        return result
    } catch {
        await client.close()
        throw error
    }
}

/// The error of a call, or nil when it succeeds.
func failure<Value>(_ call: () async throws(BlobError) -> Value) async -> BlobError? {
    do throws(BlobError) {
        _ = try await call()
        return nil
    } catch {
        return error
    }
}

/// An S3 error's document.
func errorBody(_ code: String, _ more: String = "") -> String {
    "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>Said so.</Message>\(more)</Error>"
}

extension S3Client {
    /// All of an object, or of a range of it.
    func text(
        _ key: BlobKey, _ range: Range<Int>? = nil, ifMatch tag: BlobTag? = nil
    ) async throws(BlobError) -> String {
        var bytes: [UInt8] = []
        try await get(key, range, ifMatch: tag) { bytes += Array(buffer: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension StubServer.Request {
    /// The region that the signature is for.
    var region: Substring? {
        header("authorization").split(separator: "/").dropFirst(2).first
    }
}
