import Edits
import Foundation
import Logging
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Rights in Redis") struct RightsTests {
    /// A server with the users of `ops/redis-users.conf` to the letter, and a client that may do all.
    private func server(_ folder: TemporaryFolder) async throws -> (RedisServer, RedisClient) {
        let server = try await RedisServer.start(
            arguments: ["--aclfile", try DocumentedRedis.users(in: folder)])
        let admin = RedisClient(
            RedisConfiguration(url: try RedisURL(server.url)), logger: Logger(label: "test"))
        return (server, admin)
    }

    /// Every command that the server knows, with the least number of its arguments.
    private func allCommands(_ admin: RedisClient) async throws -> [(name: String, arguments: Int)]
    {
        func read(_ info: RedisReply) -> [(name: String, arguments: Int)] {
            guard let parts = info.array, parts.count > 9, let name = parts[0].string,
                let arity = parts[1].int
            else { return [] }
            let below = (parts[9].array ?? []).flatMap(read)
            let words = name.split(separator: "|").count
            return below.isEmpty ? [(name, max(0, Int(abs(arity)) - words))] : below
        }
        let all = try await admin.send(["COMMAND"]).array?.flatMap(read) ?? []
        #expect(all.count > 300, "\(all.count) commands and subcommands")
        return all
    }

    /// What `ACL DRYRUN` says of a command whose arguments are all the same key, which is nobody's unless it is given.
    private func dryRun(
        _ command: (name: String, arguments: Int), on key: String = "other", as user: String,
        _ admin: RedisClient
    ) async throws -> String {
        let special: [String: [String]] = [
            "evalsha": [String(repeating: "0", count: 40), "1", key],
            "xread": ["STREAMS", key, "0"],
        ]
        let arguments = special[command.name] ?? Array(repeating: key, count: command.arguments)
        let words = ["ACL", "DRYRUN", user] + command.name.split(separator: "|").map(String.init)
        return try #require(
            try await admin.send((words + arguments).map { RedisArgument($0) }).string,
            "\(command.name)")
    }

    @Test(arguments: ReviewedRights.commands.keys.sorted())
    func `of all commands of Redis a user may run those that were reviewed, on its own keys`(
        user: String
    ) async throws {
        let folder = try TemporaryFolder()
        let (server, admin) = try await server(folder)
        var allowed: Set<String> = []
        var withoutKeys: Set<String> = []
        for command in try await allCommands(admin) {
            let answer = try await dryRun(command, as: user, admin)
            // "User … has no permissions to run the '…' command", or "… to access the '…' key".
            if answer.contains("no permissions to run") { continue }
            allowed.insert(command.name)
            if answer == "OK" {
                withoutKeys.insert(command.name)
            } else {
                #expect(answer.contains("no permissions to access"), "\(command.name): \(answer)")
            }
        }
        let reviewed = try #require(ReviewedRights.commands[user])
        #expect(allowed.subtracting(ReviewedRights.ofEverybody) == reviewed)
        #expect(
            withoutKeys.subtracting(ReviewedRights.ofEverybody)
                == reviewed.intersection(ReviewedRights.withoutKeys))
        await admin.close()
        server.stop()
    }

    /// Which users reach what the gateway owns. `GatewayRecordRightsTests` tries all that a busy gateway leaves.
    @Test(arguments: ReviewedRights.commands.keys.sorted())
    func `of all commands of Redis only those of gateways and operators may name a gateway's key`(
        user: String
    ) async throws {
        let folder = try TemporaryFolder()
        let (server, admin) = try await server(folder)
        let reaches = ["gateway", "operator"].contains(user)
        let reviewed = try #require(ReviewedRights.commands[user])
            .subtracting(ReviewedRights.withoutKeys)
        let keys = QueueName.photos.gatewayKeys
        var tried = 0
        for command in try await allCommands(admin) where reviewed.contains(command.name) {
            for key in [keys.accessKeys, keys.session("x"), keys.audit(of: "in"), keys.control] {
                let answer = try await dryRun(command, on: key, as: user, admin)
                #expect(
                    reaches ? answer == "OK" : answer.contains("no permissions to access"),
                    "\(command.name) \(key): \(answer)")
                tried += 1
            }
        }
        #expect(tried == 4 * reviewed.count)
        await admin.close()
        server.stop()
    }

    @Test(arguments: QueueProgram.allCases)
    func `what a script calls is allowed to those who run it`(program: QueueProgram) throws {
        let rights = try #require(ReviewedRights.commands[program.rawValue])
        let missing = (program.commands + program.commandsOfRecords).filter {
            !rights.contains($0.lowercased().replacing(" ", with: "|"))
        }
        #expect(missing.isEmpty, "\(program.rawValue) runs scripts that call \(missing)")
    }

    @Test func `the worker, every command of an operator, a producer and a reader need no more`()
        async throws
    {
        let folder = try TemporaryFolder()
        let (server, admin) = try await server(folder)
        func flags(_ user: String) -> [String] {
            ["--redis", "redis://\(user):change-me-\(user)@127.0.0.1:\(server.port)"]
        }
        let library = folder.file("library")
        try FileManager.default.createDirectory(
            atPath: library + "/originals", withIntermediateDirectories: true)
        try SyntheticPhoto.png(width: 30, height: 20)
            .write(to: URL(filePath: library + "/originals/a.png"))
        let list = folder.file("edits.ndjson")
        try Data("a.png\nmissing.png\n".utf8).write(to: URL(filePath: list))
        func run(_ user: String, _ arguments: [String], ends: Int32 = 0) async throws {
            let (ending, output) = try await MinilabProcess.run(arguments + flags(user))
            #expect(ending == .exited(ends), "\(arguments): \(output)")
        }
        let worker = try MinilabProcess(
            ["worker", "--library", library, "--status-port", "0", "--lease", "2s"]
                + flags("worker"))
        let sepia = ["--filter", "CISepiaTone"]
        try await run("producer", ["enqueue", "a.png", "--id", "one"] + sepia)
        try await run("producer", ["enqueue", "missing.png", "--id", "dead"] + sepia)
        // One job of the batch dies: its photo is missing.
        try await run(
            "operator", ["enqueue", "--file", list, "--batch", "b", "--wait"] + sepia, ends: 1)
        for command in [
            ["status"], ["status", "one"], ["top", "--once"], ["explain", "one", "dead"], ["dead"],
            ["dead", "dead", "--bundle"], ["batch"], ["batch", "b"], ["pause"], ["resume"],
            ["limit", "--tenant", "acme", "--cap", "1"], ["replay", "dead"], ["replay", "--all"],
            ["cancel", "--tenant", "acme"], ["key", "create", "--operator", "--scope", "read"],
            ["key", "list"], ["doctor"], ["doctor", "--repair"], ["events"],
        ] { try await run("operator", command) }
        try await run("operator", ["cancel", "one"], ends: 1)  // it is done
        try await run("operator", ["cancel", "--batch", "none"], ends: 1)
        try await run("reader", ["events"])
        let port = try await statusPort(of: worker)
        #expect(
            try await HTTPExchange.get("/metrics", port: port).body.contains("minilab_redis_up 1"))
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))

        // The server's log names each refused command and its user. A producer and a reader do without naming their connection and
        // without the queue's format.
        let refused = try await admin.send(["ACL", "LOG"]).array ?? []
        for entry in refused {
            let words = (entry.array ?? []).map { $0.string ?? "" }
            func value(of name: String) -> String? {
                words.firstIndex(of: name).map { words[$0 + 1] }
            }
            #expect(
                ["client|setname", "ping", "hmget"].contains(value(of: "object"))
                    && ["producer", "reader"].contains(value(of: "username")), "\(words)")
        }
        await admin.close()
        server.stop()
    }

    @Test func `a gateway submits, looks, cancels, replays and limits, and does no worker's part`()
        async throws
    {
        let folder = try TemporaryFolder()
        let (server, admin) = try await server(folder)
        let redis = RedisClient(
            RedisConfiguration(
                url: try RedisURL("redis://gateway:change-me-gateway@127.0.0.1:\(server.port)")),
            logger: Logger(label: "test"))
        let queue = JobQueue(name: .photos, redis: redis)
        let tenant = try JobID("acme")
        func request(_ id: String) throws -> JobRequest {
            var scheduling = Scheduling()
            scheduling.tenant = tenant
            return JobRequest(
                id: try JobID(id), asset: try AssetPath(id),
                edit: try Edit(json: #"{"filters":[{"name":"CISepiaTone"}]}"#),
                scheduling: scheduling)
        }
        for id in ["acme.1", "acme.2"] {
            guard case .accepted = try await queue.submit(request(id), backlogMax: 9) else {
                Issue.record("\(id) was refused")
                return
            }
        }
        #expect(try await queue.submit(request("acme.1"), backlogMax: 9) == .same(.incoming))
        #expect(try await queue.cancel(["acme.1"], reason: "no") == [.cancelled])
        let all = JobQueue(name: .photos, redis: admin)
        _ = try await all.admit()
        let claim = try #require(try await all.claim(by: "w", count: 1).jobs.first)
        _ = try await all.fail(claim, by: "w", Failure(.missingAsset, "no"), random: 0)
        #expect(try await queue.facts(of: "acme.2").reason.code == "dead")
        #expect(try await queue.deadGroups().groups.map(\.jobs) == [1])
        var dead = try await DeadReader(queue, DeadFilter(.everything))
        #expect(try await dead.next()?.map(\.job) == ["acme.2"])
        #expect(try await queue.attempts(of: "acme.2").count == 1)
        #expect(try await queue.replay(["acme.2"]) == [.replayed])
        #expect(try await queue.status()[.ready] == 1)
        #expect(try await queue.backlog(of: tenant) == 1)
        let batch = BatchRequest(
            id: try BatchID("acme.b"), edit: try Edit(json: #"{"mode":"undo"}"#))
        #expect(try await queue.submit(batch, folder: nil, backlogMax: 9) == .created)
        let members = [JobQueue.Member(asset: try AssetPath("m"))]
        #expect(try await queue.add(members, to: batch.id, from: 0) == .added(1))
        #expect(try await queue.submitSeal(of: batch.id, jobs: 1) == .sealed)
        #expect(try await queue.cancelWhole(batch.id, reason: "no").0 == .cancelled)
        try await queue.set([.paused("a move"), .cap(tenant, 3)])
        _ = try await queue.cancelJobs(of: tenant, reason: "no")
        var events = EventReader(queue: .photos, redis: redis)
        #expect(try await !events.next().isEmpty)
        #expect(try await queue.diagnose(as: .gateway).open.isEmpty)
        let refused = try await admin.send(["ACL", "LOG"]).array ?? []
        #expect(refused.isEmpty, "\(refused)")
        await redis.close()
        await admin.close()
        server.stop()
    }

    @Test func `each user of ops/redis-users.conf can do its part, over TLS, and no more`()
        async throws
    {
        let folder = try TemporaryFolder()
        let certificates = try await TestCertificates()
        let server = try await RedisServer.start(
            certificates: certificates,
            arguments: ["--aclfile", try DocumentedRedis.users(in: folder)])
        func client(_ user: String) throws -> RedisClient {
            var configuration = RedisConfiguration(
                url: try RedisURL(
                    "rediss://\(user):change-me-\(user)@localhost:\(server.port)"))
            configuration.caCertificateFile = certificates.authority
            return RedisClient(configuration, logger: Logger(label: "test"))
        }
        let library = folder.file("library")
        try FileManager.default.createDirectory(
            atPath: library + "/originals", withIntermediateDirectories: true)
        try SyntheticPhoto.png(width: 30, height: 20)
            .write(to: URL(filePath: library + "/originals/a.png"))

        let producer = try client("producer")
        _ = try await producer.send([
            "XADD", "minilab:{photos}:in", "*", "asset", "a.png", "edit",
            #"{"filters":[{"name":"CISepiaTone"}]}"#,
        ])
        _ = try await producer.send([
            "XADD", "minilab:{photos}:in:interactive", "*", "asset", "a.png", "edit",
            #"{"filters":[{"name":"CISepiaTone"}]}"#,
        ])
        await #expect(throws: RedisError.self) { () async throws in
            _ = try await producer.send(["XRANGE", "minilab:{photos}:in", "-", "+"])
        }
        let worker = try MinilabProcess([
            "worker", "--library", library, "--redis-ca", certificates.authority, "--redis",
            "rediss://worker:change-me-worker@localhost:\(server.port)",
        ])
        var events = EventReader(queue: .photos, redis: try client("reader"))
        let entry = try await eventually("the reader hears of the job") {
            try await events.next(waiting: .seconds(1)).first
        }
        #expect(entry.event.type == "org.minilab.job.completed", "\(entry.json)")
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
        await producer.close()
        server.stop()
    }
}
