import MinilabTesting
import Synchronization
import Testing

@testable import Redis

@Suite("Sentinel", .timeLimit(.minutes(10))) struct SentinelTests {
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

            for sentinel in set.sentinels {
                try await eventually("every sentinel knows the new master") {
                    let words = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", RedisSentinels.masterName]
                    return try await sentinel.command(words).contains("\(set.replica.port)")
                        ? true : nil
                }
            }
            // The old master comes back as a master; the sentinels take ten seconds to change that.
            try await set.master.launch()
            try await set.replica.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            try await eventually("the client is back") {
                await failure { () throws(RedisError) in try await client.send(["PING"]) } == nil
                    ? true : nil
            }
            #expect(try await client.port() == set.replica.port)
        }
    }

    @Test func `a master that hands over to its replica loses no call`() async throws {
        let old = try await RedisServer.start(arguments: ["--repl-diskless-sync-delay", "0"])
        let new = try await RedisServer.start(
            arguments: ["--replicaof", "127.0.0.1 \(old.port)"])
        try await eventually("the replica is in step") {
            try await new.command("INFO", "replication").contains("master_link_status:up")
                ? true : nil
        }
        let master = Mutex(old.port)
        let sentinel = try await FakeServer.start { command in
            let port = "\(master.withLock { $0 })"
            return switch command.words[0] {
            case "SENTINEL":
                .bytes("*2\r\n" + FakeServer.bulk("127.0.0.1") + FakeServer.bulk(port))
            case "AUTH": .bytes("+OK\r\n")
            default: .bytes("-ERR unknown command\r\n")
            }
        }
        let load = FailoverLoad()
        let login = RedisUser.admin.login
        try await withClient("redis+sentinel://\(login)127.0.0.1:\(sentinel.port)/photos") {
            client async throws in
            try await load.run(on: client) {
                try await load.waitForMore()
                try await old.command("CLIENT", "PAUSE", "20000", "WRITE")
                // Nothing is written any more, so what the replica has is all there is.
                let length = try await old.command("LLEN", FailoverLoad.key)
                try await eventually("the replica has it all") {
                    try await new.command("LLEN", FailoverLoad.key) == length ? true : nil
                }
                try await new.command("REPLICAOF", "NO", "ONE")
                try await old.command("REPLICAOF", "127.0.0.1", String(new.port))
                try await old.command("CLIENT", "UNPAUSE")
                // The sentinels are a little late, as they are.
                try await eventually("a call is refused as READONLY") {
                    try await old.command("INFO", "errorstats").contains("errorstat_READONLY")
                        ? true : nil
                }
                master.withLock { $0 = new.port }
                try await load.waitForMore()
            }
            try await load.check(on: client, mayLose: false)
            #expect(try await client.port() == new.port)
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
            settings: RedisSentinels.settings(
                name: "photos", master: server.port, quorum: 1),
            exception: .sentinel, arguments: ["--sentinel"])
        sentinel.kill(9)
        try await sentinel.waitForEnd()
        let login = RedisUser.admin.login
        try await withClient("redis+sentinel://\(login)\(sentinel.address)/photos/3") {
            client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.send(["GET", "k"], timeout: .seconds(5))
            }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("\(sentinel.address)/photos") == true)
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
