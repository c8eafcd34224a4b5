import Edits
import Foundation
import Logging
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// What people look with works where a server accepts no write: that is when they look.
@Suite("A server that accepts no write") struct NoWriteTests {
    /// Why a server accepts no write.
    enum State: String, CaseIterable {
        /// Its disk is full, or gone.
        case badDisk = "MISCONF"
        case tooFewReplicas = "NOREPLICAS"
        case replica = "READONLY"
    }

    /// Brings a server into a state, and returns the server that is in it.
    private func bring(_ server: RedisServer, into state: State) async throws -> RedisServer {
        switch state {
        case .badDisk:
            // The folder of its snapshot goes away, which needs no disk to fill.
            let folder = server.folder.file("gone")
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false)
            try await server.command("CONFIG", "SET", "dir", folder)
            try await server.command("CONFIG", "SET", "save", "3600 1")
            try FileManager.default.removeItem(atPath: folder)
            try await server.command("BGSAVE")
            try await eventually("the snapshot has failed") {
                try await server.command("INFO", "persistence")
                    .contains("rdb_last_bgsave_status:err") ? true : nil
            }
            return server
        case .tooFewReplicas:
            try await server.command("CONFIG", "SET", "min-replicas-to-write", "1")
            return server
        case .replica:
            let replica = try await RedisServer.start(
                arguments: ["--replicaof", "127.0.0.1 \(server.port)"])
            try await eventually("the replica is in step") {
                try await replica.command("INFO", "replication").contains("master_link_status:up")
                    ? true : nil
            }
            return replica
        }
    }

    @Test(arguments: State.allCases)
    func `status, explain and doctor answer, and a claim is refused whole`(
        state: State
    ) async throws {
        let server = try await RedisServer.start(
            arguments: [
                "--repl-diskless-sync-delay", "0", "--enable-protected-configs", "local",
            ])
        let q = try await QueueFixture(on: server)
        try await q.admit("a", "b")
        let entry = try await q.xadd(["asset": "c", "edit": QueueFixture.recipe])
        let batch = BatchRequest(id: try BatchID("x"), edit: try Edit(json: #"{"mode":"undo"}"#))
        _ = try await q.queue.submit(batch, folder: nil, backlogMax: 9)
        _ = try await q.queue.add(
            [JobQueue.Member(asset: try AssetPath("m"))], to: batch.id, from: 0)
        _ = try await q.claim()

        let silent = try await bring(server, into: state)
        // A new connection: a login is refused no more than a look.
        var configuration = RedisConfiguration(url: try RedisURL(silent.url))
        configuration.commandTimeout = .seconds(20)
        let redis = RedisClient(configuration, logger: .init(label: "test"))
        let queue = JobQueue(name: q.queue.name, redis: redis)
        let status = try await queue.status()
        #expect(status[.active] == 1 && status[.ready] == 1 && status[.incoming] == 1)
        for (id, code) in [("a", "active"), ("b", "ready"), (entry, "incoming"), ("x:0", "lane")] {
            #expect(try await queue.facts(of: id).state.rawValue == code, "\(id)")
        }
        let diagnosis = try await queue.diagnose()
        #expect(diagnosis.isHealthy && diagnosis.places > 3, "\(diagnosis.open)")
        #expect(try await queue.checkServer(as: .worker).allSatisfy { !$0.contains("asked") })
        #expect(diagnosis.warnings.contains { $0.hasPrefix("Redis accepts no write") })
        // A worker that starts is told so, too, and not by a failure to raise the format of the queue.
        let lines = RecordedLines()
        try await ServerWatch(queue, as: .worker, lines.logger).ask()
        #expect(lines.all.contains { $0.hasPrefix("Redis accepts no write") }, "\(lines.all)")

        let claims = RedisConfiguration(url: try RedisURL(silent.url))
        var hasty = claims
        hasty.commandTimeout = .milliseconds(500)
        let claiming = JobQueue(
            name: q.queue.name, redis: RedisClient(hasty, logger: .init(label: "test")))
        let refused = await #expect(throws: QueueError.self) {
            try await claiming.claim(by: "w", count: 1)
        }
        #expect(refused?.message.contains(state.rawValue) == true, "\(refused?.message ?? "")")
        #expect(try await queue.status()[.ready] == 1)
        silent.stop()
        server.stop()
    }
}
