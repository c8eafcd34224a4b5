import Edits
import Logging
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// What release 0.5 had of the gateway among the keys of jobs is moved once, whole, and never again.
@Suite("The move of the gateway's records") struct GatewayRecordsTests {
    /// What a key has: its bytes, and when it ends.
    private struct Content: Equatable {
        let bytes: [UInt8]?
        let end: Int64?
    }

    private func content(_ key: String, _ q: QueueFixture) async throws -> Content {
        Content(
            bytes: try await q.redis.send(["DUMP", RedisArgument(key)]).bytes,
            end: try await q.redis.send(["PEXPIRETIME", RedisArgument(key)]).int)
    }

    private func text(_ key: String, _ q: QueueFixture) async throws -> String? {
        try await q.redis.send(["GET", RedisArgument(key)]).string
    }

    /// Writes one key of each kind as release 0.5 did.
    ///
    /// - Returns: what each has, by its place now.
    private func fill(_ q: QueueFixture) async throws -> [String: Content] {
        let old = GatewayKeys.earlier(q.queue.name)
        let commands: [[String]] = [
            ["HSET", old.accessKeys, "a", #"{"format":1}"#, "b", #"{"format":1}"#],
            ["HSET", old.uploads, "day", "20000", "begun", "7", "a", "4096"],
            ["HSET", old.replays, "r", "{}"],
            ["ZADD", old.signIns, "5", "d"],
            ["SET", old.signIn("d"), "1", "PX", "600000"],
            ["SET", old.session("s"), "a ada@example.com", "EX", "43200"],
            ["SET", old.session("t"), "a", "EX", "43200"],
            ["XADD", old.audit(of: nil), "5-0", "key", "a", "deed", "pause"],
            ["XADD", old.audit(of: "acme"), "6-0", "key", "b", "deed", "cancel"],
            ["HSET", old.webhooks, "e", "{}"],
            ["HSET", old.webhook("e", "state"), "cursor", "5-1", "fence", "9"],
            ["ZADD", old.webhook("e", "parked"), "9", "1 5-0"],
            ["RPUSH", old.webhook("e", "deliveries"), "{}", "{}"],
        ]
        var contents: [String: Content] = [:]
        for command in commands {
            _ = try await q.redis.send(command.map { RedisArgument($0) })
            let place = q.queue.name.gatewayKeys.prefix + command[1].dropFirst(old.prefix.count)
            contents[place] = try await content(command[1], q)
        }
        return contents
    }

    /// The keys of the queue that are neither jobs' nor a text that a move has left.
    private func left(_ q: QueueFixture) async throws -> [String] {
        let old = GatewayKeys.earlier(q.queue.name)
        let keys = try await q.redis.send(["KEYS", RedisArgument(old.prefix + "*")])
        var left: [String] = []
        for key in keys.array?.compactMap(\.string) ?? [] {
            let isText = try await q.redis.send(["TYPE", RedisArgument(key)]).string == "string"
            if isText, try await text(key, q) == GatewayRecords.left { continue }
            left.append(key)
        }
        return left
    }

    @Test func `every record arrives with its end, and a second move finds nothing to do`()
        async throws
    {
        let q = try await QueueFixture()
        let contents = try await fill(q)
        let records = GatewayRecords(q.queue)
        #expect(try await records.settle() == contents.count)
        for (key, was) in contents { #expect(try await content(key, q) == was, "\(key)") }
        #expect(try await left(q) == [])
        #expect(try await records.settle() == 0)
        for (key, was) in contents { #expect(try await content(key, q) == was, "\(key)") }
    }

    @Test func `a move that ends at any key loses none, and goes on from there`() async throws {
        let server = try await SharedRedis.server()
        let count = try await fill(QueueFixture(on: server)).count
        for place in 0..<count {
            let q = try await QueueFixture(on: server)
            let contents = try await fill(q)
            let records = GatewayRecords(q.queue)
            // What is in the way of one key, of a type that no key has, ends the move there.
            let key = contents.keys.sorted()[place]
            _ = try await q.redis.send(["SADD", RedisArgument(key), "in the way"])
            let error = await #expect(throws: QueueError.self) { try await records.settle() }
            #expect(error?.code == .damagedRecord && error?.message.contains(key) == true)
            let type = try await q.redis.send(["TYPE", RedisArgument(key)]).string
            #expect(type == "set", "nothing is written over")
            #expect(
                try await text(q.queue.name.gatewayKeys.moved, q) == GatewayRecords.begun)
            _ = try await q.redis.send(["UNLINK", RedisArgument(key)])
            // A command that comes now has to end the move, too: half of the records are there.
            #expect(try await records.keys() == q.queue.name.gatewayKeys)
            for (key, was) in contents { #expect(try await content(key, q) == was, "\(key)") }
            #expect(try await left(q) == [])
        }
    }

    @Test func `two gateways that move at the same time move each key once`() async throws {
        let q = try await QueueFixture()
        let contents = try await fill(q)
        let others = try [q.client(), q.client()]
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for redis in others {
                group.addTask {
                    try await GatewayRecords(redis: redis, queue: q.queue.name).settle()
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(counts == contents.count)
        for (key, was) in contents { #expect(try await content(key, q) == was, "\(key)") }
        for redis in others { await redis.close() }
    }

    @Test func `what is in both places is put together, and what is there now wins`() async throws {
        let q = try await QueueFixture()
        let count = try await fill(q).count
        // A gateway of this release goes on while a backup of release 0.5 is put back under it.
        let new = q.queue.name.gatewayKeys
        let commands: [[String]] = [
            ["HSET", new.accessKeys, "a", "revoked", "c", "made"],
            ["ZADD", new.signIns, "9", "d", "7", "f"],
            ["SET", new.session("s"), "b"],
            ["XADD", new.audit(of: nil), "4-7", "key", "a", "deed", "resume"],
            ["XADD", new.audit(of: nil), "5-0", "key", "a", "deed", "limit"],
            ["XADD", new.audit(of: nil), "10-0", "key", "a", "deed", "repair"],
            ["RPUSH", new.webhook("e", "deliveries"), "newest"],
        ]
        for command in commands { _ = try await q.redis.send(command.map { RedisArgument($0) }) }
        #expect(try await GatewayRecords(q.queue).settle() == count)
        #expect(try await left(q) == [])

        let keys = try await q.redis.send(["HGETALL", RedisArgument(new.accessKeys)]).pairs
        #expect(keys == ["a": "revoked", "b": #"{"format":1}"#, "c": "made"])
        let signIns = try await q.redis.send([
            "ZRANGE", RedisArgument(new.signIns), "0", "-1", "WITHSCORES",
        ])
        #expect(signIns.array?.map(\.string) == ["f", "7", "d", "9"])
        #expect(try await text(new.session("s"), q) == "b")
        let deliveries = try await q.redis.send([
            "LRANGE", RedisArgument(new.webhook("e", "deliveries")), "0", "-1",
        ])
        #expect(deliveries.array?.map(\.string) == ["newest", "{}", "{}"])
        let audit = try await q.redis.send(["XRANGE", RedisArgument(new.audit(of: nil)), "-", "+"])
        let entries = audit.array ?? []
        #expect(
            Set(entries.prefix(3).map { $0.array?.last?.pairs?["deed"] })
                == ["resume", "pause", "limit"])
        #expect(entries.last?.array?.last?.pairs?["deed"] == "repair" && entries.count == 4)
        let times = entries.compactMap { $0.array?.first?.string?.split(separator: "-").first }
        #expect(times == ["4", "5", "5", "10"], "an entry says when something was done")
    }

    @Test func `no line of the audit is lost that a gateway of release 0.5 writes meanwhile`()
        async throws
    {
        let q = try await QueueFixture()
        _ = try await fill(q)
        let places = [GatewayKeys.earlier(q.queue.name), q.queue.name.gatewayKeys]
            .map { RedisArgument($0.audit(of: "acme")) }
        let (other, lines) = (try q.client(), 2000)
        let writing = Task {
            for _ in 0..<lines { _ = try await other.send(["XADD", places[0], "*", "a", "b"]) }
        }
        try await eventually("it writes") {
            try await q.redis.send(["XLEN", places[0]]).int ?? 0 > 9 ? () : nil
        }
        #expect(try await GatewayRecords(q.queue).settle() >= 13)
        try await writing.value
        var kept = 0
        for place in places { kept += try await Int(q.redis.send(["XLEN", place]).int ?? 0) }
        #expect(kept == lines + 1)
        await other.close()
    }

    @Test func `the programs of release 0.5 find nothing to read, change or begin anew`()
        async throws
    {
        let q = try await QueueFixture()
        let contents = try await fill(q)
        _ = try await GatewayRecords(q.queue).settle()
        let old = GatewayKeys.earlier(q.queue.name)
        // What they send first to each: all else follows from the answer.
        let commands: [[String]] = [
            ["HSCAN", old.accessKeys, "0"], ["HGET", old.accessKeys, "a"],
            ["HSET", old.accessKeys, "c", "{}"], ["HMGET", old.uploads, "day"],
            ["HSCAN", old.replays, "0"], ["ZADD", old.signIns, "1", "x"],
            ["HSCAN", old.webhooks, "0"], ["HEXISTS", old.webhooks, "e"],
            ["XADD", old.audit(of: nil), "*", "key", "a"],
        ]
        for command in commands {
            let error = await #expect(throws: RedisError.self, "\(command)") {
                try await q.redis.send(command.map { RedisArgument($0) })
            }
            #expect(error?.serverError?.prefix == "WRONGTYPE", "\(command)")
        }
        for (key, was) in contents { #expect(try await content(key, q) == was, "\(key)") }
    }

    @Test func `what a worker puts into the old places after the move becomes nothing`()
        async throws
    {
        let q = try await QueueFixture()
        let contents = try await fill(q)
        let records = GatewayRecords(q.queue)
        _ = try await records.settle()
        let old = GatewayKeys.earlier(q.queue.name)
        let worker = RedisClient(
            RedisConfiguration(url: try RedisURL(q.server.url(as: .worker))),
            logger: Logger(label: "test"))
        _ = try await worker.send(["UNLINK", RedisArgument(old.accessKeys)])
        _ = try await worker.send(["HSET", RedisArgument(old.accessKeys), "forged", "{}"])
        _ = try await worker.send(["SET", RedisArgument(old.session("forged")), "forged"])
        #expect(try await records.settle() == 0)
        #expect(try await records.keys() == q.queue.name.gatewayKeys)
        for (key, was) in contents { #expect(try await content(key, q) == was, "\(key)") }
        #expect(try await content(q.queue.name.gatewayKeys.session("forged"), q).bytes == nil)
        await worker.close()
    }

    @Test func `a command works where the gateways are, and begins in the right place`()
        async throws
    {
        let q = try await QueueFixture()
        let records = GatewayRecords(q.queue)
        let old = GatewayKeys.earlier(q.queue.name)
        _ = try await q.redis.send(["HSET", RedisArgument(old.accessKeys), "a", "{}"])
        #expect(try await records.keys() == old)
        #expect(try await records.keysToRead() == old)
        #expect(try await records.settle() == 1)
        #expect(try await records.keys() == q.queue.name.gatewayKeys)
        #expect(try await records.keysToRead() == q.queue.name.gatewayKeys)

        // A queue that no gateway has seen: who only looks leaves nothing there.
        let fresh = try q.another()
        #expect(try await GatewayRecords(fresh.queue).keysToRead() == fresh.queue.name.gatewayKeys)
        #expect(try await text(fresh.queue.name.gatewayKeys.moved, q) == nil)
        // For who changes something nothing is walked, and from now on the old places are nobody's.
        #expect(try await GatewayRecords(fresh.queue).keys() == fresh.queue.name.gatewayKeys)
        _ = try await q.redis.send([
            "HSET", RedisArgument(GatewayKeys.earlier(fresh.queue.name).accessKeys), "a", "{}",
        ])
        #expect(try await GatewayRecords(fresh.queue).settle() == 0)
        #expect(try await GatewayRecords(fresh.queue).keys() == fresh.queue.name.gatewayKeys)
    }

    @Test func `a user with the rights of release 0.5 is told which it lacks`() async throws {
        let server = try await RedisServer.start()
        try await server.command([
            "ACL", "SETUSER", "gateway", "resetkeys", "~minilab:{photos}:*", "-rename",
        ])
        let queue = JobQueue(
            name: .photos,
            redis: RedisClient(
                RedisConfiguration(url: try RedisURL(server.url(as: .gateway))),
                logger: Logger(label: "test")))
        let refusal = try await queue.refusal(as: .gateway)
        #expect(refusal.contains("minilab-gateway:{photos}:*"), "\(refusal)")
        #expect(refusal.contains("ACL LOAD"))
        let error = await #expect(throws: QueueError.self) {
            try await GatewayRecords(queue).settle()
        }
        #expect(error?.code == .unsafeServer && error?.message.contains("ACL LOAD") == true)
        // The command of the sentence.
        let rule = try #require(
            refusal.firstMatch(of: /ACL SETUSER gateway ('~minilab-gateway[^.]*)\./)?.1)
        try await server.command(
            ["ACL", "SETUSER", "gateway"]
                + rule.split(separator: " ").map { $0.trimming("'") })
        _ = try await queue.checkServer(as: .gateway)
        _ = try await GatewayRecords(queue).settle()
        server.stop()
    }
}

extension Substring {
    fileprivate func trimming(_ mark: Character) -> String {
        String(drop { $0 == mark }.reversed().drop { $0 == mark }.reversed())
    }
}
