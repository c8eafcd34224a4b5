import Foundation
import MinilabTesting
import Testing

@testable import Redis

/// The `valkey-server` that `MINILAB_VALKEY` names, or the first in PATH.
private let valkey: String? = {
    let environment = ProcessInfo.processInfo.environment
    if let named = environment["MINILAB_VALKEY"] { return named }
    return (environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/valkey-server" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
}()

@Suite("Valkey", .enabled("needs a valkey-server") { valkey != nil }, .timeLimit(.minutes(10)))
struct ValkeyTests {
    private let program: String
    private let count = RedisScript(name: "count", source: "return redis.call('INCR', KEYS[1])")

    init() throws {
        program = try #require(valkey)
    }

    @Test func `scripts, streams and error replies are as on Redis`() async throws {
        let server = try await RedisServer.start(program: program)
        try await withClient(server.url) { client async throws in
            #expect(try await client.run(count, keys: ["n"], arguments: []).int == 1)
            #expect(try await client.send(["XADD", "s", "*", "a", "b"]).string != nil)
            #expect(
                try await client.send(["XREAD", "BLOCK", 10, "STREAMS", "s", "0"]).array?.count == 1
            )
            let error = await failure { () throws(RedisError) in
                try await client.send(["INCR", "s"])
            }
            #expect(error?.serverError?.prefix == "WRONGTYPE")
        }
    }

    @Test func `sentinels replace a master that died`() async throws {
        let set = try await RedisSentinels.start(program: program)
        let load = FailoverLoad()
        try await withClient(set.url()) { client async throws in
            try await load.run(on: client) {
                try await load.waitForMore()
                set.master.kill(9)
                try await set.master.waitForEnd()
                try await load.waitForMore()
            }
            try await load.check(on: client, mayLose: true)
            #expect(try await client.run(count, keys: ["m"], arguments: []).int == 1)
        }
    }

    @Test func `a slot that moves as a whole is followed without a lost call`() async throws {
        let cluster = try await RedisCluster.start(program: program)
        let load = FailoverLoad()
        try await withClient(cluster.url()) { client async throws in
            try await load.run(on: client) {
                try await load.waitForMore()
                let slot = try await cluster.masters[0].command(
                    "CLUSTER", "KEYSLOT", FailoverLoad.key)
                let port = try await client.port()
                let home = try #require(cluster.masters.first { $0.port == port })
                let target = try #require(cluster.masters.first { $0.port != port })
                // Valkey 9: one command, and no key is ever at two nodes.
                try await home.command(
                    "CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE",
                    try await RedisCluster.id(of: target))
                try await eventually("the calls go to the other node", within: .seconds(300)) {
                    try await client.port() == target.port ? true : nil
                }
                try await load.waitForMore()
            }
            try await load.check(on: client, mayLose: false)
        }
    }
}
