import Adjustments
import Foundation
import FoundationNetworking
import Logging
import MinilabTesting
import NIOHTTP1
import RenderProtocol
import Testing

@testable import BlobStore

/// A queue, an object store, and worker processes that share nothing else.
struct BucketRig {
    let queue: Rig
    /// The library, as `--library` takes it.
    let url: String

    init() async throws {
        queue = try await Rig()
        let server = try await SharedSeaweed.server()
        let prefix = "lab\(UInt32.random(in: .min ... .max))"
        url = "s3://\(SharedSeaweed.bucket)/\(prefix)?endpoint=\(server.endpoint)"
    }

    private var keys: [String: String] {
        [
            "AWS_ACCESS_KEY_ID": SeaweedServer.admin.0,
            "AWS_SECRET_ACCESS_KEY": SeaweedServer.admin.1,
        ]
    }

    private var readerKeys: [String: String] {
        [
            "AWS_ACCESS_KEY_ID": SeaweedServer.reader.0,
            "AWS_SECRET_ACCESS_KEY": SeaweedServer.reader.1,
        ]
    }

    /// Starts a worker with a scratch folder of its own, as on a machine of its own.
    func worker(
        _ name: String, slots: Int = 2, stopAt point: TestPoint? = nil, flags: [String] = []
    ) throws -> MinilabProcess {
        try queue.worker(
            name, slots: slots, stopAt: point,
            flags: flags + ["--scratch", queue.folder.file("scratch-\(name)")], library: url,
            environment: keys)
    }

    /// Runs a command that looks at the library, and returns its output.
    ///
    /// - Parameter isReader: whether its keys may only read.
    func run(_ command: [String], isReader: Bool = false) async throws -> String {
        try await runPlain(command + ["--library", url], isReader: isReader).output
    }

    /// Runs a command that gets its libraries as it is written.
    func runPlain(
        _ command: [String], isReader: Bool = false
    ) async throws -> (ending: MinilabProcess.Ending, output: String) {
        let scratch = queue.folder.file("scratch-command")
        return try await MinilabProcess.run(
            command,
            environment: (isReader ? readerKeys : keys).merging(["MINILAB_SCRATCH": scratch]) { $1 }
        )
    }

    /// Starts a command that gets its libraries as it is written.
    func start(_ command: [String]) throws -> MinilabProcess {
        let scratch = queue.folder.file("scratch-command")
        return try MinilabProcess(
            command, environment: keys.merging(["MINILAB_SCRATCH": scratch]) { $1 })
    }

    private func withStore<Result>(
        at place: String? = nil, _ body: (S3Client) async throws -> Result
    ) async throws -> Result {
        var configuration = S3Configuration(url: try BlobURL(place ?? url))
        configuration.silenceMax = .seconds(60)
        let client = try S3Client(
            configuration,
            credentials: FixedCredentials(
                Credentials(accessKey: SeaweedServer.admin.0, secretKey: SeaweedServer.admin.1)),
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

    /// Puts an original into the bucket.
    func put(_ asset: String, _ data: Data) async throws {
        _ = try await withStore { try await $0.put(BlobKey("originals/\(asset)"), Array(data)) }
    }

    /// Gives a bucket rules for removing objects.
    func put(_ rules: String, asRulesOf url: String) async throws {
        try await withStore(at: url) { try await $0.putLifecycle(rules) }
    }

    /// The bytes of an object, by its key below the library.
    func bytes(_ key: String) async throws -> [UInt8] {
        try await withStore {
            try await $0.bytes(BlobKey(key), nil, ifMatch: nil, atMost: 64 << 20).bytes
        }
    }

    /// Reads a URL as anybody does, without credentials.
    func read(_ url: String) async throws -> (status: Int, body: [UInt8]) {
        let url = try #require(URL(string: url))
        let (data, answer) = try await URLSession.shared.data(from: url)
        return (try #require(answer as? HTTPURLResponse).statusCode, Array(data))
    }

    /// The name of an asset's current version, as any reader of its head finds it.
    func current(_ asset: String) async throws -> String? {
        let head = try JSONDecoder().decode(
            Head.self, from: Data(try await bytes("current/\(asset)")))
        return head.current
    }

    private struct Head: Decodable { let current: String? }
}

extension S3Client {
    fileprivate func putLifecycle(_ rules: String) async throws(BlobError) {
        try await exchange {
            S3Request(
                method: .PUT, key: nil, query: [("lifecycle", "")],
                headers: [("content-type", "application/xml")], body: .bytes(Array(rules.utf8)),
                right: "s3:PutLifecycleConfiguration")
        } _: { (_) throws(AttemptFailure) in
        }
    }
}
