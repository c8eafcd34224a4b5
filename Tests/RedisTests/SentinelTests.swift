import MinilabTesting
import Testing

@testable import Redis

@Suite("Sentinel", .timeLimit(.minutes(1))) struct SentinelTests {
    private let count = RedisScript(name: "count", source: "return redis.call('INCR', KEYS[1])")

    @Test func `after the master's death commands go on at its replica`() async throws {
        let set = try await RedisSentinels.start()
        let load = FailoverLoad()
        try await withClient(set.url()) { client async throws in
            #expect(try await client.run(count, keys: ["n"], arguments: []).int == 1)
            try await load.run(on: client) {
                try await load.waitForMore()
                set.master.kill(9)
                try await set.master.waitForEnd()
                try await load.waitForMore()
            }
            try await load.check(on: client, mayLose: true)
            #expect(try await client.port() == set.replica.port)
            // The new master has never seen the script.
            #expect(try await client.run(count, keys: ["m"], arguments: []).int == 1)

            // The sentinels make the old master a replica once it is back; it must not be used.
            try await set.master.launch()
            try await eventually("the old master is a replica") {
                try await set.master.command("ROLE").hasPrefix("slave") ? true : nil
            }
            #expect(try await client.port() == set.replica.port)
        }
    }

    @Test func `a master that is made a replica is left without a lost call`() async throws {
        let set = try await RedisSentinels.start()
        let load = FailoverLoad()
        try await withClient(set.url()) { client async throws in
            try await load.run(on: client) {
                try await load.waitForMore()
                try await set.sentinels[2].command(
                    "SENTINEL", "FAILOVER", RedisSentinels.masterName)
                try await eventually("the replica is the master") {
                    try await set.replica.command("ROLE").hasPrefix("master") ? true : nil
                }
                try await eventually("the calls go to it") {
                    try await client.port() == set.replica.port ? true : nil
                }
                try await load.waitForMore()
            }
            try await load.check(on: client, mayLose: true)
        }
    }

    @Test func `TLS, client certificates and users work through sentinels`() async throws {
        let certificates = try await TestCertificates()
        let set = try await RedisSentinels.start(certificates: certificates)
        for server in [set.master, set.replica] {
            try await server.command(
                "ACL", "SETUSER", "worker", "on", ">pass/word", "~minilab:*", "+@string",
                "+client|setname")
        }
        // One sentinel is away, one wants the same login, one wants none.
        set.sentinels[0].stop()
        try await set.sentinels[1].command("ACL", "SETUSER", "worker", "on", ">pass/word", "+@all")
        try await set.sentinels[1].command("ACL", "SETUSER", "default", "off")
        let trust: (inout RedisConfiguration) -> Void = {
            $0.name = "w"
            $0.caCertificateFile = certificates.authority
            $0.clientCertificateFile = certificates.client.certificate
            $0.clientKeyFile = certificates.client.key
        }
        try await withClient(set.url(login: "worker:pass%2Fword@"), configure: trust) {
            client async throws in
            #expect(try await client.send(["SET", "minilab:a", "1"]).string == "OK")
        }
        try await withClient(set.url(login: "worker:wrong@"), configure: trust) {
            client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.send(["GET", "minilab:a"])
            }
            #expect(error?.code == .loginRefused, "\(error?.message ?? "accepted")")
        }
        try await withClient(set.url(login: "worker:pass%2Fword@")) { client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.send(["GET", "minilab:a"])
            }
            #expect(error?.code == .tls, "\(error?.message ?? "accepted")")
        }
    }

    @Test func `sentinels that are all away are named, and found when they are back`() async throws
    {
        let server = try await RedisServer.start()
        let sentinel = try await RedisServer.start(
            settings: "sentinel monitor photos 127.0.0.1 \(server.port) 1\n",
            arguments: ["--sentinel"])
        sentinel.kill(9)
        try await sentinel.waitForEnd()
        try await withClient("redis+sentinel://\(sentinel.place)/photos/3") { client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.send(["GET", "k"], timeout: .milliseconds(500))
            }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("\(sentinel.place)/photos") == true)
            #expect(error?.message.contains("refused") == true, "\(error?.message ?? "")")
            try await sentinel.launch()
            #expect(try await client.send(["SET", "k", "v"]).string == "OK")
            #expect(try await client.send(["CLIENT", "INFO"]).string?.contains("db=3") == true)
        }
    }
}

extension RedisClient {
    /// The port of the server that answers this client.
    func port() async throws -> Int {
        let info = try await send(["INFO", "server"], timeout: .seconds(20)).string ?? ""
        let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("tcp_port:") }
        return Int(line?.dropFirst("tcp_port:".count) ?? "") ?? 0
    }
}
