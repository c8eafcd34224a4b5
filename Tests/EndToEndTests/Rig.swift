import Edits
import Foundation
import Logging
import MinilabTesting
import Redis
import RenderProtocol
import Testing

@testable import JobQueue

/// A Redis, a library and as many real worker processes as a test wants.
struct Rig: Sendable {
    let server: RedisServer
    let folder: TemporaryFolder
    let redis: RedisClient
    let queue: JobQueue

    /// Long enough for a render under load, short enough to wait for.
    static let lease = "2s"

    init(syncsEachWrite: Bool = false) async throws {
        server = try await RedisServer.start(syncsEachWrite: syncsEachWrite)
        folder = try TemporaryFolder()
        redis = RedisClient(
            RedisConfiguration(url: try RedisURL(server.url)), logger: Logger(label: "test"))
        queue = JobQueue(name: .photos, redis: redis)
        try FileManager.default.createDirectory(
            atPath: library + "/originals", withIntermediateDirectories: true)
    }

    var library: String { folder.file("library") }

    /// Starts a worker process.
    ///
    /// - Parameters:
    ///   - point: where it, or its render child, stops itself.
    ///   - library: where the library is; nil: in the rig's folder.
    func worker(
        _ name: String, slots: Int = 2, stopAt point: TestPoint? = nil, flags: [String] = [],
        library: String? = nil, environment: [String: String] = [:]
    ) throws -> MinilabProcess {
        var environment = environment
        if let point { environment[TestPoint.variable] = point.rawValue }
        return try MinilabProcess(
            [
                "worker", "--library", library ?? self.library,
                "--lease", Self.lease, "--slots", "\(slots)", "--worker-name", name,
            ] + server.flags(as: .worker) + flags,
            environment: environment)
    }

    /// Puts an original into the library.
    func put(_ asset: String, _ data: Data) throws {
        let url = URL(filePath: library + "/originals/" + asset)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: url)
    }

    /// Puts a photo of the repository into the library.
    func put(_ asset: String, photo: String) throws {
        try put(asset, Data(contentsOf: Contract.folder.appending(path: "photos/\(photo)")))
    }

    /// What a producer in any language does.
    @discardableResult
    func xadd(
        _ asset: String, edit: String = #"{"filters":[{"name":"CISepiaTone"}]}"#, id: String? = nil
    ) async throws -> String {
        var command: [RedisArgument] = [
            "XADD", "minilab:{photos}:in", "*", "asset", RedisArgument(asset), "edit",
            RedisArgument(edit),
        ]
        if let id { command += ["id", RedisArgument(id)] }
        return try #require(try await redis.send(command).string)
    }

    /// All events so far.
    func events() async throws -> [EventReader.Entry] {
        var reader = EventReader(queue: .photos, redis: redis)
        var all: [EventReader.Entry] = []
        while true {
            let entries = try await reader.next()
            if entries.isEmpty { return all }
            all += entries
        }
    }

    /// Waits until so many jobs have ended, well or badly.
    func waitForEnds(_ count: Int, within limit: Duration = .seconds(300)) async throws
        -> [JobEvent]
    {
        try await eventually("\(count) jobs have ended", within: limit) {
            let ends = try await events().map(\.event).filter { event in
                switch event.data {
                case .completed, .drafted, .rendered, .unchanged, .superseded, .failed, .cancelled:
                    true
                case .previewed, .progressed, .retried, .stuck, .conflict, .batchCompleted,
                    .batchConflict,
                    .batchSealed, .streamHarmed:
                    false
                }
            }
            return ends.count >= count ? ends : nil
        }
    }

    /// Waits until a counter of the queue has come to a number.
    func waitForCount(_ name: String, _ count: Int) async throws {
        _ = try await eventually("\(count) \(name)", within: .seconds(300)) {
            try await queue.status().counters[name] == count ? () : nil
        }
    }

    /// What must be so whenever nothing is left to do, whatever was killed on the way:
    /// each job has ended once, each version is whole and its bytes are those of its event, nothing
    /// is left in staging, and every event is as the schema says.
    func checkInvariants(jobs: [String]) async throws {
        #expect(try await queue.status().isDrained)
        let entries = try await events()
        let refusals = try Schema.event().refusals(of: entries.map(\.json))
        #expect(refusals.compactMap(\.self).isEmpty)
        var ends: [String: Int] = [:]
        for event in entries.map(\.event) {
            switch event.data {
            case .completed(let job):
                ends[job.job, default: 0] += 1
                let file = URL(filePath: library + "/" + job.version.path)
                guard let render = job.render else { continue }
                #expect(try Data(contentsOf: file).count == render.bytes)
                let names = try FileManager.default.contentsOfDirectory(
                    atPath: file.deletingLastPathComponent().path)
                #expect(Set(names).isSuperset(of: ["provenance.json", file.lastPathComponent]))
            case .drafted(let job): ends[job.job, default: 0] += 1
            case .rendered(let job): ends[job.job, default: 0] += 1
            case .unchanged(let job): ends[job.job, default: 0] += 1
            case .superseded(let job): ends[job.job, default: 0] += 1
            case .failed(let job): ends[job.job, default: 0] += 1
            case .cancelled(let job): ends[job.job, default: 0] += 1
            case .previewed, .progressed, .retried, .stuck, .conflict, .batchCompleted,
                .batchConflict,
                .batchSealed, .streamHarmed:
                break
            }
        }
        #expect(ends == Dictionary(uniqueKeysWithValues: jobs.map { ($0, 1) }))
        try await eventually("staging is empty") { try staged().isEmpty ? () : nil }
    }

    /// What lies in staging.
    func staged() throws -> [String] {
        let path = library + "/staging/photos"
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path)
    }

    /// The versions that an asset has.
    func versions(_ asset: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: library + "/edits/\(asset)/versions")
            .filter { $0 != "confirmed" }
    }

    /// The name of an asset's current version; nil when the original is current.
    func current(_ asset: String) throws -> String? {
        let link = library + "/edits/\(asset)/current"
        // No link is an answer.
        return try? FileManager.default.destinationOfSymbolicLink(atPath: link)
    }
}
