import Edits
import Foundation
import FoundationNetworking
import MinilabTesting
import NIOHTTP1
import RenderProtocol
import ServiceTesting
import Testing

@testable import BlobStore

/// A queue, an object store, and worker processes that share nothing else.
struct BucketRig {
    let queue: Rig
    private let store: TestStore

    init() async throws {
        queue = try await Rig()
        store = try await TestStore()
    }

    /// The library, as `--library` takes it.
    var url: String { store.url }

    /// Starts a worker with a scratch folder of its own, as on a machine of its own.
    func worker(
        _ name: String, slots: Int = 2, stopAt point: TestPoint? = nil, flags: [String] = []
    ) throws -> MinilabProcess {
        try queue.worker(
            name, slots: slots, stopAt: point,
            flags: flags + ["--scratch", queue.folder.file("scratch-\(name)")],
            library: store.url, environment: StoreKeys.admin.environment)
    }

    /// Runs a command that looks at the library, and returns its output.
    ///
    /// - Parameter isReader: whether its keys may only read.
    func run(_ command: [String], isReader: Bool = false) async throws -> String {
        try await runPlain(command + ["--library", store.url], isReader: isReader).output
    }

    /// Runs a command that gets its libraries as it is written.
    func runPlain(
        _ command: [String], isReader: Bool = false
    ) async throws -> (ending: MinilabProcess.Ending, output: String) {
        try await MinilabProcess.run(command, environment: environment(isReader ? .reader : .admin))
    }

    /// Starts a command that gets its libraries as it is written.
    func start(_ command: [String]) throws -> MinilabProcess {
        try MinilabProcess(command, environment: environment(.admin))
    }

    private func environment(_ keys: StoreKeys) -> [String: String] {
        keys.environment.merging(["MINILAB_SCRATCH": queue.folder.file("scratch-command")]) { $1 }
    }

    /// Puts an original into the bucket.
    func put(_ asset: String, _ data: Data) async throws {
        try await put(data, at: "originals/\(asset)")
    }

    /// Puts an object at a key below the library.
    func put(_ data: Data, at key: String) async throws {
        _ = try await store.withClient { try await $0.put(BlobKey(key), Array(data)) }
    }

    /// Gives a bucket rules for removing objects.
    func put(_ rules: String, asRulesOf bucket: String) async throws {
        try await TestStore(bucket: bucket).withClient { try await $0.putLifecycle(rules) }
    }

    /// The bytes of an object, by its key below the library.
    func bytes(_ key: String) async throws -> [UInt8] {
        try await store.withClient {
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
