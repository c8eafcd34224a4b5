import MinilabTesting
import Testing

@testable import Redis

@Suite(
    "Slots that move as a whole",
    .enabled("needs a server with CLUSTER MIGRATESLOTS, such as Valkey 9: ops/checks/servers") {
        let server = try await RedisServer.start()
        return try await !server.command("COMMAND", "INFO", "cluster|migrateslots").isEmpty
    }, .timeLimit(.minutes(10)))
struct SlotMigrationTests {
    @Test func `a slot that moves as a whole is followed without a lost call`() async throws {
        let cluster = try await RedisCluster.start()
        let load = FailoverLoad()
        try await withClient(cluster.url()) { client async throws in
            try await load.run(on: client) {
                try await load.waitForMore()
                let slot = try await cluster.masters[0].command(
                    "CLUSTER", "KEYSLOT", FailoverLoad.key)
                let port = try await client.port()
                let home = try #require(cluster.masters.first { $0.port == port })
                let target = try #require(cluster.masters.first { $0.port != port })
                // One command, and no key is ever at two nodes.
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
