import Edits
import Foundation
import Logging
import MinilabTesting
import Redis
import Testing

@testable import JobQueue
@testable import Worker

/// The loop that admits, alone on a Redis of its own, which counts what the loop calls.
@Suite("The loop that admits", .timeLimit(.minutes(10))) struct AdmissionLoopTests {
    private let redis: RedisClient
    private let reads: RedisClient
    private let queue: JobQueue
    private let server: RedisServer

    init() async throws {
        server = try await RedisServer.start()
        var configuration = RedisConfiguration(url: try RedisURL(server.socketURL))
        (configuration.connectTimeout, configuration.commandTimeout) = (.seconds(60), .seconds(60))
        let logger = Logger(label: "test")
        redis = RedisClient(configuration, logger: logger)
        reads = RedisClient(configuration, logger: logger)
        queue = JobQueue(name: try QueueName("photos"), redis: redis)
    }

    @Test func `a job that comes alone costs one admission, and none that finds nothing`()
        async throws
    {
        _ = try await redis.send(["CONFIG", "SET", "slowlog-log-slower-than", "0"])
        _ = try await redis.send(["CONFIG", "SET", "slowlog-max-len", "1000000"])
        let jobs = 20
        try await whileAdmitting {
            for number in 0..<jobs { try await sendAndSee("j\(number)") }
        }
        // A turn of the loop is one admission and one wait, whether entries end the wait or its time does.
        let (admissions, waits) = (try await admissions(), try await waits())
        #expect(admissions >= jobs)
        // The first wait follows the first admission, and the last one may have been broken off.
        #expect(admissions <= waits + 2, "\(admissions) admissions, \(waits) waits")
    }

    private func whileAdmitting(_ body: () async throws -> Void) async throws {
        let loop = AdmissionLoop(
            queue: queue, worker: "w", ingressReads: reads, pace: FleetPace(),
            logger: Logger(label: "test"), metrics: WorkerMetrics())
        let running = Task { await loop.run() }
        do {
            try await body()
        } catch {
            running.cancel()
            await running.value
            throw error
        }
        running.cancel()
        await running.value
        await reads.close()
    }

    /// Sends a job and waits until it is admitted.
    private func sendAndSee(_ id: String) async throws {
        _ = try await queue.enqueue(
            JobRequest(
                id: JobID(id), asset: AssetPath("\(id).jpg"),
                edit: Edit(json: #"{"filters":[{"name":"CISepiaTone"}]}"#)))
        try await eventually("\(id) is admitted") {
            try await queue.record(of: id) == nil ? nil : ()
        }
    }

    /// The number of runs of `admit.lua`.
    private func admissions() async throws -> Int {
        let digest = try await redis.send([
            "SCRIPT", "LOAD",
            RedisArgument(String(decoding: QueueScript.admit.source, as: UTF8.self)),
        ]).string
        let calls = try await redis.send(["SLOWLOG", "GET", "-1"]).array ?? []
        return calls.count { entry in
            let words = entry.array?[3].array?.prefix(2).compactMap(\.string) ?? []
            return words == ["EVALSHA", digest]
        }
    }

    /// The number of reads of the streams that have ended.
    private func waits() async throws -> Int {
        let stats = try await redis.send(["INFO", "commandstats"]).string ?? ""
        return stats.firstMatch(of: /cmdstat_xread:calls=(\d+)/).flatMap { Int($0.1) } ?? 0
    }
}
