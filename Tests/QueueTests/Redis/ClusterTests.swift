import Foundation
import MinilabTesting
import Testing

@testable import Redis

@Suite("Cluster", .timeLimit(.minutes(10))) struct ClusterTests {
    /// Its slot is 3168, which is at the first master.
    private static let tag = "minilab:{photos}:"

    private let count = RedisScript(
        name: "count", source: "return redis.call('INCR', ARGV[1] .. 'n')")

    private func run(_ client: RedisClient, timeout: Duration? = nil) async throws(RedisError)
        -> RedisReply
    {
        try await client.run(
            count, keys: [Self.tag], arguments: [RedisArgument(Self.tag)], timeout: timeout)
    }

    /// The master that has the queue's slot.
    private func home(in cluster: RedisCluster) async throws -> Int {
        let slot = try await cluster.masters[0].command("CLUSTER", "KEYSLOT", Self.tag)
        return min((Int(slot) ?? 0) / 5462, 2)
    }

    @Test func `any seed leads to the node of the keys, and each call is executed once`()
        async throws
    {
        let cluster = try await RedisCluster.start()
        let home = cluster.masters[try await home(in: cluster)]
        for seed in cluster.masters {
            try await home.command("DEL", Self.tag + "n")
            try await withClient("redis+cluster://\(RedisUser.admin.login)\(seed.address)") {
                client async throws in
                let counts = try await withThrowingTaskGroup(of: Int64.self) { group in
                    for _ in 0..<300 {
                        group.addTask { try await run(client).int ?? -1 }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(counts.sorted() == Array(1...300))
                #expect(try await client.port() == home.port)
            }
        }
    }

    @Test func `after a master's death commands go on at its replica`() async throws {
        let cluster = try await RedisCluster.start(hasReplicas: true)
        let index = try await home(in: cluster)
        let load = FailoverLoad()
        try await withClient(cluster.url()) { client async throws in
            #expect(try await run(client).int == 1)
            try await load.run(on: client) {
                try await load.waitForMore()
                cluster.masters[index].kill(9)
                try await cluster.masters[index].waitForEnd()
                try await load.waitForMore()
            }
            try await load.check(on: client, mayLose: true)
            #expect(try await client.port() == cluster.replicas[index].port)
            try await cluster.replicas[index].command("SCRIPT", "FLUSH")
            #expect((try await run(client).int ?? 0) >= 1)
        }
    }

    @Test func `a slot that moves is waited for and followed, and no script runs in between`()
        async throws
    {
        let cluster = try await RedisCluster.start()
        let index = try await home(in: cluster)
        let source = cluster.masters[index]
        let target = cluster.masters[(index + 1) % 3]
        let slot = try await source.command("CLUSTER", "KEYSLOT", Self.tag)
        let ids = try await (RedisCluster.id(of: source), RedisCluster.id(of: target))
        try await withClient(cluster.url()) { client async throws in
            #expect(try await run(client).int == 1)
            _ = try await client.send(["SET", "\(Self.tag)other", "x"])

            try await target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", ids.0)
            try await source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", ids.1)
            try await source.command(
                "MIGRATE", "127.0.0.1", String(target.port), Self.tag + "other", "0", "5000",
                "AUTH2", RedisUser.admin.rawValue, RedisUser.admin.password)

            // The key the script declares is at neither node; the one it counts is at the source.
            let error = await failure { () throws(RedisError) in
                try await run(client, timeout: .seconds(1))
            }
            // If the deadline came between a try and its refusal, the refusal is not known.
            #expect(
                error?.mayHaveExecuted == true || error?.message.contains("ASK") == true,
                "\(error?.message ?? "it ran")")
            // A key that is still there is served all the same, and the script has not run.
            #expect(try await client.send(["GET", "\(Self.tag)n"]).int == 1)

            let waiting = Task { () throws(RedisError) in
                try await run(client, timeout: .seconds(20))
            }
            try await source.command(
                "MIGRATE", "127.0.0.1", String(target.port), Self.tag + "n", "0", "5000",
                "AUTH2", RedisUser.admin.rawValue, RedisUser.admin.password)
            for node in [target, source] {
                try await node.command("CLUSTER", "SETSLOT", slot, "NODE", ids.1)
            }
            #expect(try await waiting.value.int == 2)
            #expect(try await client.port() == target.port)
            #expect(try await client.send(["GET", "\(Self.tag)other"]).string == "x")
        }
    }

    @Test func `a slot that is moved under load loses no call and repeats none`() async throws {
        let cluster = try await RedisCluster.start()
        let index = try await home(in: cluster)
        let (source, target) = (cluster.masters[index], cluster.masters[(index + 1) % 3])
        let slot = try await source.command("CLUSTER", "KEYSLOT", Self.tag)
        let load = FailoverLoad()
        try await withClient(cluster.url()) { client async throws in
            try await load.run(on: client) {
                try await load.waitForMore()
                for (from, to) in [(source, target), (target, source)] {
                    try await Self.move(slot, from: from, to: to)
                    try await load.waitForMore()
                }
            }
            try await load.check(on: client, mayLose: false)
            #expect(try await client.port() == source.port)
        }
    }

    /// Moves a slot the way `redis-cli --cluster reshard` does.
    private static func move(
        _ slot: String, from source: RedisServer, to target: RedisServer
    ) async throws {
        let ids = try await (RedisCluster.id(of: source), RedisCluster.id(of: target))
        try await target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", ids.0)
        try await source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", ids.1)
        let keys = try await source.command("CLUSTER", "GETKEYSINSLOT", slot, "100")
        for key in keys.split(whereSeparator: \.isNewline) {
            try await source.command(
                "MIGRATE", "127.0.0.1", String(target.port), String(key), "0", "5000",
                "AUTH2", RedisUser.admin.rawValue, RedisUser.admin.password)
        }
        for node in [target, source] {
            try await node.command("CLUSTER", "SETSLOT", slot, "NODE", ids.1)
        }
    }

    @Test func `a blocking read goes on at the node that its slot moves to`() async throws {
        let cluster = try await RedisCluster.start()
        let index = try await home(in: cluster)
        let (source, target) = (cluster.masters[index], cluster.masters[(index + 1) % 3])
        let slot = try await source.command("CLUSTER", "KEYSLOT", Self.tag)
        try await withClient(cluster.url()) { client async throws in
            let stream = Self.tag + "in"
            let read = Task { () throws(RedisError) in
                try await client.send(
                    ["XREAD", "BLOCK", 20_000, "STREAMS", RedisArgument(stream), "0"],
                    timeout: .seconds(25))
            }
            try await eventually("the read blocks") {
                try await source.command("CLIENT", "LIST").contains("cmd=xread") ? true : nil
            }
            try await Self.move(slot, from: source, to: target)
            try await target.command("XADD", stream, "*", "a", "b")
            #expect(try await read.value.array?.count == 1)
        }
    }

    @Test func `TLS, client certificates and users work in a cluster`() async throws {
        let certificates = try await TestCertificates()
        let cluster = try await RedisCluster.start(certificates: certificates)
        for node in cluster.masters {
            try await node.command(
                "ACL", "SETUSER", "worker", "on", ">pass/word", "~minilab:*", "+@string",
                "+client|setname")
        }
        for seed in cluster.masters {
            try await withClient(
                "rediss+cluster://worker:pass%2Fword@localhost:\(seed.port)",
                configure: {
                    $0.name = "w"
                    $0.caCertificateFile = certificates.authority
                    $0.clientCertificateFile = certificates.client.certificate
                    $0.clientKeyFile = certificates.client.key
                }
            ) { client async throws in
                #expect(try await client.send(["SET", "\(Self.tag)a", "1"]).string == "OK")
                let error = await failure { () throws(RedisError) in
                    try await client.send(["SET", "other", "1"])
                }
                #expect(error?.serverError?.prefix == "NOPERM")
            }
        }
    }

    @Test func `the certificate is checked against the host that MOVED names`() async throws {
        let certificates = try await TestCertificates(serverNames: "DNS:localhost")
        let cluster = try await RedisCluster.start(certificates: certificates)
        let seed = cluster.masters[(try await home(in: cluster) + 1) % 3]
        func call(_ timeout: Duration) async throws -> RedisError? {
            try await withClient(
                "rediss+cluster://\(RedisUser.admin.login)localhost:\(seed.port)",
                configure: {
                    $0.caCertificateFile = certificates.authority
                    $0.clientCertificateFile = certificates.client.certificate
                    $0.clientKeyFile = certificates.client.key
                }
            ) { client async throws in
                await failure { () throws(RedisError) in
                    try await client.send(["GET", "\(Self.tag)a"], timeout: timeout)
                }
            }
        }
        // Redis names its nodes by address unless it is told to use names.
        let byAddress = try await call(.seconds(10))
        #expect(
            byAddress?.message.contains("not for this host") == true,
            "\(byAddress?.message ?? "accepted")")
        #expect(byAddress?.mayHaveExecuted == false)

        for node in cluster.masters {
            try await node.command("CONFIG", "SET", "cluster-announce-hostname", "localhost")
            try await node.command("CONFIG", "SET", "cluster-preferred-endpoint-type", "hostname")
        }
        try await eventually("the names have spread") {
            try await seed.command("CLUSTER", "SLOTS").components(separatedBy: "localhost").count
                > 3
                ? true : nil
        }
        #expect(try await call(.seconds(10)) == nil)
    }
}
